//===- Candidates.cpp - configurations that are worth a try ---------------===//

#include "ffc/Search/Space.h"

#include "Speeds.h"

#include <algorithm>
#include <functional>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// The devices of `points` points: the place-th block of neighbours, or every
/// (numDevices / points)-th device from the place-th one.
static std::vector<DeviceId> devicesAt(int numDevices, int64_t points,
                                       int64_t place, bool apart) {
  std::vector<DeviceId> devices;
  devices.reserve(static_cast<size_t>(points));
  int64_t places = numDevices / points;
  for (int64_t p = 0; p < points; ++p)
    devices.push_back(
        static_cast<DeviceId>(apart ? p * places + place : place * points + p));
  return devices;
}

bool Space::isCandidate(OpId anchor, const Configuration &config) const {
  return !checkConfiguration(*graph_, anchor, config, numDevices_) &&
         allows(anchor, config);
}

Configuration Space::bySpeed(OpId anchor, const Configuration &config,
                             double exponent) const {
  if (speeds_.empty())
    return config;
  Configuration result = sharedBySpeed(config, speeds_, exponent);
  return isCandidate(anchor, result) ? result : config;
}

/// `axes` on a block of neighbours.
static Configuration onBlock(std::vector<GridAxis> axes, DeviceId first) {
  Configuration config{std::move(axes), {}};
  for (int64_t d = 0, e = config.numPoints(); d < e; ++d)
    config.devices.push_back(first + static_cast<DeviceId>(d));
  return config;
}

Configuration Space::candidate(OpId anchor, Random &random) const {
  return candidate(anchor, random, [&](const Configuration &config) {
    return isCandidate(anchor, config);
  });
}

Configuration Space::candidate(
    OpId anchor, Random &random,
    const std::function<bool(const Configuration &)> &isCandidate) const {
  // FlexFlow has no words for scalars, wherever they are.
  if (!isCandidate(Configuration::onDevice(0)))
    return Configuration::onDevice(0);
  auto finished = [&](const Configuration &config) {
    return speeds_.empty() || random.oneIn(2) ? config
                                              : bySpeed(anchor, config);
  };
  if (const auto &even = evenSplits(anchor); !even.empty() && random.oneIn(8)) {
    std::vector<GridAxis> axes{
        even[static_cast<size_t>(random.below(int64_t(even.size())))]};
    // Half of them are split by another dimension, too, as far as devices go,
    // or half or a quarter of it.
    const std::vector<int> &dims = splittable_[anchor];
    const int dim = dims[size_t(random.below(int64_t(dims.size())))];
    int64_t points = axes[0].degree;
    if (const int64_t degree = numDevices_ / points >> random.below(3);
        degree > 1 && dim != axes[0].dim && random.oneIn(2)) {
      axes.push_back({dim, degree});
      points *= degree;
    }
    const Configuration config =
        onBlock(std::move(axes),
                static_cast<DeviceId>(random.below(numDevices_ - points + 1)));
    if (isCandidate(config))
      return finished(config);
  }
  const std::vector<int> &dims = splittable_[anchor];
  while (true) {
    // Half of the candidates use all devices.
    int64_t points =
        random.oneIn(2)
            ? numDevices_
            : divisors_[random.below(static_cast<int64_t>(divisors_.size()))];
    Configuration config;
    auto split = [&](int dim, int64_t factor) {
      for (GridAxis &axis : config.axes)
        if (axis.dim == dim) {
          axis.degree *= factor;
          return;
        }
      config.axes.push_back({dim, factor});
    };
    int64_t rest = points;
    for (int64_t factor = 2; rest > 1; ++factor)
      for (; rest % factor == 0; rest /= factor)
        split(dims.empty() || random.oneIn(12)
                  ? kReplica
                  : dims[random.below(static_cast<int64_t>(dims.size()))],
              factor);
    for (size_t i = config.axes.size(); i > 1; --i)
      std::swap(config.axes[i - 1],
                config.axes[random.below(static_cast<int64_t>(i))]);
    int64_t places = numDevices_ / points;
    int64_t place = random.oneIn(2) ? 0 : random.below(places);
    bool apart = places > 1 && random.oneIn(3);
    config.devices = devicesAt(numDevices_, points, place, apart);
    if (isCandidate(config))
      return finished(config);
  }
}

std::optional<Configuration>
Space::grown(OpId anchor, const Configuration &config, int64_t factor) const {
  Configuration result = config;
  if (result.axes.empty())
    result.axes.push_back({kReplica, 1});
  result.axes.back().degree *= factor;
  result.axes.back().shares.clear();
  return placed(anchor, std::move(result));
}

std::optional<Configuration>
Space::shrunk(OpId anchor, const Configuration &config, int64_t factor) const {
  Configuration result = config;
  auto axis =
      std::find_if(result.axes.rbegin(), result.axes.rend(),
                   [&](const GridAxis &a) { return a.degree % factor == 0; });
  if (axis == result.axes.rend())
    return std::nullopt;
  axis->degree /= factor;
  axis->shares.clear();
  if (axis->degree == 1)
    result.axes.erase(std::next(axis).base());
  return placed(anchor, std::move(result));
}

