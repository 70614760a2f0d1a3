//===- emulated_races.h - races of emulated threads -------------*- C++ -*-===//
//
// With FFRT_EMULATED_RACES, which wants -fsanitize=thread, every thread of a
// block is a thread to ThreadSanitizer, although all take turns. What one wrote
// another may read or write only where a barrier that GPUs have lies between:
// of the block, the warp, or the cluster, or the end of the block. Values that
// a warp exchanges order nothing else. So it finds races whatever order threads
// ran in. Blocks run one after the other, and between them it sees none.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_RACES_H
#define FFRT_EMULATED_RACES_H

#ifdef FFRT_EMULATED_RACES
#include <sanitizer/tsan_interface.h>

extern "C" {
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}
#endif

namespace ffrt::emulated::races {

#ifdef FFRT_EMULATED_RACES

inline void *new_thread() { return __tsan_create_fiber(0); }
inline void *this_thread() { return __tsan_get_current_fiber(); }
/// What follows is of `thread`. Orders nothing.
inline void go_on_as(void *thread) {
  __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
}
/// What came before one arrive(), comes before what follows a leave() of the
/// same place.
inline void arrive(void *place) { __tsan_release(place); }
inline void leave(void *place) { __tsan_acquire(place); }

/// What is read and written while one exists is not of the kernel.
struct Unseen {
  Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  Unseen(const Unseen &) = delete;
};

/// Alone, as atomic instructions are; they order nothing else.
template <class T> T read(T *at) {
  T value;
  __atomic_load(at, &value, __ATOMIC_RELAXED);
  return value;
}
template <class T> void write(T *at, T value) {
  __atomic_store(at, &value, __ATOMIC_RELAXED);
}

#else

inline void *new_thread() { return nullptr; }
inline void *this_thread() { return nullptr; }
inline void go_on_as(void *) {}
inline void arrive(void *) {}
inline void leave(void *) {}
struct Unseen {
  Unseen() {} // it is used
};
template <class T> T read(T *at) { return *at; }
template <class T> void write(T *at, T value) { *at = value; }

#endif

} // namespace ffrt::emulated::races

#endif // FFRT_EMULATED_RACES_H
