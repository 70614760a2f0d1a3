//===- TaskId.cpp - the identity of a task --------------------------------===//

#include "ffc/Plan/TaskId.h"

#include <tuple>
#include <utility>

using namespace ffc::plan;

namespace {
using PointAndInstance = std::pair<int, int>;

PointAndInstance numbers(std::monostate) { return {0, 0}; }
PointAndInstance numbers(const TaskId::Compute &compute) {
  return {compute.point, compute.isAgain ? -4 : 0};
}
PointAndInstance numbers(const TaskId::AddPartial &addition) {
  return {addition.point, addition.isAgain ? -5 : -1};
}
/// Slots of internal tensors come after those of operands, so none is 0.
PointAndInstance numbers(const TaskId::Reshard &reshard) {
  return {reshard.value >= 0 ? reshard.value : -reshard.slot, reshard.step};
}
PointAndInstance numbers(const TaskId::Store &store) {
  return {store.state, -2};
}
PointAndInstance numbers(const TaskId::AddMicroBatch &addition) {
  return {addition.value, -3};
}
} // namespace

TaskNumbers ffc::plan::numbersOf(const TaskId &task) {
  const auto [point, instance] =
      std::visit([](const auto &what) { return numbers(what); }, task.what);
  return {task.op, task.phase, point, instance};
}

TaskId ffc::plan::taskOf(const TaskNumbers &numbers) {
  TaskId task{numbers.op, numbers.phase, {}};
  const int point = numbers.point;
  switch (numbers.instance) {
  case 0:
    task.what = TaskId::Compute{point};
    break;
  case -1:
    task.what = TaskId::AddPartial{point};
    break;
  case -2:
    task.what = TaskId::Store{point};
    break;
  case -3:
    task.what = TaskId::AddMicroBatch{point};
    break;
  case -4:
    task.what = TaskId::Compute{point, true};
    break;
  case -5:
    task.what = TaskId::AddPartial{point, true};
    break;
  default:
    task.what = point < 0 ? TaskId::Reshard{-1, -point, numbers.instance}
                          : TaskId::Reshard{point, 0, numbers.instance};
  }
  return task;
}

bool ffc::plan::operator==(const TaskId &a, const TaskId &b) {
  auto tie = [](const TaskNumbers &n) {
    return std::make_tuple(n.op, n.phase, n.point, n.instance);
  };
  return tie(numbersOf(a)) == tie(numbersOf(b));
}

std::string ffc::plan::str(const TaskId &task, const Graph &graph) {
  const TaskNumbers numbers = numbersOf(task);
  return (task.op >= 0 ? graph.op(task.op).name : "-") + "#" +
         std::to_string(numbers.phase) + "@" + std::to_string(numbers.point) +
         "." + std::to_string(numbers.instance);
}
