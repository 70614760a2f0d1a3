//===- Timeline.cpp - what a compilation writes about its times -----------===//

#include "Compilation.h"
#include "TimeReport.h"

#include "ffc/Export/ChakraTrace.h"
#include "ffc/Plan/SharedLinks.h"
#include "ffc/Plan/TaskGraph.h"
#include "ffc/Plan/TraceFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Parallel.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>

using namespace mlir;
using namespace ffc;

/// Streams what `print` writes to `path`, "-" being standard output; traces of
/// many devices are too large to be made in memory.
static llvm::Error writeStream(const std::string &path,
                               llvm::function_ref<void(std::ostream &)> print) {
  if (path == "-") {
    print(std::cout);
    std::cout.flush();
    return llvm::Error::success();
  }
  codegen::Pending pending(path);
  std::vector<char> buffer(size_t(1) << 20);
  std::ofstream stream;
  stream.rdbuf()->pubsetbuf(buffer.data(),
                            static_cast<std::streamsize>(buffer.size()));
  stream.open(pending.path(), std::ios::binary);
  if (stream)
    print(stream);
  stream.close();
  if (!stream)
    return codegen::makeError("cannot write '" + path +
                              "': " + std::strerror(errno));
  return pending.commit();
}

/// A file for every rank, which cores write side by side, and one for the
/// groups in which they communicate.
static llvm::Error writeChakra(const std::string &prefix,
                               const plan::Simulation &simulation) {
  const chakra::Trace trace(simulation);
  std::string failure; // one message is enough
  std::mutex mutex;
  auto write = [&](size_t number) {
    if (std::lock_guard lock(mutex); !failure.empty())
      return;
    const auto rank = static_cast<plan::DeviceId>(number);
    if (llvm::Error error = writeStream(
            prefix + "." + std::to_string(rank) + ".et",
            [&](std::ostream &out) { trace.writeRank(out, rank); })) {
      const std::lock_guard lock(mutex);
      failure = toString(std::move(error));
    }
  };
  llvm::parallelFor(0, simulation.topology.numDevices(), write);
  if (!failure.empty())
    return codegen::makeError(failure);
  return writeStream(prefix + ".groups.json",
                     [&](std::ostream &out) { trace.writeGroups(out); });
}

LogicalResult Compilation::writeTimeline(const plan::CostModel &cost,
                                         plan::Timeline times) {
  if (options.sharedLinks) {
    const double before = static_cast<double>(times.makespan);
    times = plan::timeWithSharedLinks(planned.graph, strategy, program,
                                      *topology, cost);
    const double after = static_cast<double>(times.makespan);
    report.say(llvm::formatv("with shared links {0:f3} ms, {1:f1} % more",
                             after * 1e-9, 100 * (after / before - 1)));
  }
  const plan::Simulation simulation{planned.graph, strategy, program, *topology,
                                    times};
  using Print = void (*)(std::ostream &, const plan::Simulation &);
  for (auto [path, print] :
       {std::pair<std::string, Print>(options.report, printTimeReport),
        {options.trace, plan::writeTrace},
        {options.taskGraph, plan::writeTaskGraph}})
    if (!path.empty() &&
        failed(check(writeStream(path, [&, print = print](std::ostream &out) {
          print(out, simulation);
        }))))
      return failure();
  if (!options.chakra.empty() &&
      failed(check(writeChakra(options.chakra, simulation))))
    return failure();
  if (!options.exportMeasures.empty() && failed(writeMeasures(cost)))
    return failure();
  return options.serverTasks.empty() ? success()
                                     : writeServerTasks(simulation, cost);
}
