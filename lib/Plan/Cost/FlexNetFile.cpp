//===- FlexNetFile.cpp - reads measurements of FlexNet --------------------===//

#include "FlexNetFile.h"

#include "Text/Text.h"
#include "Text/YamlFields.h"

#include <algorithm>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

static constexpr int64_t kMaxDegree = 1 << 20;

bool ffc::plan::isFlexNet(const YamlNode &root) {
  return root.find("measurements") != nullptr;
}

/// "2-1-4": the number of dimensions, then degrees.
static std::vector<int64_t> readDegrees(const YamlNode &node) {
  std::vector<int64_t> numbers;
  const std::string &word = text(node, "the degrees of a measurement");
  for (size_t begin = 0; begin <= word.size();) {
    const size_t end = std::min(word.find('-', begin), word.size());
    const auto number = parseCount(word.substr(begin, end - begin), kMaxDegree);
    numbers.push_back(number.value_or(0));
    begin = end + 1;
  }
  if (numbers.size() < 2 ||
      numbers.front() != static_cast<int64_t>(numbers.size()) - 1 ||
      std::count(numbers.begin(), numbers.end(), 0))
    fail(node, "expected 'pc_str' to be a number of dimensions and as many "
               "degrees, such as '2-1-4', found " +
                   node.describe());
  return {numbers.begin() + 1, numbers.end()};
}

FlexNetMeasures ffc::plan::readFlexNet(const YamlNode &root) {
  const std::string file = "a file of measurements", what = "a measurement";
  FlexNetMeasures result;
  expectMap(root, file, {"batch_size", "ngpus", "measurements"});
  result.batch =
      count(require(root, "batch_size", file), "a batch size", 1 << 30);
  result.devices =
      count(require(root, "ngpus", file), "a number of devices", kMaxDegree);
  const YamlNode &list = require(root, "measurements", file);
  expectList(list, "measurements");
  for (const YamlNode &node : list.children) {
    expectMap(node, what, {"name", "pc_str", "fw_time", "bw_time", "mem_req"});
    FlexNetMeasure &measure = result.list.emplace_back();
    measure.line = node.line;
    measure.name = text(require(node, "name", what), "a measurement's name");
    measure.degrees = readDegrees(require(node, "pc_str", what));
    measure.forward = number(node, "fw_time", what) * kFlexNetMillisecond;
    measure.backward = number(node, "bw_time", what) * kFlexNetMillisecond;
    measure.memoryBytes = static_cast<int64_t>(number(node, "mem_req", what));
  }
  return result;
}
