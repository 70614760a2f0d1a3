//===- StageProfile.cpp - measured operators of a model, split ------------===//

#include "ffc/Plan/StageProfile.h"

#include <algorithm>
#include <cmath>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Collectives and links
//===----------------------------------------------------------------------===//

double CollectiveTable::nearest(double mebibytes) const {
  // Whatever tables say, what follows fits an int.
  if (times.empty() || mebibytes > times.rbegin()->first + 2)
    return kUnknown;
  // nearbyint rounds half to even.
  for (double size : {mebibytes, mebibytes - 1})
    if (auto it = times.find(static_cast<int>(std::nearbyint(size)));
        it != times.end())
      return it->second;
  return kUnknown;
}

double CollectiveTable::between(double mebibytes) const {
  std::vector<std::pair<int, double>> measured;
  for (auto [size, time] : times)
    if (time < kNotMeasured)
      measured.push_back({size, time});
  if (measured.size() < 2)
    return kUnknown;
  size_t next = 1;
  while (next + 1 < measured.size() && measured[next].first < mebibytes)
    ++next;
  const auto [low, lowTime] = measured[next - 1];
  const auto [high, highTime] = measured[next];
  return lowTime + (highTime - lowTime) * (mebibytes - low) / (high - low);
}

double LinkTable::microseconds(double mebibytes) const {
  if (mebibytes <= 0)
    return 0;
  const double last = static_cast<double>(rates.size() - 1);
  const double row = std::clamp(std::floor(std::log2(mebibytes)), 0.0, last);
  return atRate(mebibytes, rates[static_cast<size_t>(row)]);
}

double LinkTable::asOrigin(double mebibytes) const {
  if (mebibytes <= 0)
    return 0;
  const int size = static_cast<int>(rates.size());
  int row = static_cast<int>(std::trunc(std::log2(mebibytes))) - 1;
  if (row < 0)
    row += size;
  return atRate(mebibytes, rates[std::clamp(row, 0, size - 1)]);
}

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

const StageTable *StageProfile::table(int samples, int tensor,
                                      int algorithm) const {
  auto it = tables.find({samples, tensor, algorithm});
  return it == tables.end() ? nullptr : &it->second;
}

std::string StageProfile::tableName(int samples, int tensor,
                                    int algorithm) const {
  return modelName + "_mbs" + std::to_string(samples) + "_tp" +
         std::to_string(tensor) + "_algo" + std::to_string(algorithm) + ".csv";
}

const CollectiveTable *StageProfile::collective(StageCollective kind,
                                                int members) const {
  auto it = collectives.find({kind, members});
  return it == collectives.end() ? nullptr : &it->second;
}
