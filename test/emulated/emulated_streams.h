//===- emulated_streams.h - what is started on the device -------*- C++ -*-===//
//
// Streams, events and graphs. FFRT_EMULATED_STREAMS says when work runs that
// may run now or later:
//
//   (unset)  when it is started
//   late     when the host, or another stream that is to run, waits for it
//   early    the kernels' stream late, all others as soon as what they wait for
//            has run: ahead of kernels that they should have waited for
//
// What runs in one of these orders and should not have shows what a program
// forgets to wait for.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_STREAMS_H
#define FFRT_EMULATED_STREAMS_H

#include <cstdint>
#include <functional>

using cudaStream_t = struct EmulatedStream *;
using cudaEvent_t = struct EmulatedEvent *;
using cudaGraph_t = struct EmulatedGraph *;
using cudaGraphExec_t = struct EmulatedGraph *;

namespace ffrt::emulated {

/// Gives a stream work, or the graph that is captured. `work` refers to nothing
/// that ends before the stream does.
void submit(cudaStream_t stream, std::function<void()> work);
/// To the stream of kernels, which is the first that was made; nothing if there
/// is a shapes_file().
void compute(std::function<void()> work);
/// How often compute() was called so far.
int64_t launches();

/// Returns when all streams have done their work.
void finish_all();

bool is_capturing();

/// FFRT_EMULATED_SHAPES (conv_shapes.h), or null.
const char *shapes_file();

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_STREAMS_H
