//===- run_log.h - what a run says to other programs ------------*- C++ -*-===//
#ifndef FFRT_COMMON_RUN_LOG_H
#define FFRT_COMMON_RUN_LOG_H

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace ffrt {

struct ProgramInfo;
struct Validated;

/// What the numbers of a step are written into.
class StepLog {
public:
  struct Training {
    double loss = 0, learning_rate = 0;
  };
  struct Step {
    int64_t step = 0; ///< from 1
    double epoch = 0;
    std::optional<Training> training; ///< absent in a program that evaluates
    double seconds = 0;               ///< a step, since the line before
    double samples_per_second = 0;
    double tokens_per_second = 0; ///< 0: samples are no texts
    double flops_per_second = 0;  ///< of all ranks; 0: unknown
    double share_of_peak = 0;     ///< of the topology's devices; 0: unknown
    double waiting_for_data = 0;  ///< share of the time, on rank 0
  };
  virtual ~StepLog() = default;
  virtual void step(const Step &step) = 0;
  virtual void validation(const Validated &validated) = 0;
  virtual void end(int64_t steps, double seconds) = 0;
};

/// A file with one JSON object a line (JSON Lines), each of which is there as
/// soon as it is written: first {"run": ...}, then {"step": ...} and
/// {"validation": ...}, and {"end": ...}. What is there stays: a run that goes
/// on adds to it. Members throw Error.
class RunLog final : public StepLog {
public:
  explicit RunLog(const std::string &path);
  ~RunLog() override;
  RunLog(const RunLog &) = delete;
  RunLog &operator=(const RunLog &) = delete;

  /// `first`: steps that an earlier run has done.
  void begin(const ProgramInfo &info, int64_t first, int64_t steps,
             uint64_t seed);
  void step(const Step &step) override;
  void validation(const Validated &validated) override;
  void end(int64_t steps, double seconds) override;

private:
  void write(const std::string &line);

  const std::string path;
  std::FILE *file = nullptr;
};

} // namespace ffrt

#endif // FFRT_COMMON_RUN_LOG_H
