//===- checkpoint_writer.cpp - checkpoints while steps go on --------------===//
#include "common/checkpoint/checkpoint_writer.h"

#include "common/checkpoint/box_rows.h"
#include "common/checkpoint/checksum.h"
#include "common/checkpoint/safetensors.h"
#include "common/copy/host_copy.h"
#include "common/data/npy.h"
#include "common/data/shared_output.h"
#include "common/device/host_tensor.h"
#include "common/device/target.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace ffrt {

namespace {

constexpr const char *kTask = "checkpoint";
/// Between two looks whether other ranks are done.
constexpr std::chrono::milliseconds kPause(5);

std::string rank_file(int rank) { return "rank-" + std::to_string(rank); }

std::size_t bytes_of(const GlobalValue &value, const Cell &home) {
  return box_elements(value.rank, home.shape) * size_of(value.type);
}

Tensor tensor_of(const GlobalValue &value, const Cell &home,
                 const std::byte *data) {
  return box_tensor(value.type, value.rank, home.lo, home.shape, value.shape,
                    data);
}

/// What f throws, as text.
template <class F> std::string cause_of(F &&f) {
  try {
    f();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

} // namespace

CheckpointWriter::CheckpointWriter(Comm &comm, const Group &world,
                                   const GlobalState &state,
                                   const std::string &path,
                                   CheckpointFolder *folder, int64_t keep,
                                   const Begin &begin)
    : comm(comm), world(world), state(state), path(path), kept(keep),
      layout(make_layout(state.values())), folder(folder) {
  together(comm, world, kTask, [&] {
    place_homes();
    for (std::size_t h = 0; h < starts.size(); ++h) {
      const Cell &home = state.homes()[h];
      const GlobalValue &value = state.values()[home.value];
      if (!home.slot)
        begin({value.name.c_str(),
               value.parameter ? StateKind::parameter : StateKind::slot,
               value.init, tensor_of(value, home, copy.get() + starts[h])});
    }
  });
}

void CheckpointWriter::place_homes() {
  constexpr std::size_t block = SharedOutput::kBlock;
  for (const Cell &home : state.homes()) {
    const GlobalValue &value = state.values()[home.value];
    const std::size_t bytes = bytes_of(value, home);
    if (bytes >= SharedOutput::kDirectBytes) {
      const std::size_t place =
          layout.places[home.value].offset +
          element_number(value.rank, value.shape, home.lo) *
              size_of(value.type);
      copy_bytes += (place % block + block - copy_bytes % block) % block;
    }
    starts.push_back(copy_bytes);
    copy_bytes += bytes;
  }
  if (copy_bytes == 0)
    return;
  const std::size_t blocks = (copy_bytes + block - 1) / block;
  copy.reset(
      static_cast<std::byte *>(std::aligned_alloc(block, blocks * block)));
  if (!copy)
    throw Error("cannot allocate " + std::to_string(copy_bytes) + " bytes");
  // What is not there is missed now, not in the middle of the run, and pages
  // are not made between two steps. That they are small does no harm.
  madvise(copy.get(), blocks * block, MADV_HUGEPAGE);
  std::memset(copy.get(), 0, blocks * block);
}

CheckpointWriter::~CheckpointWriter() {
  stop = true;
  if (thread.joinable())
    thread.join();
  // The run ends otherwise; that this fails too is not what it ended with.
  if (folder && exists(CheckpointFolder::partial_path(path, record.step)))
    cause_of([&] { folder->abandon(record.step); });
}

void CheckpointWriter::write(Record next, const std::vector<double> &of_steps) {
  finish();
  record = std::move(next);
  losses = of_steps;
  written = {};
  completed = {};
  together(comm, world, kTask, [&] {
    copy_state();
    if (comm.rank() == 0)
      make_files();
  });
  thread = std::thread([this] { run(); });
}

void CheckpointWriter::copy_state() {
  finish_target();
  for (std::size_t h = 0; h < starts.size(); ++h) {
    const Cell &home = state.homes()[h];
    if (!home.slot)
      continue;
    const HostTensor slot(home.slot->tensor, HostTensor::Contents::copied);
    const Tensor &from = slot.tensor();
    copy_on_host(
        tensor_of(state.values()[home.value], home, copy.get() + starts[h]), {},
        from, place_in(from, home.lo), home.shape);
  }
}

void CheckpointWriter::make_files() {
  folder->begin(record.step);
  const std::string partial = CheckpointFolder::partial_path(path, record.step);
  for (const StateFile &file : layout.files) {
    SharedOutput output(partial + "/" + file.name, SharedOutput::Mode::create);
    output.reserve(file.bytes);
    output.write(0, file.head.data(), file.head.size());
    output.sync();
  }
  for (const auto &[name, text] : layout.indices)
    write_file(partial + "/" + name, text, nullptr, 0, Sync::yes);
}

/// Cores are for the steps; a checkpoint has until the next one, which waits
/// for it. Of a thread alone, as Linux has it; where it may not, nothing is
/// lost.
static void yield_to_steps() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19);
}

