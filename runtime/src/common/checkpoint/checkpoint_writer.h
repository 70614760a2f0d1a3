//===- checkpoint_writer.h - checkpoints while steps go on ------*- C++ -*-===//
//
// Between two steps every rank copies what it is home to into memory of the
// host; a thread of it writes that into the files, at the places of the global
// values, while the next steps run. Ranks tell each other through the folder
// that they are done: threads do not use the communication of the steps.
// The folder gets its name when everything is on the disk, so that a checkpoint
// is there whole or not at all.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_CHECKPOINT_WRITER_H
#define FFRT_COMMON_CHECKPOINT_WRITER_H

#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/global_state.h"
#include "common/checkpoint/layout.h"
#include "common/checkpoint/record.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ffrt {

class CheckpointWriter {
public:
  /// Fills a slot in the host's memory with what it began with.
  using Begin = std::function<void(const StateSlot &slot)>;

  /// Collective. `folder` is that of `path`, on rank 0
  /// (open_checkpoint_folder); its newest `keep` checkpoints stay. What is
  /// given must outlive this. Throws Stop.
  CheckpointWriter(Comm &comm, const Group &world, const GlobalState &state,
                   const std::string &path, CheckpointFolder *folder,
                   int64_t keep, const Begin &begin);
  /// Removes what is not complete.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter &) = delete;
  CheckpointWriter &operator=(const CheckpointWriter &) = delete;

  /// Collective, when no step is running. Waits for the checkpoint before, if
  /// there is one, and begins the next; `losses` (of rank 0) are those of all
  /// steps. Throws Stop after an error on any rank, with either.
  void write(Record record, const std::vector<double> &losses);
  /// Collective. Returns when all that was begun is complete. Throws Stop.
  void finish();
  /// Memory for the copy, on this rank.
  std::size_t bytes() const { return copy_bytes; }

private:
  /// Places the homes in the copy one after the other, those that go straight
  /// to the disk as far behind a multiple of a block as in their file.
  void place_homes();
  void make_files();
  void copy_state();
  /// The thread: writes what this rank is home to, then, on rank 0, waits until
  /// all have done so and gives the checkpoint its name.
  void run();
  void write_homes();
  void complete();
  std::vector<uint64_t> collect_sums();

  Comm &comm;
  const Group &world;
  const GlobalState &state;
  const std::string path;
  const int64_t kept;
  const Layout layout;
  CheckpointFolder *const folder;  ///< null but on rank 0
  std::vector<std::size_t> starts; ///< of the homes, in `copy`
  std::size_t copy_bytes = 0;
  std::unique_ptr<std::byte, decltype(&std::free)> copy{nullptr, &std::free};

  // The checkpoint that is being written.
  Record record;
  std::vector<double> losses;
  std::thread thread;
  std::atomic<bool> stop{false};
  /// Why it failed; empty: it did not.
  std::promise<std::string> written, completed;
};

} // namespace ffrt

#endif // FFRT_COMMON_CHECKPOINT_WRITER_H
