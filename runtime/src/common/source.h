//===- source.h - where the inputs of a step come from ----------*- C++ -*-===//
#ifndef FFRT_COMMON_SOURCE_H
#define FFRT_COMMON_SOURCE_H

#include "ffrt/program.h"

#include <memory>
#include <string>

namespace ffrt {

/// Inputs as a pure function of (step, input, box): the same data for every
/// partition, and free to be asked ahead of time from another thread.
class Source {
public:
  virtual ~Source() = default;
  /// Steps of one pass over the data; 0 when there is no such thing.
  virtual int64_t steps_per_epoch() const { return 0; }
  /// Fills the box `tensor` of input `input` (an index into info.inputs) with
  /// the data of `step`, counted from 0. Throws Error naming the input.
  virtual void fill(int64_t step, std::size_t input, const Tensor &tensor) = 0;
};

/// Random data keyed by seed, the hash of the input's name and step: floats
/// uniform with mean 0 and variance 1, class indices uniform over the classes,
/// other integers 0 or 1.
std::unique_ptr<Source> make_synthetic(const ProgramInfo &info, uint64_t seed);

/// `<folder>/<file_name(input)>.npy`, the global array, for every input and
/// step.
std::unique_ptr<Source> make_fixed(const ProgramInfo &info,
                                   const std::string &folder);

/// A data set: IDX files as of MNIST if the folder has any, else one .npy file
/// per input with all samples along the first dimension. Samples are taken in
/// order; the rest that fills no batch is dropped.
std::unique_ptr<Source> make_dataset(const ProgramInfo &info,
                                     const std::string &folder);

/// The part of make_dataset for IDX files.
std::unique_ptr<Source> make_idx(const ProgramInfo &info,
                                 const std::string &folder,
                                 const std::string &images,
                                 const std::string &labels);

/// "input 'x'"
std::string name_of(const InputInfo &input);

/// Throws Error unless a data set can be cut into samples for all inputs.
void expect_sample_dimension(const ProgramInfo &info);

/// Number of whole batches in `samples`; throws Error when there is none.
int64_t whole_batches(const ProgramInfo &info, const std::string &folder,
                      int64_t samples);

/// Throws Error when class indices are outside [0, classes).
void expect_classes(const InputInfo &input, const Tensor &tensor);

} // namespace ffrt

#endif // FFRT_COMMON_SOURCE_H
