//===- CompareCommand.cpp - ffc compare -----------------------------------===//
//
// How far a trace is from another one, in practice what ffc predicted from what
// the program measured.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"
#include "TraceReader.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace llvm;
using namespace ffc;

namespace {

struct CompareOptions : CommandOptions {
  bool all = false;
};

/// Times of something in both traces, in microseconds.
struct Row {
  double predicted = 0, measured = 0;

  double difference() const { return predicted - measured; }
  std::string error() const {
    if (measured == 0)
      return predicted == 0 ? "0.0 %" : "-";
    return formatv("{0:f1} %", 100 * difference() / measured).str();
  }
};

using Rows = std::map<std::string, Row>;

class Comparison {
public:
  Comparison(const StepTrace &predicted, const StepTrace &measured)
      : predicted(predicted), measured(measured) {
    addTasks(predicted, &Row::predicted);
    addTasks(measured, &Row::measured);
  }

  /// All rows, or those that explain most.
  void print(raw_ostream &out, bool all) const;

private:
  void addTasks(const StepTrace &trace, double Row::*side);
  void printRows(raw_ostream &out, StringRef title, const Rows &rows,
                 bool all) const;
  static void printMissing(raw_ostream &out, const StepTrace &from,
                           const StepTrace &in, StringRef where);

  const StepTrace &predicted, &measured;
  Rows sums;           ///< by category
  Rows operators;      ///< their kernels and copies, mean of all devices
  Rows communications; ///< by task
  Rows links;          ///< communication by the devices that take part
};

} // namespace

/// Rows of a table, unless all are asked for.
static constexpr size_t kShown = 10;

static const std::vector<FlagGroupOf<CompareOptions>> &flagGroups() {
  static const std::vector<FlagGroupOf<CompareOptions>> groups = {
      {"Output",
       {{"--all", "", "all rows of every table, not the ten largest",
         setTrue(&CompareOptions::all)},
        helpFlag<CompareOptions>()}}};
  return groups;
}

static const char *const kIntro =
    "ffc compare: how far predicted times are from measured ones\n\n"
    "  ffc MODEL --devices FILE -o train --trace predicted.json\n"
    "  mpirun -n 4 ./train --steps 20 --trace measured.json\n"
    "  ffc compare predicted.json measured.json\n\n"
    "Tasks are compared by their names; of several steps, the median "
    "counts.\n";

static Error check(CompareOptions &options) {
  return expectArguments(options, 2,
                         "two traces, a predicted and a measured one");
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static std::string str(const std::set<int> &devices) {
  std::string text;
  for (int device : devices)
    text += (text.empty() ? "" : " ") + std::to_string(device);
  return text;
}

void Comparison::addTasks(const StepTrace &trace, double Row::*side) {
  const double devices = static_cast<double>(trace.devices.size());
  for (const auto &[key, task] : trace.tasks) {
    if (key.isCommunication()) {
      const std::string among = str(task.devices);
      sums[key.category + "s"].*side += task.time;
      communications[key.category + " " + key.task + " on " + among].*side +=
          task.time;
      links[key.category + "s on " + among].*side += task.time;
      continue;
    }
    sums[key.category == "copy" ? "copies" : key.category + "s"].*side +=
        task.time / devices;
    operators[key.op().str()].*side += task.time / devices;
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printLine(raw_ostream &out, const Twine &predicted,
                      const Twine &measured, const Twine &error,
                      const Twine &ofStep, StringRef what) {
  out << formatv("{0,13} {1,13} {2,9} {3,11}  {4}\n", predicted.str(),
                 measured.str(), error.str(), ofStep.str(), what);
}

static std::string milliseconds(double microseconds) {
  return formatv("{0:f3} ms", microseconds * 1e-3).str();
}

void Comparison::printRows(raw_ostream &out, StringRef title, const Rows &rows,
                           bool all) const {
  if (rows.empty())
    return;
  std::vector<const Rows::value_type *> order;
  for (const auto &row : rows)
    order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](auto *a, auto *b) {
    return std::abs(a->second.difference()) > std::abs(b->second.difference());
  });
  out << '\n';
  printLine(out, "predicted", "measured", "error", "of the step", title);
  const size_t count = all ? order.size() : std::min(order.size(), kShown);
  for (size_t i = 0; i < count; ++i) {
    const auto &[name, row] = *order[i];
    printLine(out, milliseconds(row.predicted), milliseconds(row.measured),
              row.error(),
              formatv("{0:f1} %", 100 * row.difference() / measured.step).str(),
              name);
  }
  if (count < order.size())
    out << "and " << order.size() - count << " more\n";
}

/// Names of tasks of `from` that `in` has not.
void Comparison::printMissing(raw_ostream &out, const StepTrace &from,
                              const StepTrace &in, StringRef where) {
  std::vector<std::string> names;
  for (const auto &[key, task] : from.tasks)
    if (!in.tasks.count(key))
      names.push_back(key.category + " " + key.task + " on " +
                      str(task.devices));
  if (names.empty())
    return;
  out << "\nonly " << where << ":\n";
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    out << "  " << names[i] << '\n';
  if (names.size() > kShown)
    out << "and " << names.size() - kShown << " more\n";
}

void Comparison::print(raw_ostream &out, bool all) const {
  const Row step{predicted.step, measured.step};
  out << "step: predicted " << milliseconds(step.predicted) << ", measured "
      << milliseconds(step.measured);
  if (measured.numSteps > 1)
    out << " (median of " << measured.numSteps << " steps)";
  out << ", error " << step.error() << '\n';
  printRows(out, "all", sums, true);
  printRows(out, "operator, mean of all devices", operators, all);
  printRows(out, "communication", communications, all);
  printRows(out, "devices", links, all);
  printMissing(out, predicted, measured, "predicted");
  printMissing(out, measured, predicted, "measured");
}

static int compare(const CompareOptions &options) {
  std::vector<StepTrace> traces;
  for (const std::string &path : options.arguments) {
    Expected<StepTrace> trace = StepTrace::load(path);
    if (!trace) {
      printError(toString(trace.takeError()));
      return 1;
    }
    traces.push_back(std::move(*trace));
  }
  if (traces[0].kind == "measured" && traces[1].kind == "predicted") {
    printError(options.arguments[0] +
               ": expected a predicted trace first, found a measured one");
    return 1;
  }
  Comparison(traces[0], traces[1]).print(outs(), options.all);
  return 0;
}

int ffc::runCompareCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<CompareOptions>(
      {"ffc compare", kIntro, flagGroups(), check, compare}, arguments);
}
