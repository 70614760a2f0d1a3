//===- MemoryOrdersTest.cpp - the same in plans and programs --------------===//
//
// The runtime knows nothing of the compiler, so that both say how pitched rows
// lie.
//
//===----------------------------------------------------------------------===//

#include "ffc/Plan/Rules.h"
#include "ffrt/tensor.h"

static_assert(ffrt::kPitch == ffc::plan::kPitch);
static_assert(int(ffrt::Order::row_major) ==
              int(ffc::plan::MemoryOrder::RowMajor));
static_assert(int(ffrt::Order::channels_last) ==
              int(ffc::plan::MemoryOrder::ChannelsLast));
static_assert(int(ffrt::Order::pitched) ==
              int(ffc::plan::MemoryOrder::Pitched));
