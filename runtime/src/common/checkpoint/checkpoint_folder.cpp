//===- checkpoint_folder.cpp - the folder of a run's checkpoints ----------===//
#include "common/checkpoint/checkpoint_folder.h"

#include "common/checkpoint/record.h"
#include "common/data/file.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ffrt {

namespace {

constexpr const char *kPartial = ".partial", *kRemoved = ".removed",
                     *kBest = "best";
/// A file by which ranks know that they see the same folder.
constexpr const char *kSeen = "seen-by-all-ranks.partial";

/// The step of "step-00001200" with this ending; -1: another name.
int64_t step_of(const std::string &name, const std::string &ending) {
  int64_t step = -1;
  int end = 0;
  if (std::sscanf(name.c_str(), "step-%" SCNd64 "%n", &step, &end) != 1 ||
      step < 0 || name.substr(std::size_t(end)) != ending ||
      checkpoint_path("", step) != "/" + name.substr(0, std::size_t(end)))
    return -1;
  return step;
}

[[noreturn]] void failed(const std::string &verb, const std::string &path) {
  throw Error("cannot " + verb + " '" + path + "': " + std::strerror(errno));
}

void remove_tree(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error)
    throw Error("cannot remove '" + path + "': " + error.message());
}

void rename_folder(const std::string &from, const std::string &to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    failed("rename", from);
}

} // namespace

std::string checkpoint_path(const std::string &folder, int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "/step-%08" PRId64, step);
  return folder + name;
}

bool is_checkpoint(const std::string &path) {
  return exists(path + "/" + kRecordName);
}

std::vector<int64_t> checkpoints_in(const std::string &folder) {
  std::vector<int64_t> steps;
  if (!exists(folder))
    return steps;
  for (const std::string &name : list_folder(folder)) {
    const int64_t step = step_of(name, "");
    if (step >= 0 && is_checkpoint(folder + "/" + name))
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string newest_checkpoint(const std::string &path) {
  if (is_checkpoint(path))
    return path;
  const std::vector<int64_t> steps = checkpoints_in(path);
  return steps.empty() ? "" : checkpoint_path(path, steps.back());
}

CheckpointFolder::CheckpointFolder(const std::string &path) : folder(path) {
  make_folder(folder);
  lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    failed("open folder", folder);
  // Where the file system knows no locks, nobody is kept out.
  if (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock);
    throw Error("'" + folder +
                "': expected a folder of this run alone, found another run "
                "that writes its checkpoints there");
  }
  try {
    for (const std::string &name : list_folder(folder))
      if (step_of(name, kPartial) >= 0 || step_of(name, kRemoved) >= 0 ||
          name.rfind(kSeen, 0) == 0 || name == std::string(kBest) + kPartial)
        remove_tree(folder + "/" + name);
  } catch (...) {
    close(lock);
    throw;
  }
}

CheckpointFolder::~CheckpointFolder() { close(lock); }

std::string CheckpointFolder::partial_path(const std::string &folder,
                                           int64_t step) {
  return checkpoint_path(folder, step) + kPartial;
}

void CheckpointFolder::begin(int64_t step) {
  const std::string path = partial_path(folder, step);
  if (mkdir(path.c_str(), 0777) != 0)
    failed("make folder", path);
}

void CheckpointFolder::publish(int64_t step) {
  // One of an earlier run that went another way from here.
  if (exists(checkpoint_path(folder, step)))
    remove(step);
  sync_folder(partial_path(folder, step));
  rename_folder(partial_path(folder, step), checkpoint_path(folder, step));
  sync_folder(folder);
}

void CheckpointFolder::abandon(int64_t step) {
  remove_tree(partial_path(folder, step));
}

void CheckpointFolder::mark_best(int64_t step) {
  const std::string path = folder + "/" + kBest, link = path + kPartial;
  if (exists(path) && !std::filesystem::is_symlink(path))
    throw Error("'" + path +
                "': expected a link to the best checkpoint, or nothing, found "
                "something else");
  std::remove(link.c_str());
  if (symlink(checkpoint_path("", step).c_str() + 1, link.c_str()) != 0)
    failed("make link", link);
  if (std::rename(link.c_str(), path.c_str()) != 0)
    failed("rename", link);
  sync_folder(folder);
}

void CheckpointFolder::keep(int64_t count, int64_t best) {
  const std::vector<int64_t> steps = checkpoints_in(folder);
  for (int64_t i = 0; i + count < int64_t(steps.size()); ++i)
    if (steps[std::size_t(i)] != best)
      remove(steps[std::size_t(i)]);
}

void CheckpointFolder::remove(int64_t step) {
  // Under this name first, so that what is left of it when the run is killed
  // is taken for no checkpoint.
  const std::string removed = checkpoint_path(folder, step) + kRemoved;
  rename_folder(checkpoint_path(folder, step), removed);
  remove_tree(removed);
}

std::unique_ptr<CheckpointFolder>
open_checkpoint_folder(Comm &comm, const Group &world,
                       const std::string &path) {
  constexpr const char *kTask = "checkpoint";
  const std::string name = path + "/" + kSeen;
  std::unique_ptr<CheckpointFolder> folder;
  together(comm, world, kTask, [&] {
    if (comm.rank() != 0)
      return;
    folder = std::make_unique<CheckpointFolder>(path);
    write_file(name, "", nullptr, 0);
  });
  together(comm, world, kTask, [&] {
    if (!exists(name))
      throw Error("expected folder '" + path +
                  "' on a file system that all ranks share, found one that "
                  "rank 0 has alone");
  });
  if (folder)
    std::remove(name.c_str());
  return folder;
}

} // namespace ffrt
