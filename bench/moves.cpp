//===- moves.cpp - proposals of a search: how fast, and are they exact ----===//
//
// Random moves of single operators, each proposed to four walkers with tables
// of their own: by delta and by a sweep of the whole step, with and without a
// limit drawn as a search draws it. Now and then the tables are built from
// nothing too. Means are over all moves, and over those that met no new segment
// in the walker's table. With --search a search of the usual budget instead, on
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
#include <array>
#include <cmath>
#include <ctime>

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

/// A walker with what its proposals took.
struct Timed {
  Timed(const search::Space &space, const plan::CostModel &cost, bool full,
        bool limited)
      : walker(space, cost), full(full), limited(limited) {}

  Picoseconds propose(const std::vector<Choice> &choice, Picoseconds limit) {
    if (!limited)
      limit = plan::kNoLimit;
    const size_t known = walker.numSegments();
    const int64_t begin = processNanoseconds();
    Picoseconds time = full ? walker.proposeFull(choice, limit)
                            : walker.propose(choice, limit);
    const auto us = static_cast<double>(processNanoseconds() - begin) * 1e-3;
    all.push_back(us);
    if (walker.numSegments() == known)
      warm.push_back(us);
    return time;
  }

  llvm::json::Object figures() const {
    auto mean = [](const std::vector<double> &times) {
      double sum = 0;
      for (double time : times)
        sum += time;
      return times.empty() ? 0 : sum / static_cast<double>(times.size());
    };
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    return llvm::json::Object{
        {"mean_us", mean(all)},
        {"median_us", sorted.empty() ? 0 : sorted[sorted.size() / 2]},
        {"warm_us", mean(warm)}};
  }

  search::Walker walker;
  const bool full, limited;
  std::vector<double> all, warm;
};

llvm::json::Object runMoves(const plan::Graph &graph, int numDevices,
                            const plan::CostModel &cost) {
  search::Space space(graph, numDevices);
  Timed delta(space, cost, false, false), early(space, cost, false, true),
      full(space, cost, true, false), fullEarly(space, cost, true, true);
  const std::array<Timed *, 4> all = {&delta, &early, &full, &fullEarly};
  const std::vector<int64_t> room(numDevices, INT64_MAX);
  const plan::Strategy start =
      search::baselines(space, {}, room, delta.walker).back().strategy;
  for (Timed *timed : all)
    timed->walker.assign(start);

  search::Random random(1);
  int64_t wrong = 0, accepted = 0;
  const auto &anchors = space.anchors();
  for (int move = 0; move < numMoves; ++move) {
    plan::OpId anchor = anchors[random.below(int64_t(anchors.size()))];
    const std::vector<Choice> choice = {
        {anchor, space.candidate(anchor, random), random.oneIn(2)}};
    const Picoseconds before = delta.walker.makespan();
    const Picoseconds limit =
        before + static_cast<Picoseconds>(-std::log(random.unit()) * 0.01 *
                                          static_cast<double>(before));
    const Picoseconds time = delta.propose(choice, limit);
    bool same = full.propose(choice, limit) == time;
    for (Timed *stopped : {&early, &fullEarly}) {
      Picoseconds found = stopped->propose(choice, limit);
      same &= time <= limit ? found == time : found > limit;
    }
    wrong += !same;
    accepted += time <= limit;
    for (Timed *timed : all)
      time <= limit ? timed->walker.accept() : timed->walker.reject();
    if (move % 1000 == 999) {
      search::Walker fresh(space, cost);
      fresh.assign(delta.walker.strategy());
      wrong += fresh.makespan() != delta.walker.makespan();
    }
  }
  return llvm::json::Object{
      {"moves", numMoves.getValue()},
      {"accepted", accepted},
      {"wrong", wrong},
      {"first_met", numMoves - int64_t(delta.warm.size())},
      {"segments", int64_t(delta.walker.numSegments())},
      {"full", full.figures()},
      {"full_early", fullEarly.figures()},
      {"delta", delta.figures()},
      {"delta_early", early.figures()}};
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
