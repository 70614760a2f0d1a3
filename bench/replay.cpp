//===- replay.cpp - proposals of a search, made again ---------------------===//
//
// What delta timing is worth where searches use it: a chain's proposals from
// the answer of a search on, made once, so that all segments are known, and
// then again from the same answer: timed by delta, and by looking up and
// sweeping the whole step, with and without the limits that the chain drew.
// Every way goes over them twice, of which the second time counts. What the
// chain does besides, as to draw a candidate, is not in it.
//
// Prints one line of JSON; fails if a time or an outcome differs. All times are
// of the process. Instructions are counted by valgrind (bench/replay).
//
//===----------------------------------------------------------------------===//

#include "Chain.h"
#include "Proposals.h"
#include "ReadGraph.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace ffc;
using bench::Way;
using plan::Picoseconds;

namespace {

namespace cl = llvm::cl;
cl::opt<int> numProposals("proposals", cl::init(10000));
cl::opt<int> seed("seed", cl::init(0));

} // namespace

struct Proposal {
  std::vector<plan::StepTimer::Change> changes;
  Picoseconds limit = 0;
  Picoseconds time = 0; ///< without it
};

struct Recording {
  std::vector<plan::ConfigId> start;
  std::vector<Proposal> proposals;
};

/// A chain's proposals from the answer of a search.
static Recording record(const search::Space &space, plan::SegmentTable &table,
                        const plan::Strategy &start) {
  search::Walker walker(space, table);
  walker.assign(start);
  Recording result{walker.configs(), {}};
  search::Moves moves(space, {});
  search::Random random(static_cast<uint64_t>(seed));
  std::vector<search::NumberedChoice> choices;
  for (int p = 0; p < numProposals; ++p) {
    moves.propose(walker, random, choices);
    Proposal &made = result.proposals.emplace_back();
    made.limit = search::drawLimit(random, walker.makespan(),
                                   search::alphaFor(moves.size()));
    made.time = walker.proposeNumbered(choices);
    made.changes = walker.changesOf(choices);
    made.time <= made.limit ? walker.accept() : walker.reject();
  }
  return result;
}

/// Makes the proposals; returns how many had another outcome. Named for
/// valgrind.
extern "C" LLVM_ATTRIBUTE_NOINLINE int64_t
replayOnce(bench::Stepper &stepper, const Recording &recording, Way way) {
  int64_t wrong = 0;
  for (const Proposal &proposal : recording.proposals) {
    const Picoseconds time = stepper.propose(proposal.changes, proposal.limit);
    const bool accepts = proposal.time <= proposal.limit;
    wrong += way.limited && !accepts ? time <= proposal.limit
                                     : time != proposal.time;
    stepper.end(proposal.changes, accepts);
  }
  return wrong;
}

int main(int argc, char **argv) {
  const auto problem =
      bench::readProblem(argc, argv, "proposals of a search, made again\n");
  const plan::Graph &graph = problem->graph;
  const plan::CostModel &cost = problem->cost;
  const int numDevices = problem->topology.numDevices();
  search::Options options;
  options.threads = 1;
  options.seed = static_cast<uint64_t>(seed);
  const search::Result found =
      search::searchStrategy(graph, problem->topology, cost, options);

  const search::Space space(graph, numDevices);
  plan::SegmentTable table(graph, numDevices, cost);
  const Recording recording = record(space, table, found.strategy);
  int64_t wrong = 0, accepted = 0, changes = 0;
  for (const Proposal &proposal : recording.proposals) {
    accepted += proposal.time <= proposal.limit;
    changes += static_cast<int64_t>(proposal.changes.size());
  }
  llvm::json::Object result{{"operators", int64_t(graph.ops.size())},
                            {"devices", numDevices},
                            {"proposals", numProposals.getValue()},
                            {"accepted", accepted},
                            {"changes", changes}};
  for (Way way : bench::kWays) {
    int64_t nanoseconds = 0;
    for (int turn = 0; turn < 2; ++turn) {
      bench::Stepper stepper(table, recording.start, way);
      const int64_t begin = bench::processNanoseconds();
      wrong += replayOnce(stepper, recording, way);
      nanoseconds = bench::processNanoseconds() - begin;
    }
    result[way.name] = static_cast<double>(nanoseconds) * 1e-3 / numProposals;
  }
  result["wrong"] = wrong;
  llvm::outs() << llvm::json::Value(std::move(result)) << "\n";
  return wrong != 0;
}
