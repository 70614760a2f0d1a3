//===- calls.h - counts of calls of CUDA ------------------------*- C++ -*-===//
//
// A line of JSON in the file that FFC_CALLS names: the calls between the starts
// of graphs, all but the first few, and the sizes of all memory that was
// allocated. A step is started as one or two graphs.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_BENCH_GPU_CALLS_H
#define FFC_BENCH_GPU_CALLS_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

class Calls {
public:
  /// Lives to the end of the process.
  static Calls &all() {
    static Calls *const only = new Calls;
    return *only;
  }

  void called(const std::string &name) {
    const std::lock_guard<std::mutex> guard(lock);
    if (name.rfind("cudaGraphLaunch", 0) == 0) {
      if (++launches > kWarmUp)
        for (const auto &[other, count] : between)
          counted[other] += count;
      between.clear();
    } else if (launches >= kWarmUp) {
      ++between[name];
    }
  }

  void allocated(std::size_t bytes) {
    const std::lock_guard<std::mutex> guard(lock);
    sizes.push_back(bytes);
  }

  void write() {
    const std::lock_guard<std::mutex> guard(lock);
    const char *path = std::getenv("FFC_CALLS");
    FILE *file = path ? std::fopen(path, "w") : nullptr;
    if (!file)
      return;
    std::string calls, bytes;
    for (const auto &[name, count] : counted)
      calls += (calls.empty() ? "\"" : ", \"") + name +
               "\": " + std::to_string(count);
    for (std::size_t size : sizes)
      bytes += (bytes.empty() ? "" : ", ") + std::to_string(size);
    std::fprintf(file,
                 "{\"launches\": %ld, \"calls\": {%s}, \"sizes\": [%s]}\n",
                 launches > kWarmUp ? launches - kWarmUp : 0, calls.c_str(),
                 bytes.c_str());
    std::fclose(file);
  }

private:
  /// Starts of graphs until steps are alike: kernels are chosen and graphs are
  /// made in the first steps.
  static constexpr long kWarmUp = 8;

  std::mutex lock;
  long launches = 0;
  std::map<std::string, long> between, counted;
  std::vector<std::size_t> sizes;
};

#endif // FFC_BENCH_GPU_CALLS_H
