//===- weights_file.h - the values that a program comes with ----*- C++ -*-===//
#ifndef FFRT_COMMON_WEIGHTS_FILE_H
#define FFRT_COMMON_WEIGHTS_FILE_H

#include "common/data/file.h"
#include "ffrt/program.h"

#include <string>
#include <vector>

namespace ffrt {

/// Where they are.
struct WeightsPlace {
  std::string path;
  std::string hash; ///< ProgramInfo::weights_hash; empty: nothing is checked
};

/// Of this program: `<its path>.weights`.
WeightsPlace weights_of(const ProgramInfo &info);

/// The file that ffc wrote, as lib/Codegen/SealWeights.h says. What is read is
/// checked, and no more: ranks that need a part read a part. Members throw
/// Error naming the path.
class WeightsFile {
public:
  explicit WeightsFile(const WeightsPlace &place);

  /// What is at `offset`, of which the bytes from `first` to `last` there are
  /// to be read. They must be those that were written. `name` is what needs
  /// them.
  const unsigned char *read(const std::string &name, int64_t offset,
                            int64_t first, int64_t last);

private:
  void read_sums(const std::string &hash);
  uint64_t sum(std::size_t chunk) const;

  const std::string path;
  const MappedFile file;
  int64_t bytes;              ///< of values
  const unsigned char *sums;  ///< null: nothing is checked
  std::vector<bool> verified; ///< chunks
};

} // namespace ffrt

#endif // FFRT_COMMON_WEIGHTS_FILE_H
