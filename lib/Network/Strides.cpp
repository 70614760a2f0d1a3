//===- Strides.cpp - which rings there are --------------------------------===//

#include "ffc/Network/Strides.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

using namespace ffc::network;

std::vector<int> ffc::network::ringStrides(int servers, int group) {
  std::vector<int> strides;
  for (int k = 1; k < group; ++k)
    if (std::gcd(k, group) == 1)
      strides.push_back(servers / group * k);
  return strides;
}

static bool isPrime(int value) {
  for (int divisor = 2; divisor * divisor <= value; ++divisor)
    if (value % divisor == 0)
      return false;
  return value > 1;
}

std::vector<int> ffc::network::primeRingStrides(int servers) {
  std::vector<int> strides = ringStrides(servers, servers);
  strides.erase(std::remove_if(
                    strides.begin(), strides.end(),
                    [](int stride) { return stride != 1 && !isPrime(stride); }),
                strides.end());
  return strides;
}

std::vector<int>
ffc::network::geometricStrides(const std::vector<int> &candidates, int servers,
                               int count) {
  std::vector<int> left = candidates, strides;
  for (int i = 0; i < count && !left.empty(); ++i) {
    const double target = std::pow(servers, double(i) / count);
    const auto nearest =
        std::min_element(left.begin(), left.end(), [&](int a, int b) {
          return std::abs(a - target) < std::abs(b - target);
        });
    strides.push_back(*nearest);
    left.erase(nearest);
  }
  std::sort(strides.begin(), strides.end());
  return strides;
}

std::optional<std::vector<int>>
ffc::network::releasedStrides(const std::vector<int> &candidates, int count,
                              LinkKind kind) {
  if (count < 1 || candidates.empty())
    return std::nullopt;
  std::vector<int> left = candidates, strides;
  const int ratios = kind == LinkKind::TwoWay ? count : std::max(1, count - 1);
  const double ratio =
      std::pow(double(candidates.back()) / candidates.front(), 1.0 / ratios);
  double at = candidates.front();
  for (int i = 0; i < count; ++i, at *= ratio) {
    const auto next = std::lower_bound(left.begin(), left.end(), at);
    if (next == left.end())
      return std::nullopt;
    strides.push_back(*next);
    left.erase(next);
  }
  std::sort(strides.begin(), strides.end());
  return strides;
}

std::vector<int> ffc::network::coinsOf(const std::vector<int> &strides,
                                       int servers, LinkKind kind) {
  std::vector<int> coins = strides;
  if (kind == LinkKind::TwoWay)
    for (int stride : strides)
      coins.push_back(servers - stride);
  std::sort(coins.begin(), coins.end());
  coins.erase(std::unique(coins.begin(), coins.end()), coins.end());
  return coins;
}

//===----------------------------------------------------------------------===//
// Coin change
//===----------------------------------------------------------------------===//

namespace {

/// The hops of all distances, breadth first. Its memory is kept, since a choice
/// of strides asks for many.
class HopCounter {
public:
  explicit HopCounter(int servers) : hops(servers), queue(servers) {}

  const std::vector<int> &count(const std::vector<int> &coins) {
    const int servers = static_cast<int>(hops.size());
    std::fill(hops.begin(), hops.end(), -1);
    hops[0] = 0;
    queue[0] = 0;
    for (int head = 0, tail = 1; head < tail; ++head)
      for (int coin : coins) {
        int to = queue[head] + coin;
        to -= to >= servers ? servers : 0;
        if (hops[to] < 0) {
          hops[to] = hops[queue[head]] + 1;
          queue[tail++] = to;
        }
      }
    return hops;
  }

private:
  std::vector<int> hops, queue;
};

} // namespace

int CoinChange::diameter() const {
  if (std::find(hops.begin(), hops.end(), -1) != hops.end())
    return -1;
  return *std::max_element(hops.begin(), hops.end());
}

int64_t CoinChange::sum() const {
  return std::accumulate(hops.begin(), hops.end(), int64_t(0));
}

std::vector<int> CoinChange::histogram() const {
  std::vector<int> counts(diameter() + 1);
  for (size_t distance = 1; distance < hops.size(); ++distance)
    ++counts[hops[distance]];
  return counts;
}

CoinChange ffc::network::changeCoins(int servers,
                                     const std::vector<int> &coins) {
  CoinChange change;
  change.hops = HopCounter(servers).count(coins);
  change.coins.resize(servers);
  change.choices.assign(servers, 0);
  const int most = *std::max_element(change.hops.begin(), change.hops.end());

  // By number of coins and sum, the choices among the coins so far.
  std::vector<std::vector<int64_t>> choices(most + 1,
                                            std::vector<int64_t>(servers));
  choices[0][0] = 1;
  for (int coin : coins)
    for (int count = 1; count <= most; ++count)
      for (int sum = 0; sum < servers; ++sum)
        choices[count][(sum + coin) % servers] += choices[count - 1][sum];

  for (int distance = 0; distance < servers; ++distance) {
    if (change.hops[distance] < 0)
      continue;
    change.choices[distance] = choices[change.hops[distance]][distance];
    for (int left = distance; left != 0;) {
      const auto coin = std::find_if(coins.begin(), coins.end(), [&](int c) {
        return change.hops[(left - c + servers) % servers] ==
               change.hops[left] - 1;
      });
      change.coins[distance].push_back(*coin);
      left = (left - *coin + servers) % servers;
    }
    std::sort(change.coins[distance].begin(), change.coins[distance].end());
  }
  return change;
}

