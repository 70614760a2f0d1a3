//===- moves.cpp - proposals of a search: how fast, and are they exact ----===//
//
// moves MODEL DEVICES [BATCH [MOVES]]: random moves on a model. Every proposal
// is timed by delta; the same move on a second walker is timed by a sweep of
// the whole step, and by building the plan's tables from nothing now and then.
// Then a search of the usual budget on one thread, and how soon it was within 1
// % of its answer. Prints one line of JSON; fails if two times differ.
//
//===----------------------------------------------------------------------===//

#include "ffc/Import/Import.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Search/Search.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <ctime>

using namespace mlir;
using namespace ffc;
using plan::Picoseconds;
using search::Choice;

namespace {

/// What the process has been running for, whatever else the machine does.
int64_t processNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

/// Sums of that time.
class Stopwatch {
public:
  void start() { begin = processNanoseconds(); }
  void stop() {
    nanoseconds += processNanoseconds() - begin;
    ++laps;
  }
  double microseconds() const {
    return laps ? static_cast<double>(nanoseconds) / laps / 1e3 : 0;
  }

private:
  int64_t begin = 0, nanoseconds = 0;
  int laps = 0;
};

/// The training graph as the search sees it.
FailureOr<PlannedModule> readGraph(MLIRContext &context, StringRef path,
                                   int64_t batch, bool updatesLast,
                                   OwningOpRef<ModuleOp> &module) {
  ImportOptions options;
  if (batch > 0)
    options.batchSize = batch;
  module = importModel(context, path.str(), options);
  if (!module)
    return failure();
  PassManager passes(&context);
  passes.addPass(createRecognizePatterns());
  passes.addPass(createDifferentiate());
  passes.addPass(createFuseActivations());
  passes.addPass(createFuseElementwise());
  if (updatesLast)
    passes.addPass(createSinkUpdates());
  if (failed(passes.run(*module)))
    return failure();
  return buildPlanGraph(*module);
}

/// A search, step by step.
struct SearchRun {
  search::Result result;
  double seconds = 0; ///< of one thread
  /// Until the best was within 1 % of the answer; the first chain's best, so it
  /// may have been earlier.
  double closeSeconds = 0;
};

SearchRun runSearch(const plan::Graph &graph, const plan::Topology &topology,
                    const plan::CostModel &cost) {
  SearchRun run;
  std::vector<std::pair<double, Picoseconds>> bests;
  const int64_t start = processNanoseconds();
  auto seconds = [&] {
    return static_cast<double>(processNanoseconds() - start) * 1e-9;
  };
  search::Options options;
  options.threads = 1;
  options.progress = [&](const search::Progress &progress) {
    bests.push_back({seconds(), progress.best});
  };
  run.result = search::searchStrategy(graph, topology, cost, options);
  run.seconds = run.closeSeconds = seconds();
  for (auto [when, best] : llvm::reverse(bests)) {
    if (static_cast<double>(best) >
        1.01 * static_cast<double>(run.result.quality.makespan))
      break;
    run.closeSeconds = when;
  }
  return run;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: moves MODEL DEVICES [BATCH [MOVES]]\n";
    return 2;
  }
  int64_t batch = argc > 3 ? std::atoll(argv[3]) : 0;
  int moves = argc > 4 ? std::atoi(argv[4]) : 10000;
  std::string error;
  auto topology = plan::Topology::load(argv[2], error);
  if (!topology) {
    llvm::errs() << error << "\n";
    return 1;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module;
  plan::CostModel cost(*topology);
  auto planned = readGraph(context, argv[1], batch, cost.overlaps(), module);
  if (failed(planned))
    return 1;

  const plan::Graph &graph = planned->graph;
  search::Space space(graph, topology->numDevices());
  search::Walker delta(space, cost), early(space, cost), full(space, cost);
  const std::vector<int64_t> room(topology->numDevices(), INT64_MAX);
  for (search::Walker *walker : {&delta, &early, &full})
    walker->assign(search::baselines(space, {}, room, *walker).back().strategy);

  search::Random random(1);
  Stopwatch deltaTime, earlyTime, fullTime;
  int wrong = 0, accepted = 0;
  const auto &anchors = space.anchors();
  for (int move = 0; move < moves; ++move) {
    plan::OpId anchor = anchors[random.below(int64_t(anchors.size()))];
    std::vector<Choice> choice = {
        {anchor, space.candidate(anchor, random), random.oneIn(2)}};
    Picoseconds limit =
        delta.makespan() +
        static_cast<Picoseconds>(-std::log(random.unit()) * 0.01 *
                                 static_cast<double>(delta.makespan()));
    deltaTime.start();
    Picoseconds time = delta.propose(choice);
    deltaTime.stop();
    earlyTime.start();
    Picoseconds stopped = early.propose(choice, limit);
    earlyTime.stop();
    fullTime.start();
    Picoseconds swept = full.proposeFull(choice);
    fullTime.stop();
    wrong += swept != time || (stopped > limit) != (time > limit) ||
             (time <= limit && stopped != time);
    accepted += time <= limit;
    const std::vector<int64_t> room(topology->numDevices(), INT64_MAX);
    for (search::Walker *walker : {&delta, &early, &full})
      time <= limit ? walker->accept() : walker->reject();
    if (move % 1000 == 999) {
      search::Walker fresh(space, cost);
      fresh.assign(delta.strategy());
      wrong += fresh.makespan() != delta.makespan();
    }
  }
  const SearchRun run = runSearch(graph, *topology, cost);
  llvm::outs() << llvm::formatv(
      "{{\"operators\": {0}, \"anchors\": {1}, \"devices\": {2}, \"moves\": "
      "{3}, \"accepted\": {4}, \"full_us\": {5:f2}, \"delta_us\": {6:f2}, "
      "\"early_us\": {7:f2}, \"wrong\": {8}, \"proposals\": {9}, \"search_s\": "
      "{10:f2}, \"close_s\": {11:f2}, \"found_ms\": {12:f3}}\n",
      graph.ops.size(), anchors.size(), topology->numDevices(), moves, accepted,
      fullTime.microseconds(), deltaTime.microseconds(),
      earlyTime.microseconds(), wrong, run.result.proposals, run.seconds,
      run.closeSeconds,
      static_cast<double>(run.result.quality.makespan) * 1e-9);
  return wrong != 0;
}
