//===- CollectiveAlgorithmsTest.cpp - the same in plans and programs ------===//
//
// The runtime knows nothing of the compiler, so that both name the algorithms
// of collectives.
//
//===----------------------------------------------------------------------===//

#include "ffc/Plan/Action.h"
#include "ffrt/comm.h"

static_assert(ffrt::kOneShotBytes == ffc::plan::kOneShotBytes);
static_assert(int(ffrt::CollectiveAlgorithm::library) ==
              int(ffc::plan::CollectiveAlgorithm::Library));
static_assert(int(ffrt::CollectiveAlgorithm::one_shot) ==
              int(ffc::plan::CollectiveAlgorithm::OneShot));
static_assert(int(ffrt::CollectiveAlgorithm::two_shot) ==
              int(ffc::plan::CollectiveAlgorithm::TwoShot));
static_assert(int(ffrt::CollectiveAlgorithm::schedule) ==
              int(ffc::plan::CollectiveAlgorithm::Schedule));
