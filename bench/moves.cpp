//===- moves.cpp - proposals of a search: how fast, and are they exact ----===//
//
// Random moves of single operators, made four times, each time in a process and
// with a table of its own: timed by delta and by looking up and sweeping the
// whole step, with and without a limit drawn as a search draws it. Now and then
// the tables are built from nothing too. Means are over all moves, and over
// those that met no new segment. With --search a search of the usual budget
// instead, on one thread, and how soon it was within 1 % of its answer, and
// what its recipes take alone. Prints one line of JSON; fails if two times
// differ. All times are of the process.
//
//===----------------------------------------------------------------------===//

#include "Chain.h"
#include "Proposals.h"
#include "ReadGraph.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace ffc;
using bench::Way;
using plan::Picoseconds;
using search::Choice;

namespace {

namespace cl = llvm::cl;
cl::opt<int> numMoves("moves", cl::init(10000));
cl::opt<bool> searches("search", cl::desc("a search instead of moves"));

/// A search, and when it had its answer.
llvm::json::Object runSearch(const plan::Graph &graph,
                             const plan::Topology &topology,
                             const plan::CostModel &cost) {
  std::vector<std::pair<double, Picoseconds>> bests;
  int64_t start = bench::processNanoseconds();
  auto seconds = [&] {
    return static_cast<double>(bench::processNanoseconds() - start) * 1e-9;
  };
  search::Options options;
  options.threads = 1;
  // Hardly a proposal: recipes and dynamic programming come before them.
  options.budget = options.chains;
  search::searchStrategy(graph, topology, cost, options);
  const double before = seconds();
  options.budget = search::Options().budget;
  start = bench::processNanoseconds();
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
                            {"repair_proposals", result.repairProposals},
                            {"search_s", all},
                            {"before_s", before},
                            {"close_s", close},
                            {"found_ms", found * 1e-9}};
}

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

/// Makes the moves, which are the same however they are timed, since a limit
/// does not change what is accepted. "times" has those of the proposals, -1 for
/// one over its limit that was timed with a limit.
llvm::json::Object makeMoves(const search::Space &space,
                             const plan::CostModel &cost,
                             const plan::Strategy &start, Way way) {
  plan::SegmentTable table(space.graph(), space.numDevices(), cost);
  search::Walker walker(space, table);
  walker.assign(start);
  bench::Stepper stepper(table, walker.configs(), way);
  search::Random random(1);
  Times times;
  llvm::json::Array found, accepted;
  int64_t wrong = 0;
  const auto &anchors = space.anchors();
  for (int move = 0; move < numMoves; ++move) {
    plan::OpId anchor = anchors[random.below(int64_t(anchors.size()))];
    const std::vector<Choice> choice = {
        {anchor, space.candidate(anchor, random),
         random.oneIn(2) ? space.options(anchor) : search::ChoiceOptions()}};
    const Picoseconds limit =
        search::drawLimit(random, stepper.makespan(), /*alpha=*/1);
    const size_t known = table.numSegments();
    const int64_t begin = bench::processNanoseconds();
    const auto &changes = walker.changesOf(walker.numbered(choice));
    const Picoseconds time = stepper.propose(changes, limit);
    times.add(bench::processNanoseconds() - begin,
              table.numSegments() == known);
    const bool accepts = time <= limit;
    stepper.end(changes, accepts);
    found.push_back(way.limited && !accepts ? -1 : time);
    accepted.push_back(accepts);
    if (move % 1000 == 999) {
      plan::SegmentTable other(space.graph(), space.numDevices(), cost);
      plan::Strategy strategy;
      for (plan::ConfigId id : stepper.strategy())
        strategy.push_back(table.config(id));
      search::Walker fresh(space, other);
      fresh.assign(strategy);
      wrong += fresh.makespan() != stepper.makespan();
    }
  }
  return llvm::json::Object{
      {"figures", times.figures()},
      {"first_met", numMoves - times.numWarm()},
      {"segments", static_cast<int64_t>(table.numSegments())},
      {"wrong", wrong},
      {"times", std::move(found)},
      {"accepted", std::move(accepted)}};
}

/// What `make` returns in a process of its own: each begins with the same heap,
/// while one after the other in one process gets slower.
template <class Make> llvm::json::Value inProcess(Make make) {
  int ends[2];
  if (pipe(ends) != 0)
    llvm::report_fatal_error("cannot make a pipe");
  const pid_t child = fork();
  if (child < 0)
    llvm::report_fatal_error("cannot fork");
  if (child == 0) {
    llvm::raw_fd_ostream out(ends[1], /*shouldClose=*/true);
    out << llvm::json::Value(make());
    out.close();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[1 << 16];
  for (ssize_t n; (n = read(ends[0], part, sizeof(part))) > 0;)
    text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return llvm::cantFail(llvm::json::parse(text), "a process has failed");
}

/// How many moves of `other` had another outcome.
int64_t countWrong(const llvm::json::Object &delta,
                   const llvm::json::Object &other, bool limited) {
  int64_t wrong = *other.getInteger("wrong");
  for (size_t i = 0; i < delta.getArray("times")->size(); ++i) {
    const bool accepted = *(*delta.getArray("accepted"))[i].getAsBoolean();
    const int64_t expected =
        limited && !accepted ? -1
                             : *(*delta.getArray("times"))[i].getAsInteger();
    wrong += *(*other.getArray("times"))[i].getAsInteger() != expected ||
             *(*other.getArray("accepted"))[i].getAsBoolean() != accepted;
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
  auto run = [&](Way way) {
    return inProcess([&] { return makeMoves(space, cost, start, way); });
  };
  llvm::json::Object result;
  const llvm::json::Value delta = run(bench::kWays[0]);
  const llvm::json::Object &expected = *delta.getAsObject();
  int64_t wrong = *expected.getInteger("wrong");
  result["delta"] = llvm::json::Object(*expected.getObject("figures"));
  for (Way way : llvm::ArrayRef(bench::kWays).drop_front()) {
    const llvm::json::Value other = run(way);
    wrong += countWrong(expected, *other.getAsObject(), way.limited);
    result[way.name] =
        llvm::json::Object(*other.getAsObject()->getObject("figures"));
  }
  result["moves"] = numMoves.getValue();
  result["accepted"] =
      llvm::count(*expected.getArray("accepted"), llvm::json::Value(true));
  result["first_met"] = *expected.getInteger("first_met");
  result["segments"] = *expected.getInteger("segments");
  result["wrong"] = wrong;
  return result;
}

} // namespace

int main(int argc, char **argv) {
  const auto problem =
      bench::readProblem(argc, argv, "proposals of a search\n");
  const plan::Graph &graph = problem->graph;
  const plan::Topology &topology = problem->topology;
  const plan::CostModel &cost = problem->cost;
  const int numDevices = topology.numDevices();
  llvm::json::Object result = searches ? runSearch(graph, topology, cost)
                                       : runMoves(graph, numDevices, cost);
  const int64_t wrong = result.getInteger("wrong").value_or(0);
  result["operators"] = int64_t(graph.ops.size());
  result["anchors"] =
      int64_t(search::Space(graph, numDevices).anchors().size());
  result["devices"] = numDevices;
  llvm::outs() << llvm::json::Value(std::move(result)) << "\n";
  return wrong != 0;
}
