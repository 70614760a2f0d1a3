//===- tensorboard.h - numbers of steps for TensorBoard ---------*- C++ -*-===//
//
// Event files: records of a length, a check sum of it, an Event (protobuf) and
// a check sum of that; check sums are CRC-32C, masked
// (tensorflow/core/lib/io/record_writer.h, core/util/event.proto).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_TENSORBOARD_H
#define FFRT_COMMON_TENSORBOARD_H

#include "common/program/run_log.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// CRC-32C (Castagnoli).
uint32_t crc32c(const std::string &bytes);

/// A file of its own in a folder, whose name begins with
/// "events.out.tfevents."; what a run writes is there at once. Members throw
/// Error.
class TensorBoard final : public StepLog {
public:
  explicit TensorBoard(const std::string &folder);
  ~TensorBoard() override;
  TensorBoard(const TensorBoard &) = delete;
  TensorBoard &operator=(const TensorBoard &) = delete;

  void step(const Step &step) override;
  void validation(const Validated &validated) override;
  void end(int64_t, double) override {}

private:
  void scalars(int64_t step,
               const std::vector<std::pair<std::string, double>> &values);
  void write(const std::string &event);

  std::string path;
  std::FILE *file = nullptr;
};

} // namespace ffrt

#endif // FFRT_COMMON_TENSORBOARD_H
