//===- nccl_comm.cpp - communication over NCCL ----------------------------===//
#include "cuda/comm/nccl_comm.h"

#include "comm/watched_comm.h"
#include "common/device/target.h"
#include "common/program/together.h"
#include "cuda/comm/nccl_watchdog.h"
#include "cuda/comm/nccl_windows.h"
#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <exception>
#include <nccl.h>
#include <string>
#include <vector>

namespace ffrt::cuda {

namespace {

ncclDataType_t nccl_type(DType type) {
  switch (type) {
  case DType::f32:
    return ncclFloat32;
  case DType::f64:
    return ncclFloat64;
  case DType::i32:
    return ncclInt32;
  case DType::i64:
    return ncclInt64;
  case DType::u8:
  case DType::boolean:
    return ncclUint8;
  case DType::bf16:
    return ncclBfloat16;
  case DType::f16:
    return ncclFloat16;
  }
  return ncclUint8;
}

class NcclComm final : public Comm {
public:
  NcclComm(Comm &host, const Group &everyone, bool share_gpus)
      : host(host),
        watchdog(std::make_unique<Watchdog>(
            host.watch()->deadline(),
            [&host](const char *task, const char *cause) {
              host.fail(task, cause);
            },
            [&host](const char *task) { host.watch()->end_late(task, ""); })) {
    // Kernels of several communicators run in the order of their calls.
    setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", /*overwrite=*/0);
    // Switches that add up do it in any order (NCCL's issue 1497).
    setenv("NCCL_NVLS_ENABLE", "0", /*overwrite=*/0);
    // NCCL refuses ranks of one machine that share a GPU; those of several it
    // does not compare.
    if (share_gpus)
      setenv("NCCL_HOSTID", ("rank " + std::to_string(rank())).c_str(),
             /*overwrite=*/0);
    {
      const Watch::Operation start{"start", nullptr, {}};
      const Watch::Scope scope(*host.watch(), start);
      ncclUniqueId id{};
      if (rank() == 0)
        check("start", ncclGetUniqueId(&id));
      host.wait(host.broadcast("start", everyone, 0,
                               flat(&id, DType::u8, int64_t(sizeof id))));
      check("start", ncclCommInitRank(&world, size(), id, rank()));
    }
    watchdog->add(world);
    cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                "cudaStreamCreate");
  }

  ~NcclComm() override {
    // All that follows would wait for the other ranks, which do not come here
    // before the exception has ended them.
    if (std::uncaught_exceptions() > 0)
      return;
    cudaStreamSynchronize(stream);
    watchdog.reset();
    for (const Pending &p : pending) {
      cudaEventDestroy(p.ready);
      cudaEventDestroy(p.done);
    }
    windows.close();
    for (ncclComm_t group : groups)
      if (group)
        ncclCommDestroy(group);
    ncclCommDestroy(world);
    cudaStreamDestroy(stream);
  }

  int rank() const override { return host.rank(); }
  int size() const override { return host.size(); }

  Group make_group(const std::vector<int> &members) override {
    const bool mine =
        std::find(members.begin(), members.end(), rank()) != members.end();
    ncclComm_t group = nullptr;
    check("make group", ncclCommSplit(world, mine ? 0 : NCCL_SPLIT_NOCOLOR,
                                      rank(), &group, nullptr));
    if (group) {
      watchdog->add(group);
      check("make group", windows.open(group));
    }
    groups.push_back(group);
    return {int(groups.size()) - 1, members};
  }

  /// On one stream.
  bool exchanges_in_order() const override { return true; }

  Event exchange(const char *task, int, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    return start(task, [&] {
      check(task, ncclGroupStart());
      for (const Message &m : sends)
        check(task, ncclSend(m.tensor.data, count(m.tensor),
                             nccl_type(m.tensor.type), m.peer, world, stream));
      for (const Message &m : receives)
        check(task, ncclRecv(m.tensor.data, count(m.tensor),
                             nccl_type(m.tensor.type), m.peer, world, stream));
      check(task, ncclGroupEnd());
    });
  }

  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op, CollectiveAlgorithm /*algorithm*/) override {
    return start(task, [&] {
      check(task, ncclAllReduce(data.data, data.data, count(data),
                                nccl_type(data.type), reduction(op),
                                group_of(task, group), stream));
    });
  }

  Event all_gather(const char *task, const Group &group, Tensor part,
                   Tensor whole) override {
    return start(task, [&] {
      check(task,
            ncclAllGather(part.data, whole.data, count(part),
                          nccl_type(part.type), group_of(task, group), stream));
    });
  }

  Event reduce_scatter(const char *task, const Group &group, Tensor whole,
                       Tensor part, ReduceOp op) override {
    return start(task, [&] {
      check(task, ncclReduceScatter(whole.data, part.data, count(part),
                                    nccl_type(part.type), reduction(op),
                                    group_of(task, group), stream));
    });
  }

