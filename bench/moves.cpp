//===- moves.cpp - proposals of a search: how fast, and are they exact ----===//
//
// Random moves of single operators, made four times, each time with a table of
// its own: timed by delta and by a sweep of the whole step, with and without a
// limit drawn as a search draws it. Now and then the tables are built from
// nothing too. Means are over all moves, and over those that met no new
// segment. With --search a search of the usual budget instead, on
// one thread, and how soon it was within 1 % of its answer. Prints one line of
// JSON; fails if two times differ. All times are of the process.
//
//===----------------------------------------------------------------------===//

#include "ffc/Import/Import.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Search/Search.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

using namespace mlir;
using namespace ffc;
using plan::Picoseconds;
using search::Choice;

namespace {

namespace cl = llvm::cl;
cl::opt<std::string> model(cl::Positional, cl::Required, cl::desc("MODEL"));
cl::opt<std::string> devices("devices", cl::Required,
                             cl::desc("as for ffc, as are the next three"));
cl::opt<int64_t> batchSize("batch-size");
cl::opt<std::string> loss("loss", cl::init("cross-entropy"));
cl::opt<double> momentum("momentum", cl::init(0.9));
cl::opt<int> numMoves("moves", cl::init(10000));
cl::opt<bool> searches("search", cl::desc("a search instead of moves"));

/// What the process has been running for, whatever else the machine does.
int64_t processNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

/// The training graph as the search sees it.
FailureOr<PlannedModule> readGraph(MLIRContext &context,
                                   const plan::CostModel &cost,
                                   OwningOpRef<ModuleOp> &module) {
  ImportOptions importing;
  if (batchSize > 0)
    importing.batchSize = batchSize;
  module = importModel(context, model, importing);
  if (!module)
    return failure();
  DifferentiateOptions differentiating;
  differentiating.loss = loss;
  differentiating.momentum = momentum;
  differentiating.rowUpdates = momentum == 0;
  PassManager passes(&context);
  passes.addPass(createRecognizePatterns());
  passes.addPass(createDifferentiate(differentiating));
  passes.addPass(createFuseActivations());
  passes.addPass(createFuseElementwise());
  if (cost.overlaps())
    passes.addPass(createSinkUpdates());
  if (failed(passes.run(*module)))
    return failure();
  return buildPlanGraph(*module);
}

/// A search, and when it had its answer.
llvm::json::Object runSearch(const plan::Graph &graph,
                             const plan::Topology &topology,
                             const plan::CostModel &cost) {
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
  search::Result result =
      search::searchStrategy(graph, topology, cost, options);
  const double all = seconds();
  const auto found = static_cast<double>(result.quality.makespan);
  // The first chain's best, so it may have been earlier.
  double close = all;
  for (auto [when, best] : llvm::reverse(bests)) {
    if (static_cast<double>(best) > 1.01 * found)
      break;
    close = when;
  }
  return llvm::json::Object{{"proposals", result.proposals},
                            {"search_s", all},
                            {"close_s", close},
                            {"found_ms", found * 1e-9}};
}

struct Move {
  std::vector<Choice> choice;
  Picoseconds limit;
  Picoseconds time; ///< found by delta
};

/// What proposals took.
class Times {
public:
  void add(int64_t nanoseconds, bool isWarm) {
    const auto us = static_cast<double>(nanoseconds) * 1e-3;
    all.push_back(us);
    if (isWarm)
      warm.push_back(us);
  }
  int64_t numWarm() const { return static_cast<int64_t>(warm.size()); }
  llvm::json::Object figures() const {
    auto mean = [](const std::vector<double> &times) {
      return times.empty() ? 0
                           : std::accumulate(times.begin(), times.end(), 0.0) /
                                 static_cast<double>(times.size());
    };
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    return llvm::json::Object{
        {"mean_us", mean(all)},
        {"median_us", sorted.empty() ? 0 : sorted[sorted.size() / 2]},
        {"warm_us", mean(warm)}};
  }

private:
  std::vector<double> all, warm;
};

/// Moves of a walker with a table of its own.
class MoveRun {
public:
  MoveRun(const search::Space &space, const plan::CostModel &cost,
          const plan::Strategy &start)
      : space(space), cost(cost), walker(space, cost) {
    walker.assign(start);
  }

