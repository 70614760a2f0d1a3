//===- TraceReader.cpp - traces of steps, read back -----------------------===//

#include "TraceReader.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Import/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

namespace {

struct Event {
  int device;
  int64_t step;
  double start, end;
  StringRef category, task;
};

/// Reads the events of one file and collects them step by step.
class Reader {
public:
  explicit Reader(StringRef path) : path(path) {}

  Expected<StepTrace> read(const json::Value &root);

private:
  Error fail(const Twine &text) const { return makeError(path + ": " + text); }
  /// "traceEvents[7].dur: expected WHAT".
  Error fail(size_t event, const Twine &member, const Twine &what) const {
    return fail("traceEvents[" + Twine(event) + "]" + member + ": expected " +
                what);
  }
  /// False for events of other kinds.
  Expected<bool> readEvent(size_t index, const json::Value &value,
                           Event &event) const;
  void add(const Event &event);
  StepTrace finish();

  /// The same communication, or kernel or copy, on one device in one step may
  /// have several parts: copies of a reshard share their task.
  struct Sums {
    double time = 0; ///< of a kernel or copy
    /// Of a communication: by how many of it a device has been seen to take
    /// part in, the last start and the last end of all devices.
    std::vector<std::pair<double, double>> meetings;
    std::map<int, size_t> seen;
  };
  struct Step {
    double start = std::numeric_limits<double>::max(), end = 0;
    std::map<TaskKey, Sums> tasks;
  };

  StringRef path;
  StepTrace trace;
  std::map<int64_t, Step> steps;
};

} // namespace

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

Expected<bool> Reader::readEvent(size_t index, const json::Value &value,
                                 Event &event) const {
  static constexpr StringRef kCategories[] = {"step", "kernel", "copy",
                                              "exchange", "collective"};
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail(index, "", "an object");
  if (object->getString("ph") != "X")
    return false;
  auto category = object->getString("cat");
  if (!category)
    return fail(index, ".cat", "a string");
  if (!is_contained(kCategories, *category))
    return false;
  event.category = *category;
  auto device = object->getInteger("pid");
  if (!device || *device < 0 || *device > std::numeric_limits<int>::max())
    return fail(index, ".pid", "the number of a device");
  event.device = static_cast<int>(*device);
  auto start = object->getNumber("ts"), length = object->getNumber("dur");
  if (!start || !std::isfinite(*start))
    return fail(index, ".ts", "a time in microseconds");
  if (!length || !(*length >= 0) || !std::isfinite(*length))
    return fail(index, ".dur", "a time in microseconds");
  event.start = *start;
  event.end = *start + *length;
  const json::Object *arguments = object->getObject("args");
  if (!arguments)
    return fail(index, ".args", "an object");
  // A predicted trace has one step, without a number.
  event.step = arguments->getInteger("step").value_or(0);
  auto task = arguments->getString("task");
  if (!task && *category != "step")
    return fail(index, ".args.task", "the name of a task");
  event.task = task.value_or("");
  return true;
}

void Reader::add(const Event &event) {
  Step &step = steps[event.step];
  trace.devices.insert(event.device);
  if (event.category == "step") {
    step.start = std::min(step.start, event.start);
    step.end = std::max(step.end, event.end);
    return;
  }
  const bool communicates =
      event.category == "exchange" || event.category == "collective";
  TaskKey key{event.task.str(), event.category.str(),
              communicates ? -1 : event.device};
  trace.tasks[key].devices.insert(event.device);
  Sums &sums = step.tasks[key];
  if (!communicates) {
    sums.time += event.end - event.start;
    return;
  }
  const size_t meeting = sums.seen[event.device]++;
  if (meeting == sums.meetings.size())
    sums.meetings.push_back({event.start, event.end});
  auto &[start, end] = sums.meetings[meeting];
  start = std::max(start, event.start);
  end = std::max(end, event.end);
}

StepTrace Reader::finish() {
  std::vector<double> lengths;
  std::map<TaskKey, std::vector<double>> times;
  for (const auto &[number, step] : steps) {
    lengths.push_back(step.end - step.start);
    for (const auto &[key, sums] : step.tasks) {
      double time = sums.time;
      for (auto [start, end] : sums.meetings)
        time += end - start;
      times[key].push_back(time);
    }
  }
  trace.numSteps = steps.size();
  trace.step = median(std::move(lengths));
  for (auto &[key, values] : times)
    trace.tasks[key].time = median(std::move(values));
  return std::move(trace);
}

Expected<StepTrace> Reader::read(const json::Value &root) {
  const json::Object *object = root.getAsObject();
  const json::Array *events =
      object ? object->getArray("traceEvents") : nullptr;
  if (!events)
    return fail("expected an object with a list 'traceEvents'");
  if (const json::Object *other = object->getObject("otherData"))
    trace.kind = other->getString("kind").value_or("").str();
  for (auto [index, value] : enumerate(*events)) {
    Event event;
    Expected<bool> isOurs = readEvent(index, value, event);
    if (!isOurs)
      return isOurs.takeError();
    if (*isOurs)
      add(event);
  }
  if (trace.tasks.empty())
    return fail("expected the tasks of a step, found none");
  for (const auto &[number, step] : steps)
    if (step.end <= step.start)
      return fail("expected an event of category 'step' for step " +
                  Twine(number) + ", found none");
  return finish();
}

Expected<StepTrace> StepTrace::load(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return makeError(path + ": cannot be read: " + file.getError().message());
  Expected<json::Value> root = parseJson((*file)->getBuffer());
  if (!root)
    return makeError(path + ": expected JSON: " + toString(root.takeError()));
  return Reader(path).read(*root);
}
