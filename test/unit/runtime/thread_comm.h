//===- thread_comm.h - ranks that are threads of a test ---------*- C++ -*-===//
#ifndef FFRT_TEST_THREAD_COMM_H
#define FFRT_TEST_THREAD_COMM_H

#include "ffrt/comm.h"
#include "ffrt/error.h"

#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace ffrt_test {

/// What ranks that are threads share.
class Meeting {
public:
  explicit Meeting(int ranks) : ranks(ranks), data(std::size_t(ranks)) {}

  /// Returns when all ranks have come.
  void meet() {
    std::unique_lock<std::mutex> lock(mutex);
    const int64_t round = rounds;
    if (++here == ranks) {
      here = 0;
      ++rounds;
      all.notify_all();
      return;
    }
    all.wait(lock, [&] { return rounds != round; });
  }

  const int ranks;
  std::vector<const ffrt::Tensor *> data; ///< by rank

private:
  std::mutex mutex;
  std::condition_variable all;
  int here = 0;
  int64_t rounds = 0;
};

/// Collectives over all ranks, of integers.
class ThreadComm final : public ffrt::Comm {
public:
  ThreadComm(int rank, Meeting &meeting) : mine(rank), meeting(meeting) {}

  int rank() const override { return mine; }
  int size() const override { return meeting.ranks; }
  bool exchanges_in_order() const override { return false; }
  ffrt::Group make_group(const std::vector<int> &members) override {
    return {0, members};
  }
  ffrt::Group world() const {
    std::vector<int> members(static_cast<std::size_t>(size()));
    std::iota(members.begin(), members.end(), 0);
    return {0, members};
  }
  ffrt::Event exchange(const char *, int, const std::vector<ffrt::Message> &,
                       const std::vector<ffrt::Message> &) override {
    throw ffrt::Error("expected collectives, found an exchange");
  }
  ffrt::Event all_reduce(const char *, const ffrt::Group &, ffrt::Tensor data,
                         ffrt::ReduceOp, ffrt::CollectiveAlgorithm) override {
    std::vector<int64_t> most(std::size_t(data.elements()), INT64_MIN);
    show(data, [&](const ffrt::Tensor &of) {
      for (std::size_t i = 0; i < most.size(); ++i)
        most[i] = std::max(most[i], number(of, i));
    });
    for (std::size_t i = 0; i < most.size(); ++i)
      if (data.type == ffrt::DType::i64)
        data.as<int64_t>()[i] = most[i];
      else
        data.as<int32_t>()[i] = int32_t(most[i]);
    meeting.meet();
    return {};
  }
  ffrt::Event all_gather(const char *, const ffrt::Group &, ffrt::Tensor part,
                         ffrt::Tensor whole) override {
    std::byte *to = whole.as<std::byte>();
    const std::size_t bytes =
        std::size_t(part.elements()) * ffrt::size_of(part.type);
    show(part, [&](const ffrt::Tensor &of) {
      std::memcpy(to, of.data, bytes);
      to += bytes;
    });
    meeting.meet();
    return {};
  }
  ffrt::Event reduce_scatter(const char *, const ffrt::Group &, ffrt::Tensor,
                             ffrt::Tensor, ffrt::ReduceOp) override {
    throw ffrt::Error("expected no reduce-scatter");
  }
  ffrt::Event broadcast(const char *, const ffrt::Group &, int,
                        ffrt::Tensor) override {
    throw ffrt::Error("expected no broadcast");
  }
  void wait(ffrt::Event) override {}
  void barrier() override { meeting.meet(); }

protected:
  void end_ranks(const char *, const char *) override {}

private:
  /// Calls f with what every rank has, by rank, when all have come.
  void show(const ffrt::Tensor &data,
            const std::function<void(const ffrt::Tensor &)> &f) {
    meeting.data[std::size_t(mine)] = &data;
    meeting.meet();
    for (const ffrt::Tensor *of : meeting.data)
      f(*of);
    meeting.meet();
  }
  static int64_t number(const ffrt::Tensor &t, std::size_t i) {
    return t.type == ffrt::DType::i64 ? t.as<int64_t>()[i]
                                      : int64_t(t.as<int32_t>()[i]);
  }

  const int mine;
  Meeting &meeting;
};

/// Runs f(comm) on so many ranks; what a rank throws is thrown, the lowest's
/// first.
inline void on_threads(int ranks, const std::function<void(ThreadComm &)> &f) {
  Meeting meeting(ranks);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      ThreadComm comm(rank, meeting);
      try {
        f(comm);
      } catch (...) {
        thrown[std::size_t(rank)] = std::current_exception();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::exception_ptr &exception : thrown)
    if (exception)
      std::rethrow_exception(exception);
}

} // namespace ffrt_test

#endif // FFRT_TEST_THREAD_COMM_H
