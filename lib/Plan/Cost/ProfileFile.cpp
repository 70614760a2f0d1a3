//===- ProfileFile.cpp - reads profiles -----------------------------------===//
//
// The format of docs/profile.md. It is JSON, which YAML contains.
//
//===----------------------------------------------------------------------===//

#include "ffc/Plan/Profile.h"

#include "FlexNetFile.h"
#include "Text/Text.h"
#include "Text/YamlFields.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

using namespace ffc::plan;
using namespace ffc::plan::yaml;

static constexpr size_t kMaxFileBytes = size_t(64) << 20;
static constexpr double kMicrosecond = 1e6; // in picoseconds

namespace ffc::plan {
class ProfileReader {
public:
  std::shared_ptr<const Profile> read(const YamlNode &root);

private:
  void readKernel(const YamlNode &node);
  void readOperation(const YamlNode &node);

  std::shared_ptr<Profile> profile = std::make_shared<Profile>();
  std::vector<Measurement> measurements;
  std::set<std::pair<std::string, int>> keys;
};
} // namespace ffc::plan

static Picoseconds time(const YamlNode &map, const std::string &what) {
  return std::llround(
      std::min(number(map, "median_us", what) * kMicrosecond, 1e18));
}

void ProfileReader::readKernel(const YamlNode &node) {
  const std::string what = "a kernel's measurement";
  expectMap(node, what,
            {"key", "kernel", "devices", "flops", "bytes", "median_us",
             "spread_us", "samples"});
  Measurement measurement;
  const YamlNode &key = require(node, "key", what);
  measurement.key = text(key, "the key of a kernel");
  measurement.kernel = text(require(node, "kernel", what), "a kernel's name");
  if (const YamlNode *devices = node.find("devices"))
    measurement.devices = count(*devices, "devices of a kernel", 1 << 20);
  measurement.flops = number(node, "flops", what);
  measurement.bytes = number(node, "bytes", what);
  measurement.time = time(node, what);
  if (!keys.emplace(measurement.key, measurement.devices).second)
    fail(key, "expected every key once for a number of devices, found " +
                  quoted(measurement.key) + " on " +
                  std::to_string(measurement.devices) + " again");
  measurements.push_back(std::move(measurement));
}

static std::optional<CollectiveKind> collectiveOf(const std::string &name) {
  const std::pair<const char *, CollectiveKind> names[] = {
      {"all_reduce", CollectiveKind::AllReduce},
      {"all_gather", CollectiveKind::AllGather},
      {"reduce_scatter", CollectiveKind::ReduceScatter},
      {"broadcast", CollectiveKind::Broadcast}};
  for (auto [word, kind] : names)
    if (name == word)
      return kind;
  return std::nullopt;
}

static Curve readCurve(const YamlNode &list) {
  expectList(list, "the sizes of an operation");
  std::vector<Curve::Point> points;
  for (const YamlNode &node : list.children) {
    const std::string what = "a size of an operation";
    expectMap(node, what, {"bytes", "median_us", "spread_us"});
    Curve::Point point{static_cast<int64_t>(number(node, "bytes", what)),
                       time(node, what)};
    if (!points.empty() &&
        (point.bytes <= points.back().bytes || point.time < points.back().time))
      fail(node, "expected sizes of ascending 'bytes' that do not take less "
                 "than smaller ones, found " +
                     std::to_string(point.bytes) + " bytes after " +
                     std::to_string(points.back().bytes));
    points.push_back(point);
  }
  return Curve(std::move(points));
}

void ProfileReader::readOperation(const YamlNode &node) {
  const std::string what = "a communication's measurement";
  expectMap(node, what, {"operation", "members", "sizes"});
  const YamlNode &operation = require(node, "operation", what);
  const std::string name = text(operation, "the name of an operation");
  const int members =
      count(require(node, "members", what), "members of a group", 1 << 20);
  Curve curve = readCurve(require(node, "sizes", what));
  const auto kind = collectiveOf(name);
  std::optional<Curve> *single = name == "message"    ? &profile->messages
                                 : name == "exchange" ? &profile->exchanges
                                                      : nullptr;
  if (!kind && !single)
    fail(operation, "expected an operation of message, exchange, all_reduce, "
                    "all_gather, reduce_scatter and broadcast, found " +
                        quoted(name));
  const bool isNew =
      kind ? profile->collectives
                 .emplace(std::pair(*kind, int64_t(members)), std::move(curve))
                 .second
           : !*single;
  if (!isNew)
    fail(operation, "expected every operation once for a number of members, "
                    "found " +
                        quoted(name) + " of " + std::to_string(members) +
                        " again");
  if (single)
    *single = std::move(curve);
}

std::shared_ptr<const Profile> ProfileReader::read(const YamlNode &root) {
  const std::string what = "a profile";
  expectMap(root, what,
            {"ffc_profile", "model", "date", "machine", "versions", "device",
             "ranks", "threads", "cores", "probe_us", "kernels",
             "communication"});
  const YamlNode &version = require(root, "ffc_profile", what);
  if (version.scalar != "1")
    fail(version,
         "expected a profile of version 1, found " + version.describe());
  profile->deviceKind =
      text(require(root, "device", what), "the name of a device kind");
  const YamlNode &kernels = require(root, "kernels", what);
  expectList(kernels, "the kernels of a profile");
  for (const YamlNode &kernel : kernels.children)
    readKernel(kernel);
  // A profile of one rank has no communication.
  const YamlNode &operations = require(root, "communication", what);
  if (!operations.isSequence())
    fail(operations, "expected the communication of a profile to be a list, "
                     "found " +
                         operations.describe());
  for (const YamlNode &operation : operations.children)
    readOperation(operation);
  profile->add(measurements);
  return profile;
}

std::shared_ptr<const Profile> Profile::parse(const std::string &text,
                                              const std::string &fileName,
                                              std::string &error) {
  try {
    const YamlNode root = parseYaml(text);
    if (isFlexNet(root)) {
      auto profile = std::make_shared<Profile>();
      profile->measures = std::make_shared<FlexNetMeasures>(readFlexNet(root));
      return profile;
    }
    return ProfileReader().read(root);
  } catch (const Malformed &malformed) {
    error = fileName + ":" + std::to_string(malformed.line) + ": " +
            malformed.message;
    return nullptr;
  }
}

std::shared_ptr<const Profile> Profile::load(const std::string &path,
                                             std::string &error) {
  std::optional<std::string> text = readTextFile(path, kMaxFileBytes, error);
  return text ? parse(*text, path, error) : nullptr;
}
