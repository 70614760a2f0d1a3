//===- trace_file.cpp - measured times in a file --------------------------===//
#include "common/profiling/trace_file.h"

#include "common/data/file.h"
#include "common/profiling/clock.h"
#include "common/profiling/json.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>

namespace ffrt {

namespace {

constexpr int kTag = 7003;

/// Threads of a process, as in ffc's traces.
enum Thread { kStep, kCompute, kNetwork };

const char *word_of(Trace::Kind kind) {
  static const char *const words[] = {"kernel", "copy", "exchange",
                                      "collective", "wait"};
  return words[int(kind)];
}

bool communicates(Trace::Kind kind) {
  return kind == Trace::Kind::exchange || kind == Trace::Kind::collective;
}

/// The events of one rank.
class Events {
public:
  /// Times are on a clock that is `ahead` of the one written, and counted from
  /// `origin` on.
  Events(int rank, int64_t ahead, int64_t origin)
      : rank(rank), before(ahead + origin) {}

  void name(const char *what, int thread, const std::string &called,
            int order) {
    begin("M", thread);
    text += ",\"name\":\"" + std::string(what) +
            "_name\",\"args\":{\"name\":" + quoted(called) + "}},\n";
    begin("M", thread);
    text += ",\"name\":\"" + std::string(what) +
            "_sort_index\",\"args\":{\"sort_index\":" + std::to_string(order) +
            "}},\n";
  }

  void span(int thread, int64_t start, int64_t end, const std::string &called,
            const char *category, const std::string &arguments) {
    begin("X", thread);
    char times[96];
    std::snprintf(times, sizeof times,
                  ",\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64 ".%03d",
                  (start - before) / 1000, int((start - before) % 1000),
                  (end - start) / 1000, int((end - start) % 1000));
    text += times + (",\"name\":" + quoted(called)) + ",\"cat\":\"" + category +
            "\",\"args\":{" + arguments + "}},\n";
  }

  std::string text; ///< every event with a comma and a line break after it

private:
  void begin(const char *phase, int thread) {
    text += std::string("{\"ph\":\"") + phase +
            "\",\"pid\":" + std::to_string(rank) +
            ",\"tid\":" + std::to_string(thread);
  }

  const int rank;
  const int64_t before;
};

/// When the first step that is kept began on any rank, on the clock of rank 0.
int64_t first_start(Comm &comm, const Group &world, const Trace &trace,
                    int64_t ahead) {
  int64_t latest = -(trace.steps().front()->start - ahead);
  comm.wait(comm.all_reduce("trace", world, flat(&latest, DType::i64, 1),
                            ReduceOp::max));
  return -latest;
}

std::string receive(Comm &comm, int peer, int64_t size) {
  std::string text(std::size_t(size), ' ');
  comm.wait(comm.exchange("trace", kTag, {},
                          {{peer, flat(text.data(), DType::u8, size)}}));
  return text;
}

} // namespace

std::string trace_events(const Trace &trace, int rank, int64_t ahead,
                         int64_t origin) {
  Events events(rank, ahead, origin);
  events.name("process", kStep, "rank " + std::to_string(rank), rank);
  events.name("thread", kStep, "step", kStep);
  events.name("thread", kCompute, "compute", kCompute);
  events.name("thread", kNetwork, "network", kNetwork);
  for (const Trace::Step *step : trace.steps()) {
    const std::string number = std::to_string(step->number + 1);
    const std::string of_step = "\"step\":" + number;
    events.span(kStep, step->start, step->end, "step " + number, "step",
                of_step);
    int64_t network_free = step->start;
    for (const Trace::Record &record : step->records) {
      const TaskId &id = trace.tasks()[std::size_t(record.task)];
      const std::string task =
          std::string(id.op) + "#" + std::to_string(id.phase) + "@" +
          std::to_string(id.point) + "." + std::to_string(id.instance);
      const bool network = communicates(record.kind);
      int64_t start = record.start;
      // What has been started beside another communication comes after it:
      // viewers do not show events of a thread that overlap.
      if (network && record.end > network_free) {
        start = std::max(start, network_free);
        network_free = record.end;
      }
      events.span(network ? kNetwork : kCompute, start, record.end, id.op,
                  word_of(record.kind),
                  "\"task\":" + quoted(task) + "," + of_step);
    }
  }
  return std::move(events.text);
}

void check_trace(Comm &comm, const Group &world, const std::string &path) {
  together(comm, world, "trace", [&] {
    if (comm.rank() == 0)
      NewFile file(path);
  });
}

void write_trace(Comm &comm, const Group &world, const Trace &trace,
                 const std::string &path) {
  const int64_t ahead = clock_offset(comm, world);
  const int64_t origin = first_start(comm, world, trace, ahead);
  std::string text = trace_events(trace, comm.rank(), ahead, origin);
  int64_t size = int64_t(text.size());
  std::vector<int64_t> sizes(std::size_t(comm.size()));
  comm.wait(comm.all_gather("trace", world, flat(&size, DType::i64, 1),
                            flat(sizes.data(), DType::i64, comm.size())));
  if (comm.rank() > 0)
    comm.wait(comm.exchange("trace", kTag,
                            {{0, flat(text.data(), DType::u8, size)}}, {}));
  // All messages are received, whether the file can be written or not.
  std::string cause;
  if (comm.rank() == 0) {
    std::unique_ptr<NewFile> file;
    auto attempt = [&](auto &&write) {
      try {
        if (cause.empty())
          write();
      } catch (const Error &e) {
        cause = e.what();
      }
    };
    attempt([&] {
      file = std::make_unique<NewFile>(path);
      file->write("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"kind\":"
                  "\"measured\"},\"traceEvents\":[\n");
    });
    for (int peer = 0; peer < comm.size(); ++peer) {
      if (peer > 0)
        text = receive(comm, peer, sizes[std::size_t(peer)]);
      // No comma after the last one.
      if (peer == comm.size() - 1)
        text.resize(text.size() - 2);
      attempt([&] { file->write(text); });
    }
    attempt([&] {
      file->write("\n]}\n");
      file->commit();
    });
  }
  agree(comm, world, "trace", cause);
}

} // namespace ffrt
