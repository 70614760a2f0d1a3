//===- Program.cpp - the tasks of every device, in order ------------------===//

#include "ffc/Plan/Program.h"

using namespace ffc::plan;

std::string ffc::plan::str(const TaskId &task, const Graph &graph) {
  std::string text = task.op >= 0 ? graph.op(task.op).name : "-";
  return text + "#" + std::to_string(task.phase) + "@" +
         std::to_string(task.point) + "." + std::to_string(task.instance);
}
