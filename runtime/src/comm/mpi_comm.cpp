//===- mpi_comm.cpp - communication over MPI ------------------------------===//
//
// Point-to-point messages are non-blocking; collectives complete inside the
// call.
//
//===----------------------------------------------------------------------===//
#include "comm/mpi_comm.h"

#include "comm/mpi_launch.h"
#include "common/program/terminal.h"
#include "common/program/together.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/function.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cstdio>
#include <mpi.h>
#include <string>

namespace ffrt {

namespace {

/// Counts of MPI are ints; larger buffers go in pieces of this many elements.
constexpr int64_t kPiece = int64_t(1) << 30;

MPI_Datatype mpi_type(DType type) {
  switch (type) {
  case DType::f32:
    return MPI_FLOAT;
  case DType::f64:
    return MPI_DOUBLE;
  case DType::i32:
    return MPI_INT32_T;
  case DType::i64:
    return MPI_INT64_T;
  case DType::u8:
  case DType::boolean:
    return MPI_UINT8_T;
  case DType::bf16:
  case DType::f16:
    return MPI_UINT16_T;
  }
  return MPI_DATATYPE_NULL;
}

template <class T, ReduceOp Op>
void combine(void *from, void *to, int *count, MPI_Datatype *) {
  const T *a = static_cast<const T *>(from);
  T *b = static_cast<T *>(to);
  for (int i = 0; i < *count; ++i)
    b[i] = Op == ReduceOp::sum ? T(a[i] + b[i]) : larger(a[i], b[i]);
}

/// The operations on a type that are not MPI's own: it does not know floats of
/// 16 bits, and its maxima drop what is not a number.
struct OwnOps {
  MPI_Op sum = MPI_SUM, max = MPI_OP_NULL;

  template <class T> void create() {
    if (sizeof(T) == 2)
      MPI_Op_create(combine<T, ReduceOp::sum>, true, &sum);
    MPI_Op_create(combine<T, ReduceOp::max>, true, &max);
  }
  void free() {
    if (sum != MPI_SUM)
      MPI_Op_free(&sum);
    MPI_Op_free(&max);
  }
};

class MpiComm final : public Network {
public:
  MpiComm() {
    prepare_mpi_environment();
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) !=
        MPI_SUCCESS)
      throw Error("MPI could not start");
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &my_rank);
    MPI_Comm_size(world, &ranks);
    of_f32.create<float>();
    of_f64.create<double>();
    of_bf16.create<BFloat16>();
    of_f16.create<Float16>();
  }

  ~MpiComm() override {
    for (MPI_Comm &comm : groups)
      if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    of_f32.free();
    of_f64.free();
    of_bf16.free();
    of_f16.free();
    MPI_Comm_free(&world);
    MPI_Finalize();
  }

  int rank() const override { return my_rank; }
  int size() const override { return ranks; }
  bool exchanges_in_order() const override { return false; }

  Group make_group(const std::vector<int> &members) override {
    const char *task = "make group";
    MPI_Group all, chosen;
    MPI_Comm comm;
    check(task, MPI_Comm_group(world, &all));
    check(task,
          MPI_Group_incl(all, int(members.size()), members.data(), &chosen));
    check(task, MPI_Comm_create(world, chosen, &comm));
    MPI_Group_free(&chosen);
    MPI_Group_free(&all);
    if (comm != MPI_COMM_NULL)
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    groups.push_back(comm);
    return {int(groups.size()) - 1, members};
  }

  Event exchange(const char *task, int tag, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    int slot = free_slot();
    std::vector<MPI_Request> &requests = pending[slot].requests;
    pending[slot].task = task;
    for (const Message &m : receives)
      for_pieces(m.tensor, [&](char *data, int count) {
        requests.emplace_back();
        check(task, MPI_Irecv(data, count, MPI_BYTE, m.peer, tag, world,
                              &requests.back()));
      });
    for (const Message &m : sends)
      for_pieces(m.tensor, [&](char *data, int count) {
        requests.emplace_back();
        check(task, MPI_Isend(data, count, MPI_BYTE, m.peer, tag, world,
                              &requests.back()));
      });
    return {slot};
  }

  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op, CollectiveAlgorithm /*algorithm*/) override {
    MPI_Comm comm = comm_of(task, group);
    char *at = data.as<char>();
    for (int64_t left = data.span(); left > 0; left -= kPiece) {
      int count = int(std::min(left, kPiece));
      check(task, MPI_Allreduce(MPI_IN_PLACE, at, count, mpi_type(data.type),
                                mpi_op(data.type, op), comm));
      at += count * size_of(data.type);
    }
    return {};
  }

  Event all_gather(const char *task, const Group &group, Tensor part,
                   Tensor whole) override {
    MPI_Comm comm = comm_of(task, group);
    const int count = block_count(task, group, part, whole);
    int me = 0;
    check(task, MPI_Comm_rank(comm, &me));
    const bool in_place =
        part.as<char>() ==
        whole.as<char>() + int64_t(me) * count * int64_t(size_of(part.type));
    check(task, MPI_Allgather(in_place ? MPI_IN_PLACE : part.data, count,
                              mpi_type(part.type), whole.data, count,
                              mpi_type(part.type), comm));
    return {};
  }

  Event reduce_scatter(const char *task, const Group &group, Tensor whole,
                       Tensor part, ReduceOp op) override {
    MPI_Comm comm = comm_of(task, group);
    const int count = block_count(task, group, part, whole);
    check(task, MPI_Reduce_scatter_block(whole.data, part.data, count,
                                         mpi_type(part.type),
                                         mpi_op(whole.type, op), comm));
    return {};
  }

  Event broadcast(const char *task, const Group &group, int root,
                  Tensor data) override {
    MPI_Comm comm = comm_of(task, group);
    for_pieces(data, [&](char *at, int count) {
      check(task, MPI_Bcast(at, count, MPI_BYTE, root, comm));
    });
    return {};
  }

  void wait(Event event) override {
    if (event.id < 0)
      return;
    Pending &p = pending[event.id];
    check(p.task, MPI_Waitall(int(p.requests.size()), p.requests.data(),
                              MPI_STATUSES_IGNORE));
    p.requests.clear();
    p.task = nullptr;
  }

  std::size_t wait_any(const std::vector<Event> &events) override {
    for (std::size_t i = 0;; i = (i + 1) % events.size())
      if (test(events[i]))
        return i;
  }

  bool test(Event event) override {
    if (event.id < 0)
      return true;
    Pending &p = pending[event.id];
    int done = 0;
    check(p.task, MPI_Testall(int(p.requests.size()), p.requests.data(), &done,
                              MPI_STATUSES_IGNORE));
    if (done) {
      p.requests.clear();
      p.task = nullptr;
    }
    return done;
  }

  void barrier() override { check("barrier", MPI_Barrier(world)); }