void CheckpointWriter::run() {
  yield_to_steps();
  std::string cause = cause_of([&] { write_homes(); });
  written.set_value(cause);
  if (cause.empty() && folder)
    cause = cause_of([&] { complete(); });
  completed.set_value(cause);
}

void CheckpointWriter::write_homes() {
  const std::string partial = CheckpointFolder::partial_path(path, record.step);
  std::vector<std::unique_ptr<SharedOutput>> files(layout.files.size());
  std::ostringstream sums;
  for (std::size_t h = 0; h < starts.size(); ++h) {
    const Cell &home = state.homes()[h];
    const GlobalValue &value = state.values()[home.value];
    const Placement &place = layout.places[home.value];
    std::unique_ptr<SharedOutput> &file = files[place.file];
    if (!file)
      file = std::make_unique<SharedOutput>(partial + "/" +
                                                layout.files[place.file].name,
                                            SharedOutput::Mode::open);
    const Tensor box = tensor_of(value, home, copy.get() + starts[h]);
    const std::size_t size = size_of(value.type);
    for_rows(box, [&](const std::byte *row, std::size_t n, std::size_t number) {
      file->write(place.offset + number * size, row, n * size);
    });
    sums << home.value << ' ' << checksum(box) << '\n';
    if (stop)
      return;
  }
  for (const std::unique_ptr<SharedOutput> &file : files)
    if (file)
      file->sync();
  write_file(partial + "/" + rank_file(comm.rank()), sums.str(), nullptr, 0,
             Sync::yes);
}

std::vector<uint64_t> CheckpointWriter::collect_sums() {
  const std::string partial = CheckpointFolder::partial_path(path, record.step);
  std::vector<uint64_t> sums(state.values().size());
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::string name = partial + "/" + rank_file(rank);
    while (!exists(name)) {
      if (stop)
        return sums;
      std::this_thread::sleep_for(kPause);
    }
    std::istringstream lines(read_file(name));
    std::size_t value;
    for (uint64_t sum; lines >> value >> sum;)
      sums.at(value) += sum;
  }
  return sums;
}

void CheckpointWriter::complete() {
  const std::string partial = CheckpointFolder::partial_path(path, record.step);
  const std::vector<uint64_t> sums = collect_sums();
  if (stop)
    return;
  record.values.clear();
  for (std::size_t v = 0; v < sums.size(); ++v) {
    const GlobalValue &value = state.values()[v];
    record.values.push_back({value.name,
                             layout.files[layout.places[v].file].name,
                             stored_type(value.type),
                             {value.shape.v, value.shape.v + value.rank},
                             value.parameter,
                             sums[v]});
  }
  write_file(partial + "/loss.npy",
             npy_head(DType::f64, 1, Index{int64_t(losses.size())}),
             losses.data(), losses.size() * sizeof(double), Sync::yes);
  write_file(partial + "/" + kRecordName, to_json(record), nullptr, 0,
             Sync::yes);
  for (int rank = 0; rank < comm.size(); ++rank)
    std::remove((partial + "/" + rank_file(rank)).c_str());
  folder->publish(record.step);
  if (record.best.step == record.step)
    folder->mark_best(record.step);
  folder->keep(kept, record.best.step);
}

void CheckpointWriter::finish() {
  // All ranks are here together: if one has a checkpoint to finish, all have.
  if (!thread.joinable())
    return;
  agree(comm, world, kTask, written.get_future().get());
  agree(comm, world, kTask, completed.get_future().get());
  thread.join();
}

} // namespace ffrt
