//===- footprint.h - memory that deferred work uses -------------*- C++ -*-===//
#ifndef FFRT_CUDA_FOOTPRINT_H
#define FFRT_CUDA_FOOTPRINT_H

#include <cstdint>
#include <vector>

namespace ffrt::cuda {

/// What the tasks of one launch read and write, none of which may see what
/// another one does.
class Footprint {
public:
  struct Range {
    std::uintptr_t begin, end;
    template <class T>
    Range(const T *data, int64_t n)
        : begin(reinterpret_cast<std::uintptr_t>(data)),
          end(begin + std::uintptr_t(data ? n : 0) * sizeof(T)) {}
    bool meets(const Range &o) const { return begin < o.end && o.begin < end; }
  };
  struct Task {
    std::vector<Range> reads, writes;
  };

  bool allows(const Task &task) const {
    return !meet(task.writes, all.writes) && !meet(task.writes, all.reads) &&
           !meet(task.reads, all.writes);
  }
  void add(const Task &task) {
    all.reads.insert(all.reads.end(), task.reads.begin(), task.reads.end());
    all.writes.insert(all.writes.end(), task.writes.begin(), task.writes.end());
  }
  void clear() {
    all.reads.clear();
    all.writes.clear();
  }

private:
  static bool meet(const std::vector<Range> &a, const std::vector<Range> &b) {
    for (const Range &x : a)
      for (const Range &y : b)
        if (x.meets(y))
          return true;
    return false;
  }

  Task all;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_FOOTPRINT_H
