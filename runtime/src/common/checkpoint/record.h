//===- record.h - where a run stands ----------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_RECORD_H
#define FFRT_COMMON_RECORD_H

#include "common/checkpoint/best.h"
#include "common/optimizer/parameter_groups.h"
#include "common/optimizer/rate_schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// What a checkpoint is, besides the values themselves: checkpoint.json.
struct Record {
  int64_t step = 0;              ///< steps done
  int64_t samples = 0;           ///< that they have taken
  int64_t samples_per_epoch = 0; ///< 0: there is no such thing
  double epoch = 0;              ///< samples over samples_per_epoch; or 0
  double loss = 0;               ///< of the last step
  uint64_t seed = 0;
  bool shuffled = false;
  double weight_decay = 0;
  std::vector<ParameterGroup> groups;
  double clip_value = 0; ///< of gradients; 0: none
  RateSchedule rate;     ///< with the steps of the whole run
  Best best;             ///< of its validations

  std::string model, model_hash, topology_hash, strategy_hash;
  int ranks = 0, micro_batches = 0;
  int64_t batch = 0; ///< of a micro-batch

  struct Value {
    std::string name, file, type;
    std::vector<int64_t> shape;
    bool parameter = false;
    uint64_t sum = 0; ///< checksum.h
  };
  std::vector<Value> values;
};

constexpr const char *kRecordName = "checkpoint.json";

std::string to_json(const Record &record);
/// Throws Error naming the path.
Record read_record(const std::string &path);

} // namespace ffrt

#endif // FFRT_COMMON_RECORD_H
