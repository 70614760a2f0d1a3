//===- source.h - where the inputs come from --------------------*- C++ -*-===//
#ifndef FFRT_COMMON_SOURCE_H
#define FFRT_COMMON_SOURCE_H

#include "ffrt/program.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// Inputs as a pure function of (step, input, box): the same data for every
/// partition, and free to be asked ahead of time from another thread. Steps
/// here are those over one batch, which are the micro-batches of a step that
/// has several.
class Source {
public:
  virtual ~Source() = default;
  /// Batches of an epoch; 0 when there is no such thing.
  virtual int64_t batches_per_epoch() const { return 0; }
  /// Samples of an epoch; 0 when there is no such thing.
  virtual int64_t samples() const { return 0; }
  /// True when every step has the same data.
  virtual bool constant() const { return false; }
  /// Fills the box `tensor` of input `input` (an index into info.inputs) with
  /// the data of `step`, counted from 0. Throws Error naming the input.
  virtual void fill(int64_t step, std::size_t input, const Tensor &tensor) = 0;
};

/// The samples of a data set.
class Samples {
public:
  virtual ~Samples() = default;
  virtual int64_t count() const = 0;
  /// Fills `row`, a box with one row of input `input`, with that of `sample`.
  /// The row and the tensor that it belongs to begin at 0.
  virtual void load(int64_t sample, std::size_t input, const Tensor &row) = 0;
  /// Where a sample is: "'FILE', sample 3".
  virtual std::string place(int64_t sample, std::size_t input) const = 0;
  /// Throws Error if a file was written since it was opened.
  virtual void expect_unchanged() const = 0;
};

/// Of samples that lie in several files, one after the other: the file and the
/// number in it. `count(i)` are those of file i.
template <class Count>
std::pair<std::size_t, int64_t> find_sample(int64_t sample, Count &&count) {
  std::size_t file = 0;
  for (; sample >= count(file); ++file)
    sample -= count(file);
  return {file, sample};
}

/// "'FILE', sample 3"
std::string sample_place(const std::string &path, int64_t sample);

/// Random data keyed by seed, the hash of the input's name and step: floats
/// uniform with mean 0 and variance 1, classes and indices uniform over what
/// there is, other integers 0 or 1.
std::unique_ptr<Source> make_synthetic(const ProgramInfo &info, uint64_t seed);

/// `<folder>/<file_name(input)>.npy`, the global array, for every input and
/// step.
std::unique_ptr<Source> make_fixed(const ProgramInfo &info,
                                   const std::string &folder);

/// A data set: IDX files as of MNIST if the folder has any, else records of
/// CIFAR-10 in *.bin, else texts in *.txt or tokens*.npy, else one .npy file
/// per input with all samples along the first dimension. Samples are taken in
/// order, or, shuffled, in one that SampleOrder gives for each epoch. When a
/// program trains, the rest that fills no batch is dropped; else the last batch
/// is filled up from the beginning.
///
/// Which of the samples these are says `part`. Throws Error if there are none.
struct DatasetPart {
  /// Where a folder has files of a training set and of a test set: the latter.
  bool prefers_tests = false;
  double held_out = 0;      ///< share of the samples, the last ones; at least 1
  bool is_held_out = false; ///< these, else all others
};
std::unique_ptr<Source> make_dataset(const ProgramInfo &info,
                                     const std::string &folder, bool shuffled,
                                     uint64_t seed,
                                     const DatasetPart &part = {});

/// Parts of make_dataset. `files` are names in the folder.
using FileNames = std::vector<std::string>;
std::unique_ptr<Samples> open_idx(const ProgramInfo &info,
                                  const std::string &folder,
                                  const std::string &images,
                                  const std::string &labels);
std::unique_ptr<Samples> open_cifar(const ProgramInfo &info,
                                    const std::string &folder,
                                    const FileNames &files);
std::unique_ptr<Samples> open_text(const ProgramInfo &info,
                                   const std::string &folder,
                                   const FileNames &files);
std::unique_ptr<Samples> open_npy(const ProgramInfo &info,
                                  const std::string &folder);

/// "input 'x'"
std::string name_of(const InputInfo &input);

/// Throws Error unless a data set can be cut into samples for all inputs.
void expect_sample_dimension(const ProgramInfo &info);

/// Throws Error unless the program reads images of `values` numbers, by one
/// input besides the target, and at most one label of each.
void expect_images(const ProgramInfo &info, const std::string &folder,
                   const char *format, int64_t values);

/// True when the program has an input with labels.
bool wants_labels(const ProgramInfo &info);

/// Throws Error when classes or indices of rows are out of range. `place` says
/// where a row of the tensor, along its first dimension, is from.
void expect_classes(const InputInfo &input, const Tensor &tensor,
                    const std::function<std::string(int64_t row)> &place);

} // namespace ffrt

#endif // FFRT_COMMON_SOURCE_H
