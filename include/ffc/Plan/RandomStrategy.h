//===- RandomStrategy.h - legal strategies by chance ------------*- C++ -*-===//
//
// What tests compare with one device (`--strategy=random:SEED`), and where a
// search may start.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_RANDOMSTRATEGY_H
#define FFC_PLAN_RANDOMSTRATEGY_H

#include "ffc/Plan/PipelineSchedule.h"

#include <random>
#include <string>

namespace ffc::plan {

/// A legal configuration of `op`: any splittable dimensions in any order,
/// uneven blocks, replicas, any devices, several points per device; at most 2 *
/// numDevices + 2 points.
Configuration randomConfiguration(const Graph &graph, OpId op, int numDevices,
                                  std::mt19937 &random);

/// Three of four operators of every role get a random configuration, the others
/// follow. The same for the same state of `random` on every machine.
Strategy randomStrategy(const Graph &graph, int numDevices,
                        std::mt19937 &random);

/// Like a pipeline: forward operators work on the micro-batches of `schedule`,
/// which is drawn, too, on one to three devices of each stage, which may be
/// those of others as well; all else follows. In a quarter of them stages are
/// on the even and on the odd devices by turns, which 1F1B interleaves. In a
/// third some operators of any role have any configuration.
Strategy randomPipeline(const Graph &graph, int numDevices,
                        PipelineSchedule &schedule, std::mt19937 &random);

/// A random strategy or, in a third of them, pipeline, in which half of what
/// can be is done again (Configuration::again).
Strategy randomRecomputation(const Graph &graph, int numDevices,
                             PipelineSchedule &schedule, std::mt19937 &random);

/// One line per operator, for messages.
std::string str(const Graph &graph, const Strategy &strategy);

} // namespace ffc::plan

#endif // FFC_PLAN_RANDOMSTRATEGY_H