  Picoseconds propose(const Move &move, bool full, bool limited) {
    const Picoseconds limit = limited ? move.limit : plan::kNoLimit;
    const size_t known = walker.numSegments();
    const int64_t begin = processNanoseconds();
    Picoseconds time = full ? walker.proposeFull(move.choice, limit)
                            : walker.propose(move.choice, limit);
    times.add(processNanoseconds() - begin, walker.numSegments() == known);
    return time;
  }

  /// The same moves with the same outcome. Returns how many differ.
  int64_t repeat(const std::vector<Move> &moves, bool full, bool limited) {
    int64_t wrong = 0;
    for (const Move &move : moves) {
      const bool accepted = move.time <= move.limit;
      const Picoseconds time = propose(move, full, limited);
      wrong += limited && !accepted ? time <= move.limit : time != move.time;
      accepted ? walker.accept() : walker.reject();
    }
    return wrong;
  }

  const search::Space &space;
  const plan::CostModel &cost;
  search::Walker walker;
  Times times;
};

/// Makes moves and times them by delta. Returns how many do not agree with
/// tables from nothing, of those compared with them.
int64_t makeMoves(MoveRun &run, std::vector<Move> &moves) {
  search::Random random(1);
  int64_t wrong = 0;
  const auto &anchors = run.space.anchors();
  for (int i = 0; i < numMoves; ++i) {
    plan::OpId anchor = anchors[random.below(int64_t(anchors.size()))];
    Move &move = moves.emplace_back();
    move.choice = {
        {anchor, run.space.candidate(anchor, random), random.oneIn(2)}};
    const Picoseconds before = run.walker.makespan();
    move.limit =
        before + static_cast<Picoseconds>(-std::log(random.unit()) * 0.01 *
                                          static_cast<double>(before));
    move.time = run.propose(move, false, false);
    move.time <= move.limit ? run.walker.accept() : run.walker.reject();
    if (i % 1000 == 999) {
      search::Walker fresh(run.space, run.cost);
      fresh.assign(run.walker.strategy());
      wrong += fresh.makespan() != run.walker.makespan();
    }
  }
  return wrong;
}

llvm::json::Object runMoves(const plan::Graph &graph, int numDevices,
                            const plan::CostModel &cost) {
  search::Space space(graph, numDevices);
  const std::vector<int64_t> room(numDevices, INT64_MAX);
  plan::Strategy start;
  {
    search::Walker walker(space, cost);
    start = search::baselines(space, {}, room, walker).back().strategy;
  }
  std::vector<Move> moves;
  llvm::json::Object result;
  int64_t wrong = 0;
  {
    MoveRun delta(space, cost, start);
    wrong += makeMoves(delta, moves);
    result["delta"] = delta.times.figures();
    result["first_met"] = numMoves - delta.times.numWarm();
    result["segments"] = static_cast<int64_t>(delta.walker.numSegments());
  }
  // One after the other, as a search has the caches for itself.
  auto repeat = [&](const char *name, bool full, bool limited) {
    MoveRun run(space, cost, start);
    wrong += run.repeat(moves, full, limited);
    result[name] = run.times.figures();
  };
  repeat("delta_early", false, true);
  repeat("full", true, false);
  repeat("full_early", true, true);
  result["moves"] = numMoves.getValue();
  result["accepted"] =
      std::count_if(moves.begin(), moves.end(),
                    [](const Move &move) { return move.time <= move.limit; });
  result["wrong"] = wrong;
  return result;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "proposals of a search\n");
  std::string error;
  auto topology = plan::Topology::load(devices, error);
  if (!topology) {
    llvm::errs() << error << "\n";
    return 1;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module;
  plan::CostModel cost(*topology);
  auto planned = readGraph(context, cost, module);
  if (failed(planned))
    return 1;
  const plan::Graph &graph = planned->graph;
  const int numDevices = topology->numDevices();
  llvm::json::Object result = searches ? runSearch(graph, *topology, cost)
                                       : runMoves(graph, numDevices, cost);
  const int64_t wrong = result.getInteger("wrong").value_or(0);
  result["operators"] = int64_t(graph.ops.size());
  result["anchors"] =
      int64_t(search::Space(graph, numDevices).anchors().size());
  result["devices"] = numDevices;
  llvm::outs() << llvm::json::Value(std::move(result)) << "\n";
  return wrong != 0;
}