std::optional<Configuration> Space::placed(OpId anchor,
                                           Configuration config) const {
  int64_t points = 1;
  for (const GridAxis &axis : config.axes)
    points *= axis.degree;
  if (points > numDevices_)
    return std::nullopt;
  const int64_t place =
      std::min(config.devices[0] / points, numDevices_ / points - 1);
  config.devices = devicesAt(numDevices_, points, place, false);
  if (!isCandidate(anchor, config))
    return std::nullopt;
  return config;
}

void Space::addPlaced(OpId anchor, std::vector<GridAxis> axes, int64_t points,
                      bool firstPlaceOnly,
                      std::vector<Configuration> &result) const {
  auto byDim = [](const GridAxis &a, const GridAxis &b) {
    return a.dim < b.dim;
  };
  const int64_t places = numDevices_ / points;
  std::sort(axes.begin(), axes.end(), byDim);
  do
    for (bool apart : {false, true}) {
      if (apart && (firstPlaceOnly || points == 1 || places == 1))
        continue;
      for (int64_t p = 0; p < (firstPlaceOnly ? 1 : places); ++p) {
        Configuration config{axes, devicesAt(numDevices_, points, p, apart)};
        if (isCandidate(anchor, config))
          result.push_back(std::move(config));
      }
    }
  while (std::next_permutation(axes.begin(), axes.end(), byDim));
}

static bool hasShares(const Configuration &config) {
  return std::any_of(config.axes.begin(), config.axes.end(),
                     [](const GridAxis &axis) { return !axis.shares.empty(); });
}

std::vector<Configuration> Space::relatives(OpId anchor,
                                            const Configuration &config) const {
  std::vector<Configuration> result;
  const int64_t points = config.numPoints();
  if (!hasShares(config) && numDevices_ % points == 0)
    addPlaced(anchor, config.axes, points, /*firstPlaceOnly=*/false, result);
  return result;
}

std::vector<Configuration> Space::reshaped(OpId anchor,
                                           const Configuration &config) const {
  std::vector<Configuration> result;
  if (hasShares(config))
    return result;
  std::vector<int> dims = splittable_[anchor];
  dims.push_back(kReplica);
  auto add = [&](Configuration made) {
    made.axes.erase(
        std::remove_if(made.axes.begin(), made.axes.end(),
                       [](const GridAxis &axis) { return axis.degree == 1; }),
        made.axes.end());
    if (isCandidate(anchor, made))
      result.push_back(std::move(made));
  };
  for (size_t from = 0; from < config.axes.size(); ++from)
    for (int64_t factor : divisors_)
      for (int dim : dims) {
        if (factor == 1 || config.axes[from].degree % factor != 0 ||
            dim == config.axes[from].dim)
          continue;
        Configuration made = config;
        made.axes[from].degree /= factor;
        if (config.degreeOf(dim) > 1) {
          for (GridAxis &axis : made.axes)
            if (axis.dim == dim)
              axis.degree *= factor;
          add(std::move(made));
          continue;
        }
        // Neighbours along the new axis are neighbours or far apart.
        const size_t last = made.axes[from].degree > 1 ? from + 1 : from;
        for (size_t place = from; place <= last; ++place) {
          Configuration wider = made;
          wider.axes.insert(wider.axes.begin() +
                                static_cast<std::ptrdiff_t>(place),
                            {dim, factor});
          add(std::move(wider));
        }
      }
  return result;
}

std::vector<Configuration> Space::candidates(OpId anchor,
                                             bool firstPlaceOnly) const {
  std::vector<int> dims = splittable_[anchor];
  dims.push_back(kReplica);
  std::vector<Configuration> result;
  std::vector<GridAxis> axes;
  // Degrees of dims[from...] whose product is `rest`.
  std::function<void(size_t, int64_t, int64_t)> choose =
      [&](size_t from, int64_t rest, int64_t points) {
        if (rest == 1) {
          addPlaced(anchor, axes, points, firstPlaceOnly, result);
          return;
        }
        if (from == dims.size())
          return;
        choose(from + 1, rest, points);
        for (int64_t degree : divisors_) {
          if (degree == 1 || rest % degree)
            continue;
          axes.push_back({dims[from], degree});
          choose(from + 1, rest / degree, points);
          axes.pop_back();
        }
      };
  for (int64_t points : divisors_)
    choose(0, points, points);
  for (const GridAxis &axis : evenSplits(anchor))
    for (DeviceId first = 0;
         first <= (firstPlaceOnly ? 0 : numDevices_ - axis.degree); ++first)
      if (Configuration config = onBlock({axis}, first);
          isCandidate(anchor, config))
        result.push_back(std::move(config));
  return result;
}
