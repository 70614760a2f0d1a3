//===- Profile.h - measured times -------------------------------*- C++ -*-===//
//
// What the program that `ffc profile` writes has measured on a machine:
// durations of kernels and copies by what they do (LocalWork.h), and of
// communication by size. See docs/profile.md for the file.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_PROFILE_H
#define FFC_PLAN_PROFILE_H

#include "ffc/Plan/LocalWork.h"
#include "ffc/Plan/Topology.h"
#include "ffc/Plan/Units.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ffc::plan {

struct FlexNetMeasures;

/// The time of a communication by its bytes: latency and bandwidth, from one
/// measured size to the next. Below the least size it takes as long as that,
/// beyond the largest it grows as between the last two.
class Curve {
public:
  struct Point {
    int64_t bytes = 0;
    Picoseconds time = 0;
  };
  /// At least one point; bytes ascend, times do not descend.
  explicit Curve(std::vector<Point> points) : points(std::move(points)) {}
  Picoseconds at(int64_t bytes) const;

private:
  std::vector<Point> points;
};

/// A roofline of one kernel: time = call + flops * perFlop + bytes * perByte,
/// in picoseconds, with what fits measured times best.
struct KernelRates {
  double call = 0, perFlop = 0, perByte = 0;
  double at(double flops, double bytes) const {
    return call + flops * perFlop + bytes * perByte;
  }
};

/// A measured duration.
struct Measurement {
  std::string key, kernel;
  int devices = 1; ///< LocalWork::devices
  double flops = 0, bytes = 0;
  Picoseconds time = 0;
};

/// The rates with the least sum of squared relative errors over `list`, which
/// is not empty; none of them negative.
KernelRates fitRates(const std::vector<const Measurement *> &list);

class Profile {
public:
  /// On failure returns null and sets `error` ("FILE:LINE: ...").
  static std::shared_ptr<const Profile> load(const std::string &path,
                                             std::string &error);
  static std::shared_ptr<const Profile> parse(const std::string &text,
                                              const std::string &fileName,
                                              std::string &error);

  Profile() = default;
  /// Of kernels and copies only.
  explicit Profile(const std::vector<Measurement> &measurements) {
    add(measurements);
  }

  /// What a file of FlexNet's has measured, operators instead of kernels
  /// (FlexNet.h); null for any other profile.
  const FlexNetMeasures *flexNet() const { return measures.get(); }

  /// The kind of device that was measured; empty if the file does not say.
  const std::string &device() const { return deviceKind; }

  /// The measured time of exactly that. Work of more devices than ever were
  /// measured together counts as work of those.
  std::optional<Picoseconds> find(const LocalWork &work) const;
  /// By the rates of the kernel; nothing if it was not measured at all.
  std::optional<Picoseconds> atRates(std::string_view kernel, double flops,
                                     int64_t bytes) const;
  /// The same, corrected by the measurements of what differs in sizes and
  /// numbers of devices only: by the mean of how much longer each took than at
  /// the rates, of which the similar ones count most. What was measured, but on
  /// other numbers of devices: that time, changed as that of similar work was
  /// which was measured on both.
  std::optional<Picoseconds> calibrated(const LocalWork &work) const;
  /// Null where no such group was measured.
  const Curve *collective(CollectiveKind kind, int64_t members) const;
  /// Of a message, for both of its ends, and of one while as much goes the
  /// other way; null if neither was measured.
  const Curve *message() const;
  const Curve *exchange() const;

private:
  friend class ProfileReader;

  /// What was measured under one key, as seen from others that differ in sizes
  /// only.
  struct Times {
    struct Time {
      int devices = 1;
      Picoseconds time = 0;
      double excess = 0; ///< logarithm of the time over that at the rates
    };
    std::vector<double> sizes; ///< logarithms
    std::vector<Time> list;    ///< of different numbers of devices; not empty

    /// Null if it was not measured on so many.
    const Time *on(int devices) const;
    const Time &nearest(int devices) const;
  };

  void add(const std::vector<Measurement> &measurements);

  std::string deviceKind;
  std::shared_ptr<const FlexNetMeasures> measures;
  int mostDevices = 1; ///< of all measurements
  std::map<std::string, KernelRates, std::less<>> rates;
  std::unordered_map<std::string, Times> times; ///< by key
  /// By key without sizes; points into `times`.
  std::unordered_map<std::string, std::vector<const Times *>> families;
  std::map<std::pair<CollectiveKind, int64_t>, Curve> collectives;
  std::optional<Curve> messages, exchanges;
};

} // namespace ffc::plan

#endif // FFC_PLAN_PROFILE_H
