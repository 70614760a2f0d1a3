//===- Recomputation.h - less memory for more work --------------*- C++ -*-===//
//
// What a strategy does not keep between the forward and the backward pass of a
// step (Configuration::again):
//
//   - results of forward operators, which are computed again right before the
//     first operator of the backward pass that reads them (Chen et al.,
//     "Training Deep Nets with Sublinear Memory Cost", 2016, section 4). What
//     they are computed of is what is kept, or is computed again itself. Random
//     numbers are the same ones;
//   - parts of parameters that lie elsewhere: wherever the backward pass reads
//     what the forward pass read or the other way round, they are sent again.
//     With shared updates this is ZeRO stage 3 (Rajbhandari et al., SC 2020,
//     section 5.3). Over micro-batches, the sums of its gradient that a turn
//     has made are sent to where they are updated at once, and added up there
//     (FSDP; Zhao et al., VLDB 2023, section 3.3.2): no device keeps more of
//     the gradient than it updates.
//
// Turns of operators, and what becomes of the copies that are there, say all of
// it: memory, time and communication follow from the order of the step.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_RECOMPUTATION_H
#define FFC_PLAN_RECOMPUTATION_H

#include "ffc/Plan/PipelineSchedule.h"

namespace ffc::plan {

/// Is anything done again?
bool doesAgain(const Strategy &strategy);

/// Is it a turn of the backward pass?
bool isBackward(const Graph &graph, const Turn &turn);

/// By value: the update that makes a parameter of it which is sent again; -1
/// for others.
std::vector<OpId> updatesOfSentAgain(const Graph &graph,
                                     const Strategy &strategy);

/// Notes the results of which each turn makes sums of its own: gradients of
/// parameters that are sent again.
void noteOwnSums(const Graph &graph, const Strategy &strategy,
                 std::vector<Turn> &turns);

/// `turns`, with those of what is computed again in between. A forward operator
/// whose result is the sum of several turns is not.
std::vector<Turn> withRecomputation(const Graph &graph,
                                    const Strategy &strategy,
                                    const std::vector<Turn> &turns);

/// By value: a state whose copies elsewhere are not kept.
std::vector<bool> statesSentAgain(const Graph &graph, const Strategy &strategy);

} // namespace ffc::plan

#endif // FFC_PLAN_RECOMPUTATION_H