//===----------------------------------------------------------------------===//
// The best strides
//===----------------------------------------------------------------------===//

namespace {

/// Least diameter first, then least sum of hops.
using Quality = std::pair<int, int64_t>;

class StrideChooser {
public:
  StrideChooser(int servers, int count, LinkKind kind)
      : servers(servers), kind(kind), counter(servers) {
    for (int stride : ringStrides(servers, servers))
      if (kind == LinkKind::OneWay || 2 * stride <= servers)
        candidates.push_back(stride);
    this->count = std::min(count, static_cast<int>(candidates.size()));
  }

  /// How many choices there are that have stride 1, more or less.
  double choices() const {
    double product = 1;
    for (int i = 1; i < count; ++i)
      product *= (candidates.size() - i) / double(i);
    return product;
  }

  double costOfOne() const { return 2.0 * count * servers; }

  /// Stride 1 may be taken for granted: where it is not chosen, all strides
  /// times the inverse of one of them are as good, as servers change places.
  BestStrides tryAll() {
    std::vector<int> picked(count);
    std::iota(picked.begin(), picked.end(), 0);
    do
      consider(picked);
    while (advance(picked));
    return {best, true};
  }

  BestStrides climb(uint64_t seed);

private:
  Quality qualityOf(const std::vector<int> &strides);
  bool consider(const std::vector<int> &picked);
  bool advance(std::vector<int> &picked) const;

  int servers, count;
  LinkKind kind;
  HopCounter counter;
  std::vector<int> candidates, best;
  Quality quality = {std::numeric_limits<int>::max(), 0};
};

} // namespace

Quality StrideChooser::qualityOf(const std::vector<int> &strides) {
  const std::vector<int> &hops = counter.count(coinsOf(strides, servers, kind));
  return {*std::max_element(hops.begin(), hops.end()),
          std::accumulate(hops.begin(), hops.end(), int64_t(0))};
}

/// Whether the candidates of those numbers are the best yet.
bool StrideChooser::consider(const std::vector<int> &picked) {
  std::vector<int> strides;
  for (int i : picked)
    strides.push_back(candidates[i]);
  const Quality found = qualityOf(strides);
  if (found >= quality)
    return false;
  quality = found;
  std::sort(strides.begin(), strides.end());
  best = std::move(strides);
  return true;
}

/// The next choice in lexical order that has candidate 0.
bool StrideChooser::advance(std::vector<int> &picked) const {
  const int size = static_cast<int>(candidates.size());
  for (int i = count - 1; i > 0; --i)
    if (picked[i] < size - (count - i)) {
      ++picked[i];
      for (int j = i + 1; j < count; ++j)
        picked[j] = picked[j - 1] + 1;
      return true;
    }
  return false;
}

BestStrides StrideChooser::climb(uint64_t seed) {
  constexpr int kStarts = 8;
  std::mt19937_64 random(seed);
  const int size = static_cast<int>(candidates.size());
  for (int start = 0; start < kStarts; ++start) {
    std::vector<int> others(size - 1);
    std::iota(others.begin(), others.end(), 1);
    std::shuffle(others.begin(), others.end(), random);
    std::vector<int> picked(1, 0);
    picked.insert(picked.end(), others.begin(), others.begin() + count - 1);
    Quality now = {std::numeric_limits<int>::max(), 0};
    for (bool gained = true; gained;) {
      gained = false;
      for (int place = 1; place < count; ++place)
        for (int other = 1; other < size; ++other) {
          if (std::find(picked.begin(), picked.end(), other) != picked.end())
            continue;
          const int before = std::exchange(picked[place], other);
          std::vector<int> strides;
          for (int i : picked)
            strides.push_back(candidates[i]);
          const Quality found = qualityOf(strides);
          if (found < now) {
            now = found;
            gained = true;
          } else {
            picked[place] = before;
          }
        }
    }
    consider(picked);
  }
  return {best, false};
}

BestStrides ffc::network::bestStrides(int servers, int count, LinkKind kind,
                                      uint64_t seed) {
  if (servers < 2 || count < 1)
    return {{}, true};
  // About a second at two or three steps in a nanosecond.
  constexpr double kMostSteps = 1e9;
  StrideChooser chooser(servers, count, kind);
  if (chooser.choices() * chooser.costOfOne() <= kMostSteps)
    return chooser.tryAll();
  return chooser.climb(seed);
}

ffc::network::Picoseconds ffc::network::ringTime(int64_t bytes, int members,
                                                 int rings, double bandwidth,
                                                 Picoseconds latency) {
  if (members < 2)
    return 0;
  const double sent =
      2.0 * (members - 1) / members * static_cast<double>(bytes);
  return std::llround(sent / rings / bandwidth * 1e12) +
         2 * (members - 1) * latency;
}
