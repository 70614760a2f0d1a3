//===- solo_comm.cpp - programs of one rank without MPI -------------------===//
//
// In the place of all that is made of MPI, where the runtime is built without
// it (FFRT_MPI): for machines that have none.
//
//===----------------------------------------------------------------------===//
#include "comm/threads.h"
#include "ffrt/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ffrt {

namespace {

/// Ranks of one: what they send themselves is there already.
class SoloComm final : public Comm {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Group make_group(const std::vector<int> &members) override {
    return {groups++, members};
  }
  Event exchange(const char *task, int, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    if (!sends.empty() || !receives.empty())
      fail(task, "expected no messages of a single rank, found some");
    return {};
  }
  Event all_reduce(const char *, const Group &, Tensor, ReduceOp) override {
    return {};
  }
  Event all_gather(const char *, const Group &, Tensor part,
                   Tensor whole) override {
    move(whole, part);
    return {};
  }
  Event reduce_scatter(const char *, const Group &, Tensor whole, Tensor part,
                       ReduceOp) override {
    move(part, whole);
    return {};
  }
  Event broadcast(const char *, const Group &, int, Tensor) override {
    return {};
  }
  void wait(Event) override {}
  void barrier() override {}
  [[noreturn]] void fail(const char *task, const char *cause) override {
    std::fprintf(stderr, "error: rank 0: %s: %s\n", task, cause);
    std::fflush(nullptr);
    std::_Exit(1);
  }

private:
  static void move(const Tensor &to, const Tensor &from) {
    std::memmove(to.data, from.data,
                 std::size_t(from.elements()) * size_of(from.type));
  }

  int groups = 0;
};

} // namespace

std::unique_ptr<Comm> make_mpi_comm() { return std::make_unique<SoloComm>(); }

std::unique_ptr<Comm> make_comm(Transport) { return make_mpi_comm(); }

std::string mpi_version() { return "none"; }

int set_threads() { return set_threads(own_cores(), 1); }

} // namespace ffrt
