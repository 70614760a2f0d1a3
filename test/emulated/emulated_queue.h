//===- emulated_queue.h - what is started on the device ---------*- C++ -*-===//
#ifndef FFRT_EMULATED_QUEUE_H
#define FFRT_EMULATED_QUEUE_H

#include <functional>

namespace ffrt::emulated {

/// Does what a stream is given: now, or in the graph that is captured. `work`
/// refers to nothing that ends before it runs.
void submit(std::function<void()> work);

bool is_capturing();

/// FFRT_EMULATED_SHAPES (conv_shapes.h), or null.
const char *shapes_file();
/// As submit(), for what computes; nothing if there is a shapes_file().
void compute(std::function<void()> work);

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_QUEUE_H
