//===- Program.cpp - the tasks of every device, in order ------------------===//

#include "ffc/Plan/Program.h"

using namespace ffc::plan;

size_t ffc::plan::numPassActions(const Program &program) {
  size_t count = 0;
  for (const DeviceProgram &device : program.devices)
    count += static_cast<size_t>(device.passActions);
  return count;
}

std::string ffc::plan::str(const TaskId &task, const Graph &graph) {
  std::string text = task.op >= 0 ? graph.op(task.op).name : "-";
  return text + "#" + std::to_string(task.phase) + "@" +
         std::to_string(task.point) + "." + std::to_string(task.instance);
}