protected:
  void end_ranks(const char *task, const char *cause) override {
    std::fflush(stdout);
    if (cause)
      print_error("error: rank " + std::to_string(my_rank) + ": " + task +
                  ": " + cause);
    MPI_Abort(world, 1);
  }

private:
  /// Requests of one exchange; slots and their vectors are reused, so that
  /// steps after the first allocate nothing.
  struct Pending {
    std::vector<MPI_Request> requests;
    const char *task = nullptr; ///< null: free
  };

  int free_slot() {
    for (std::size_t i = 0; i < pending.size(); ++i)
      if (!pending[i].task)
        return int(i);
    pending.emplace_back();
    return int(pending.size()) - 1;
  }

  void check(const char *task, int code) {
    if (code == MPI_SUCCESS)
      return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail(task, text);
  }

  MPI_Comm comm_of(const char *task, const Group &group) {
    if (group.id < 0 || group.id >= int(groups.size()) ||
        groups[group.id] == MPI_COMM_NULL)
      fail(task, kStranger);
    return groups[group.id];
  }

  /// Elements of `part`, after a check against `whole`.
  int block_count(const char *task, const Group &group, const Tensor &part,
                  const Tensor &whole) {
    const std::string mismatch = block_mismatch(group, part, whole);
    if (!mismatch.empty())
      fail(task, mismatch.c_str());
    const int64_t count = part.span();
    if (count > kPiece) {
      std::string cause = "expected at most " + std::to_string(kPiece) +
                          " elements per rank, found " + std::to_string(count);
      fail(task, cause.c_str());
    }
    return int(count);
  }

  MPI_Op mpi_op(DType type, ReduceOp op) const {
    const bool sum = op == ReduceOp::sum;
    if (type == DType::f32)
      return sum ? of_f32.sum : of_f32.max;
    if (type == DType::f64)
      return sum ? of_f64.sum : of_f64.max;
    if (type == DType::bf16)
      return sum ? of_bf16.sum : of_bf16.max;
    if (type == DType::f16)
      return sum ? of_f16.sum : of_f16.max;
    return sum ? MPI_SUM : MPI_MAX;
  }

  template <class F> static void for_pieces(const Tensor &tensor, F &&f) {
    int64_t left = tensor.span() * int64_t(size_of(tensor.type));
    for (char *at = tensor.as<char>(); left > 0; left -= kPiece, at += kPiece)
      f(at, int(std::min(left, kPiece)));
  }

  MPI_Comm world = MPI_COMM_NULL;
  OwnOps of_f32, of_f64, of_bf16, of_f16;
  int my_rank = 0, ranks = 1;
  std::vector<MPI_Comm> groups;
  std::vector<Pending> pending;
};

} // namespace

std::unique_ptr<Network> make_mpi_network() {
  return std::make_unique<MpiComm>();
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string library(text, std::size_t(length));
  return library.substr(0, library.find_first_of(",\n"));
}

std::unique_ptr<Comm> make_mpi_comm() { return make_mpi_network(); }

} // namespace ffrt
