//===- TraceReader.h - traces of steps, read back ---------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_TRACEREADER_H
#define FFC_TOOLS_FFC_TRACEREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace ffc {

/// A kernel or copy on a device, or a communication of several.
struct TaskKey {
  std::string task;     ///< "conv2#0@3.1"
  std::string category; ///< "kernel", "copy", "exchange" or "collective"
  int device = -1;      ///< -1: a communication

  bool isCommunication() const { return device < 0; }
  /// "conv2"
  llvm::StringRef op() const { return llvm::StringRef(task).rsplit('#').first; }
  bool operator<(const TaskKey &o) const {
    return std::tie(task, category, device) <
           std::tie(o.task, o.category, o.device);
  }
};

/// Times in microseconds, medians of all steps.
struct TracedTask {
  /// Of a communication, from when the last device has come to it to when the
  /// last one has left it: nobody's waiting for others is in it.
  double time = 0;
  std::set<int> devices;
};

/// What ffc --trace or the --trace of a program has written.
struct StepTrace {
  std::string kind; ///< "predicted", "measured"
  size_t numSteps = 0;
  double step = 0; ///< from the first start on any device to the last end
  std::set<int> devices;
  std::map<TaskKey, TracedTask> tasks;

  /// An error names the file, and the event that is not as expected.
  static llvm::Expected<StepTrace> load(llvm::StringRef path);
};

} // namespace ffc

#endif // FFC_TOOLS_FFC_TRACEREADER_H
