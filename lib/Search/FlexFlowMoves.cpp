//===- FlexFlowMoves.cpp - proposals for FlexFlow's simulator -------------===//

#include "FlexFlowMoves.h"

#include <algorithm>
#include <numeric>

using namespace ffc::search;
using namespace ffc::plan;

FlexFlowMoves::FlexFlowMoves(const FlexFlowModel &model)
    : model(model), digits(log2Exact(model.machine().numDevices())),
      related(model.layers().size()) {
  for (size_t layer = 0; layer < related.size(); ++layer)
    for (int input : model.layers()[layer].inputs) {
      related[layer].push_back(input);
      related[input].push_back(static_cast<int>(layer));
    }
  for (const FlexFlowParameter &parameter : model.parameters())
    for (int layer : parameter.layers)
      for (int other : parameter.layers)
        if (other != layer)
          related[layer].push_back(other);
}

FlexFlowSplit ffc::search::placedAlike(const FlexFlowModel &model, int layer,
                                       const FlexFlowSplit &split,
                                       int samples) {
  FlexFlowSplit result;
  result.samples = samples;
  if (model.layers()[layer].isLinear())
    result.channels = model.machine().numDevices() / samples;
  for (int row = 0; row < samples; ++row)
    for (int column = 0; column < result.channels; ++column)
      result.devices.push_back(
          split.devices[row * split.samples / samples * split.channels +
                        column % split.channels]);
  return result;
}

//===----------------------------------------------------------------------===//
// What is drawn
//===----------------------------------------------------------------------===//

int FlexFlowMoves::anyLayer(Random &random) const {
  return static_cast<int>(
      random.below(static_cast<int64_t>(model.layers().size())));
}

std::vector<int> FlexFlowMoves::someLayers(Random &random) const {
  if (!model.parameters().empty() && random.oneIn(2))
    return model
        .parameters()[random.below(
            static_cast<int64_t>(model.parameters().size()))]
        .layers;
  int first = anyLayer(random), last = anyLayer(random);
  if (first > last)
    std::swap(first, last);
  std::vector<int> layers(last - first + 1);
  std::iota(layers.begin(), layers.end(), first);
  return layers;
}

/// Puts `items` into a random order.
template <class T> static void shuffle(std::vector<T> &items, Random &random) {
  for (auto i = static_cast<int64_t>(items.size()) - 1; i > 0; --i)
    std::swap(items[i], items[random.below(i + 1)]);
}

std::vector<DeviceId> FlexFlowMoves::pattern(int degree, Random &random) const {
  std::vector<DeviceId> turns;
  for (int digit = 0; digit < digits; ++digit)
    turns.push_back(1 << digit);
  shuffle(turns, random);
  // Digits that turn none put parts on the same device.
  const int64_t used = random.oneIn(2) ? degree : random.below(degree + 1);
  turns.resize(used);
  turns.resize(degree, 0);
  shuffle(turns, random);
  const auto first =
      static_cast<DeviceId>(random.below(model.machine().numDevices()));
  std::vector<DeviceId> devices(size_t(1) << degree, first);
  for (size_t part = 0; part < devices.size(); ++part)
    for (int digit = 0; digit < degree; ++digit)
      if ((part >> digit & 1) != 0)
        devices[part] ^= turns[digit];
  return devices;
}

FlexFlowSplit FlexFlowMoves::placed(int layer, Random &random) const {
  FlexFlowSplit split;
  const auto degree = static_cast<int>(random.below(digits + 1));
  split.samples = 1 << degree;
  if (model.layers()[layer].isLinear())
    split.channels = model.machine().numDevices() / split.samples;
  split.devices = pattern(log2Exact(split.numParts()), random);
  return split;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

void FlexFlowMoves::placeTogether(const std::vector<int> &layers,
                                  Random &random, Changes &changes) const {
  const auto degree = static_cast<int>(random.below(digits + 1));
  FlexFlowSplit split;
  split.samples = 1 << degree;
  // With channels of their own for linear layers, or all in one place.
  if (random.oneIn(2))
    split.channels = model.machine().numDevices() / split.samples;
  split.devices = pattern(log2Exact(split.numParts()), random);
  for (int layer : layers)
    changes.push_back({layer, placedAlike(model, layer, split, split.samples)});
}

void FlexFlowMoves::placeAlike(int layer, const FlexFlowStrategy &current,
                               Random &random, Changes &changes) const {
  if (related[layer].empty()) {
    changes.push_back({layer, placed(layer, random)});
    return;
  }
  const int other =
      related[layer][random.below(static_cast<int64_t>(related[layer].size()))];
  const int samples =
      random.oneIn(2) ? current[other].samples : 1 << random.below(digits + 1);
  changes.push_back(
      {layer, placedAlike(model, layer, current[other], samples)});
}

void FlexFlowMoves::swapDevices(const std::vector<int> &layers,
                                const FlexFlowStrategy &current, Random &random,
                                Changes &changes) const {
  const auto a =
      static_cast<DeviceId>(random.below(model.machine().numDevices()));
  const auto b =
      static_cast<DeviceId>(random.below(model.machine().numDevices()));
  // Or a takes what b does.
  const bool swaps = random.oneIn(2);
  for (int layer : layers) {
    FlexFlowSplit split = current[layer];
    for (DeviceId &device : split.devices)
      if (device == b)
        device = a;
      else if (device == a && swaps)
        device = b;
    changes.push_back({layer, std::move(split)});
  }
}

void FlexFlowMoves::movePart(int layer, const FlexFlowStrategy &current,
                             Random &random, Changes &changes) const {
  FlexFlowSplit split = current[layer];
  DeviceId &device = split.devices[random.below(split.numParts())];
  if (random.oneIn(2))
    device = static_cast<DeviceId>(random.below(model.machine().numDevices()));
  else
    std::swap(device, split.devices[random.below(split.numParts())]);
  changes.push_back({layer, std::move(split)});
}

void FlexFlowMoves::draw(const FlexFlowStrategy &current, Random &random,
                         Changes &changes) const {
  changes.clear();
  switch (random.below(6)) {
  case 0:
    return movePart(anyLayer(random), current, random, changes);
  case 1:
    return placeAlike(anyLayer(random), current, random, changes);
  case 2:
    return swapDevices({anyLayer(random)}, current, random, changes);
  case 3:
    return swapDevices(someLayers(random), current, random, changes);
  case 4:
    return placeTogether(someLayers(random), random, changes);
  default:
    const int layer = anyLayer(random);
    changes.push_back({layer, placed(layer, random)});
  }
}