  Event broadcast(const char *task, const Group &group, int root,
                  Tensor data) override {
    return start(task, [&] {
      check(task, ncclBroadcast(data.data, data.data, count(data),
                                nccl_type(data.type), root,
                                group_of(task, group), stream));
    });
  }

  void start_together(int count) override { to_start = count; }

  /// The step's stream waits, not the host.
  void wait(Event event) override {
    if (event.id < 0)
      return;
    Pending &p = pending[std::size_t(event.id)];
    cuda::check(cudaStreamWaitEvent(device().stream(), p.done, 0),
                "cudaStreamWaitEvent");
    p.used = false;
  }

  void barrier() override {
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    device().finish();
    host.barrier();
  }

  std::shared_ptr<void> allocate_symmetric(std::size_t bytes) {
    return windows.allocate(bytes);
  }

  void watch_replay() { watchdog->started(device().stream()); }

protected:
  void end_ranks(const char *task, const char *cause) override {
    host.fail(task, cause);
  }

private:
  /// An operation, from its start to its wait.
  struct Pending {
    bool used = false;
    /// An event of a capture is no more one that the host may ask for.
    bool captured = false;
    cudaEvent_t ready = nullptr, done = nullptr;
  };

  static std::size_t count(const Tensor &t) { return std::size_t(t.span()); }

  static ncclRedOp_t reduction(ReduceOp op) {
    return op == ReduceOp::sum ? ncclSum : ncclMax;
  }

  void check(const char *task, ncclResult_t status) {
    if (status != ncclSuccess)
      fail(task, (std::string("NCCL: ") + ncclGetErrorString(status)).c_str());
  }

  ncclComm_t group_of(const char *task, const Group &group) {
    if (group.id < 0 || std::size_t(group.id) >= groups.size() ||
        !groups[std::size_t(group.id)])
      fail(task, "expected a group of this rank, found another");
    return groups[std::size_t(group.id)];
  }

  /// An operation that is not under way, for one of a capture or not.
  std::size_t unused(bool captured) {
    std::size_t slot = 0;
    while (slot < pending.size() &&
           (pending[slot].used || pending[slot].captured != captured))
      ++slot;
    if (slot == pending.size()) {
      Pending &added = pending.emplace_back();
      added.captured = captured;
      for (cudaEvent_t *event : {&added.ready, &added.done})
        cuda::check(cudaEventCreateWithFlags(event, cudaEventDisableTiming),
                    "cudaEventCreate");
    }
    pending[slot].used = true;
    return slot;
  }

  /// The stream comes to a task after all that the step has enqueued.
  void begin(const char *task, const Pending &p) {
    cuda::check(cudaEventRecord(p.ready, device().stream()), "cudaEventRecord");
    // While the stream waits. But it becomes part of a capture as it waits.
    const bool can_say = is_captured(stream) == p.captured;
    if (can_say)
      watchdog->begins(task, stream);
    cuda::check(cudaStreamWaitEvent(stream, p.ready, 0), "cudaStreamWaitEvent");
    if (!can_say)
      watchdog->begins(task, stream);
  }

  /// Starts what `operation` enqueues after all that the step has enqueued. Of
  /// those that start as one, the first stands for all until the last has come.
  template <class F> Event start(const char *task, F &&operation) {
    const bool captured = is_captured(device().stream());
    const std::size_t slot = unused(captured);
    const bool is_first = starting.empty();
    starting.push_back(slot);
    if (is_first)
      begin(task, pending[slot]);
    if (is_first && to_start > 1)
      check(task, ncclGroupStart());
    operation();
    if (int(starting.size()) < to_start)
      return {int(slot)};
    if (to_start > 1)
      check(task, ncclGroupEnd());
    for (std::size_t each : starting)
      cuda::check(cudaEventRecord(pending[each].done, stream),
                  "cudaEventRecord");
    starting.clear();
    to_start = 1;
    if (!captured)
      watchdog->started(stream);
    return {int(slot)};
  }

  Comm &host;
  std::unique_ptr<Watchdog> watchdog;
  ncclComm_t world = nullptr;
  cudaStream_t stream = nullptr;
  NcclWindows windows;            ///< of the groups
  std::vector<ncclComm_t> groups; ///< null without this rank
  std::deque<Pending> pending;
  int to_start = 1;                  ///< so many operations start as one
  std::vector<std::size_t> starting; ///< those of them that have come
};

} // namespace

DeviceComm make_nccl_comm(Comm &host, const Group &world, bool share_gpus) {
  auto comm = std::make_unique<NcclComm>(host, world, share_gpus);
  NcclComm *const made = comm.get();
  // The host may have to wait while it starts an operation.
  auto watched = std::make_unique<WatchedComm>(std::move(comm), host.watch());
  DeviceComm result{std::move(watched), true, [made] { made->watch_replay(); },
                    nullptr};
  if (NcclWindows::are_known())
    result.allocate_symmetric = [made](std::size_t bytes) {
      return made->allocate_symmetric(bytes);
    };
  return result;
}

} // namespace ffrt::cuda
