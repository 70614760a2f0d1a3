//===- StartBatches.h - early starts of a table's segments ------*- C++ -*-===//
//
// Internal to Plan.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STARTBATCHES_H
#define FFC_LIB_PLAN_STARTBATCHES_H

#include "Step/EarlyStart.h"
#include "ffc/Plan/StepTimer.h"

namespace ffc::plan {

/// Shapes and sums of bytes are the table's numbers.
using SegmentStarts = BatchedStarts<int32_t, BatchId, ValueId>;

struct SegmentBatchRules {
  SegmentTable &table;
  bool isFull(BatchId batch) const { return table.isFull(batch); }
  void add(BatchId &batch, BatchId more) const {
    batch = table.join(batch, more);
  }
};

struct StepTimer::Batches : SegmentStarts {
  using SegmentStarts::SegmentStarts;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STARTBATCHES_H
