//===- planned.h - the planner's schedules in programs of tests -*- C++ -*-===//
#ifndef FFRT_TEST_PLANNED_H
#define FFRT_TEST_PLANNED_H

#include "ffc/Plan/CollectiveSchedule.h"

#include "ffrt/schedule.h"

#include <string>
#include <vector>

/// As the runtime reads it from the tables of a program.
inline ffrt::Schedule planned(const ffc::plan::CollectiveSchedule &schedule) {
  std::string text =
      std::string(str(schedule.kind)) + " " + schedule.algorithm + " " +
      std::to_string(schedule.members) + " " + std::to_string(schedule.chunks) +
      " " + std::to_string(schedule.reducing);
  for (const auto &t : schedule.transfers)
    text += " " + std::to_string(t.chunk) + " " + std::to_string(t.src) + " " +
            std::to_string(t.dst);
  return ffrt::Schedule::read(text.c_str());
}

template <class T>
ffrt::Tensor flat(std::vector<T> &elements, ffrt::DType type) {
  ffrt::Tensor tensor;
  tensor.data = elements.data();
  tensor.type = type;
  tensor.rank = 1;
  tensor.shape[0] = tensor.global[0] = int64_t(elements.size());
  return tensor;
}

#endif // FFRT_TEST_PLANNED_H
