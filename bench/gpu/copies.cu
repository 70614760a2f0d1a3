//===- copies.cu - how fast a GPU's memory is -----------------------------===//
//
// Bytes that are read and written, both counted.
//
//===----------------------------------------------------------------------===//
#include "measure.h"

namespace {

__global__ void copy(const float4 *from, float4 *to, std::size_t n) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
       i < n; i += stride)
    to[i] = from[i];
}

__global__ void add(const float4 *a, const float4 *b, float4 *to,
                    std::size_t n) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
       i < n; i += stride) {
    const float4 x = a[i], y = b[i];
    to[i] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
  }
}

__global__ void nothing() {}

void report(const char *what, double bytes, const Times &times) {
  std::printf("{\"what\": \"%s\", \"mbytes\": %.3f, \"ms\": %.5f, "
              "\"gb_per_s\": %.1f}\n",
              what, bytes / 1e6, times.median, bytes / times.median / 1e6);
}

} // namespace

int main() {
  constexpr int kThreads = 256;
  int processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  for (std::size_t bytes :
       {std::size_t(4) << 20, std::size_t(64) << 20, std::size_t(1) << 30}) {
    const Buffer a(bytes), b(bytes), c(bytes);
    const std::size_t n = bytes / sizeof(float4);
    const int blocks = int(std::min<std::size_t>(
        n / kThreads, std::size_t(processors) * 2048 / kThreads * 4));
    report("cudaMemcpy", 2.0 * double(bytes), measure([&] {
             CHECK(cudaMemcpyAsync(b.as<void>(), a.as<void>(), bytes,
                                   cudaMemcpyDeviceToDevice));
           }));
    report("copy", 2.0 * double(bytes), measure([&] {
             copy<<<blocks, kThreads>>>(a.as<float4>(), b.as<float4>(), n);
           }));
    report("add", 3.0 * double(bytes), measure([&] {
             add<<<blocks, kThreads>>>(a.as<float4>(), b.as<float4>(),
                                       c.as<float4>(), n);
           }));
  }
  const Times empty = measure([] { nothing<<<1, 1>>>(); });
  std::printf("{\"what\": \"empty kernel\", \"ms\": %.5f}\n", empty.median);
  // What a batch takes from the host.
  const std::size_t bytes = std::size_t(64) << 20;
  const Buffer device(bytes);
  void *host = nullptr;
  CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocDefault));
  report("from the host, pinned", double(bytes), measure([&] {
           CHECK(cudaMemcpyAsync(device.as<void>(), host, bytes,
                                 cudaMemcpyHostToDevice));
         }));
  std::vector<char> pages(bytes, 1);
  report("from the host, pageable", double(bytes), measure([&] {
           CHECK(cudaMemcpy(device.as<void>(), pages.data(), bytes,
                            cudaMemcpyHostToDevice));
         }));
  CHECK(cudaGetLastError());
  return 0;
}
