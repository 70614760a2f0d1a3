//===- StageProfile.h - measured operators of a model, split ----*- C++ -*-===//
//
// Tables of how long the operators of a model take and what memory they need,
// by samples per device, tensor parallel degree and algorithm; of collectives
// by size; and of links. They are those that Aceso (Liu et al., EuroSys 2024)
// publishes, a folder of .csv files (docs/stages.md).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_STAGEPROFILE_H
#define FFC_PLAN_STAGEPROFILE_H

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ffc::plan {

/// An operator on one device. Times are in microseconds and contain the
/// collectives of tensor parallelism, memory is in MiB.
struct StageRow {
  double forward = 0, backward = 0;
  /// What crosses a cut before and behind the operator.
  double input = 0, output = 0;
  double weights = 0;
  double activations = 0; ///< kept for the backward pass
  /// By how much the allocator grows beyond that.
  double forwardReserved = 0, backwardReserved = 0;
};

/// A file's rows, in its order.
using StageTable = std::vector<StageRow>;

enum class StageCollective { AllGather, AllReduce, AllToAll, ReduceScatter };

/// The time of a collective by its buffer's size.
class CollectiveTable {
public:
  /// What is in the table instead of a time that was not measured.
  static constexpr double kNotMeasured = 1e9;
  /// What a size takes that is in no table, in milliseconds.
  static constexpr double kUnknown = 1e5;

  void add(int mebibytes, double milliseconds) {
    times[mebibytes] = milliseconds;
  }
  bool contains(int mebibytes) const { return times.count(mebibytes) != 0; }
  size_t size() const { return times.size(); }

  /// As the origin looks it up: the size, or else one less, rounded half to
  /// even, must be in the table; else kUnknown. In milliseconds.
  double nearest(double mebibytes) const;
  /// Linear between the measured sizes around it, and beyond them as between
  /// the last two. In milliseconds; kUnknown with fewer than two sizes.
  double between(double mebibytes) const;

private:
  std::map<int, double> times;
};

/// Rates of a link, one way, by size.
class LinkTable {
public:
  /// MiB ascend and are powers of two from 1 on; rates in GiB/s.
  explicit LinkTable(std::vector<double> rates) : rates(std::move(rates)) {}

  /// At the rate of the largest measured size that is not larger, in
  /// microseconds.
  double microseconds(double mebibytes) const;
  /// As the origin computes it: the rate is that of half the size, below 2 MiB
  /// one counted from the table's end.
  double asOrigin(double mebibytes) const;

private:
  /// A GiB counts as 1,000 MiB, as in the origin.
  static double atRate(double mebibytes, double rate) {
    return mebibytes / rate * 1000;
  }
  std::vector<double> rates;
};

class StageProfile {
public:
  /// The tables of a model, "gpt_1_3B", in `folder`. On failure returns nothing
  /// and sets `error` ("FILE:LINE: ...").
  static std::optional<StageProfile>
  load(const std::string &folder, const std::string &model, std::string &error);

  const std::string &model() const { return modelName; }
  /// Names of the rows, which all tables share.
  const std::vector<std::string> &rows() const { return names; }
  /// Null if it was not measured.
  const StageTable *table(int samples, int tensor, int algorithm) const;
  /// "gpt_1_3B_mbs1_tp2_algo0.csv", which table() reads.
  std::string tableName(int samples, int tensor, int algorithm) const;
  /// What was measured, ascending.
  const std::vector<int> &samples() const { return allSamples; }
  const std::vector<int> &tensorDegrees() const { return allTensor; }
  int algorithms() const { return numAlgorithms; }

  /// Null where no such group was measured.
  const CollectiveTable *collective(StageCollective kind, int members) const;
  const LinkTable &link(bool betweenNodes) const {
    return betweenNodes && inter ? *inter : *intra;
  }

private:
  friend class StageProfileReader;
  std::string modelName;
  std::vector<std::string> names;
  /// By samples, tensor degree and algorithm.
  std::map<std::array<int, 3>, StageTable> tables;
  std::vector<int> allSamples, allTensor;
  int numAlgorithms = 1;
  std::map<std::pair<StageCollective, int>, CollectiveTable> collectives;
  std::optional<LinkTable> intra, inter;
};

} // namespace ffc::plan

#endif // FFC_PLAN_STAGEPROFILE_H
