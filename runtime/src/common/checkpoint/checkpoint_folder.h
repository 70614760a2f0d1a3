//===- checkpoint_folder.h - the folder of a run's checkpoints --*- C++ -*-===//
//
//   DIR/step-00001200/            a checkpoint: checkpoint.json, *.safetensors
//   DIR/step-00001300.partial/    one that is being written
//   DIR/step-00000900.removed/    one that is being removed
//   DIR/best                      a link to that of the best validation
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_CHECKPOINT_FOLDER_H
#define FFRT_COMMON_CHECKPOINT_FOLDER_H

#include "ffrt/comm.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ffrt {

/// The steps of the complete checkpoints in a folder, ascending; none where
/// there is no such folder.
std::vector<int64_t> checkpoints_in(const std::string &folder);

/// The path of the one after `step`.
std::string checkpoint_path(const std::string &folder, int64_t step);

/// True if `path` itself is a complete checkpoint.
bool is_checkpoint(const std::string &path);

/// `path` if it is a checkpoint, else the newest one in it; empty: there is
/// none.
std::string newest_checkpoint(const std::string &path);

/// The folder as the one run sees it that writes there (its rank 0). Members
/// throw Error.
class CheckpointFolder {
public:
  /// Makes it, keeps other runs out, and removes what a run that was killed has
  /// left unfinished.
  explicit CheckpointFolder(const std::string &path);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;

  const std::string &path() const { return folder; }
  /// Makes the folder of a checkpoint that begins, which must be new.
  void begin(int64_t step);
  static std::string partial_path(const std::string &folder, int64_t step);
  /// Gives it its name, when everything in it is on the disk.
  void publish(int64_t step);
  /// Removes one that was begun.
  void abandon(int64_t step);
  /// Makes `best` lead to the one after `step`.
  void mark_best(int64_t step);
  /// Removes all complete ones but the newest `count` and that after `best`.
  void keep(int64_t count, int64_t best = 0);

private:
  void remove(int64_t step);

  std::string folder;
  int lock = -1; ///< the folder, open
};

/// Collective: the folder, on rank 0; null on others. All ranks see it. Throws
/// Stop.
std::unique_ptr<CheckpointFolder>
open_checkpoint_folder(Comm &comm, const Group &world, const std::string &path);

} // namespace ffrt

#endif // FFRT_COMMON_CHECKPOINT_FOLDER_H
