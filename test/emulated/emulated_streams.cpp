//===- emulated_streams.cpp - streams, events and graphs ------------------===//
#include "emulated_streams.h"

#include "cuda_runtime.h"
#include "emulated_calls.h"
#include "emulated_memory.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void stop(const char *what) {
  std::fprintf(stderr, "emulated device: %s\n", what);
  std::abort();
}

enum class Timing { at_once, late, early };

Timing timing() {
  static const Timing chosen = [] {
    const char *text = std::getenv("FFRT_EMULATED_STREAMS");
    const std::string name = text ? text : "";
    if (name != "" && name != "late" && name != "early")
      stop("expected FFRT_EMULATED_STREAMS to be late or early");
    return name == "late"    ? Timing::late
           : name == "early" ? Timing::early
                             : Timing::at_once;
  }();
  return chosen;
}

} // namespace

struct EmulatedEvent {
  /// How often it was recorded, and the latest record that a stream has come
  /// to. Threads of the host may ask for them.
  std::atomic<int64_t> recorded{0}, done{0};
  std::atomic<int64_t> capture{0};  ///< that its last record is in; 0: none
  EmulatedStream *stream = nullptr; ///< that records it
  int64_t time = 0;                 ///< pieces of work that had been done
};

namespace {

/// Work, the record of an event, or what waits for it.
struct Item {
  std::function<void()> work;
  EmulatedEvent *event = nullptr;
  int64_t version = 0;
  EmulatedStream *from = nullptr; ///< of an event that is waited for
};

} // namespace

struct EmulatedStream {
  std::deque<Item> items;
  int64_t capture = 0; ///< that it is or was part of
  /// In a capture: work came that no event which the capturing stream waits for
  /// covers.
  bool open = false;
};

struct EmulatedGraph {
  std::vector<std::pair<EmulatedStream *, Item>> items;
};

namespace {

/// In the order in which they were made.
std::vector<EmulatedStream *> streams;

EmulatedGraph *captured = nullptr;
EmulatedStream *captured_by = nullptr;
int64_t worked = 0;   ///< pieces of work
int64_t captures = 0; ///< so far; the number of the one that goes on

bool is_captured(const EmulatedStream &stream) {
  return captured && stream.capture == captures;
}

bool is_ready(const Item &item) {
  return !item.from || item.event->done >= item.version;
}

/// Does the next thing of a stream, after what that waits for.
void step(EmulatedStream &stream) {
  while (!is_ready(stream.items.front())) {
    EmulatedStream *const from = stream.items.front().from;
    if (from->items.empty())
      stop("a stream waits for an event that nobody records");
    step(*from);
  }
  const Item item = std::move(stream.items.front());
  stream.items.pop_front();
  if (item.work) {
    const ffrt::emulated::OpenMemory open;
    item.work();
    ++worked;
  } else if (!item.from) {
    item.event->done = item.version;
    item.event->time = worked;
  }
}

void drain(EmulatedStream &stream) {
  while (!stream.items.empty())
    step(stream);
}

/// Runs what need not wait, if it is time.
void advance() {
  if (timing() == Timing::at_once)
    return ffrt::emulated::finish_all();
  if (timing() == Timing::early)
    for (EmulatedStream *stream : streams)
      while (stream != streams.front() && !stream->items.empty() &&
             is_ready(stream->items.front()))
        step(*stream);
}

void add(EmulatedStream *stream, Item item) {
  if (is_captured(*stream)) {
    captured->items.emplace_back(stream, std::move(item));
    return;
  }
  stream->items.push_back(std::move(item));
  advance();
}

} // namespace

const char *ffrt::emulated::shapes_file() {
  static const char *const file = std::getenv("FFRT_EMULATED_SHAPES");
  return file;
}

void ffrt::emulated::submit(cudaStream_t stream, std::function<void()> work) {
  if (is_captured(*stream) && stream != captured_by)
    stream->open = true;
  add(stream, {std::move(work)});
}

static int64_t launched = 0;

int64_t ffrt::emulated::launches() { return launched; }

void ffrt::emulated::compute(std::function<void()> work) {
  ++launched;
  if (!shapes_file())
    submit(streams.front(), std::move(work));
}

void ffrt::emulated::finish_all() {
  for (EmulatedStream *stream : streams)
    drain(*stream);
}

bool ffrt::emulated::is_capturing() { return captured; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = new EmulatedStream;
  streams.push_back(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  ffrt::emulated::finish_all();
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (streams[i] == stream)
      streams.erase(streams.begin() + std::ptrdiff_t(i));
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ffrt::emulated::count("cudaStreamSynchronize");
  if (captured)
    return cudaErrorStreamCaptureUnsupported;
  drain(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  if (event->recorded == 0)
    return cudaSuccess;
  if (captured && event->capture == captures)
    stream->capture = captures;
  else if (event->capture != 0)
    return cudaErrorCapturedEvent;
  else if (is_captured(*stream))
    return cudaErrorStreamCaptureIsolation;
  if (is_captured(*stream) && stream == captured_by)
    event->stream->open = false;
  Item item;
  item.event = event;
  item.version = event->recorded;
  item.from = event->stream;
  add(stream, std::move(item));
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new EmulatedEvent;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  ffrt::emulated::finish_all();
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Item item;
  item.event = event;
  item.version = ++event->recorded;
  event->stream = stream;
  event->capture = is_captured(*stream) ? captures : 0;
  add(stream, std::move(item));
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  const bool external = is_captured(*stream);
  if (flags != cudaEventRecordExternal || !external)
    return cudaErrorInvalidValue;
  const cudaError_t status = cudaEventRecord(event, stream);
  // The host may ask for it.
  event->capture = 0;
  return status;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin,
                                 cudaEvent_t end) {
  for (cudaEvent_t event : {begin, end})
    if (cudaEventQuery(event) != cudaSuccess)
      return cudaEventQuery(event);
  static const char *const slowness = std::getenv("FFRT_EMULATED_SLOWNESS");
  *milliseconds =
      float((end->time - begin->time) * (slowness ? std::atof(slowness) : 1));
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->capture != 0)
    return cudaErrorCapturedEvent;
  return event->done >= event->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ffrt::emulated::count("cudaEventSynchronize");
  cudaError_t status;
  while ((status = cudaEventQuery(event)) == cudaErrorNotReady)
    step(*event->stream);
  return status;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  captured = new EmulatedGraph;
  captured_by = stream;
  stream->capture = ++captures;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  *graph = std::exchange(captured, nullptr);
  cudaError_t status = cudaSuccess;
  for (EmulatedStream *stream : streams)
    if (std::exchange(stream->open, false))
      status = cudaErrorStreamCaptureUnjoined;
  return status;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long) {
  *exec = new EmulatedGraph(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  ffrt::emulated::count("cudaGraphLaunch");
  // Events mean the same as when the graph was captured, with versions that
  // come after all others.
  std::map<std::pair<EmulatedEvent *, int64_t>, int64_t> versions;
  for (auto &[stream, captured_item] : exec->items) {
    Item item = captured_item;
    if (item.event && !item.from) {
      item.event->stream = stream;
      versions[{item.event, item.version}] = item.event->recorded + 1;
      item.version = ++item.event->recorded;
    } else if (item.event) {
      item.version = versions.at({item.event, item.version});
    }
    stream->items.push_back(std::move(item));
  }
  advance();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
