//===- machine.cpp - what a profile was measured on -----------------------===//
#include "common/profiling/machine.h"

#include "common/device/machine_id.h"
#include "common/program/together.h"
#include "cuda/conv/conv_library.h"
#include "cuda/matmul/gemm.h"
#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"
#include "ffrt/mpi.h"

#include <cstdio>
#include <cuda_runtime.h>
#include <map>
#include <nccl.h>

namespace ffrt {

using cuda::check;

namespace {

int count_gpus() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

} // namespace

std::string machine_name() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device),
        "cudaGetDeviceProperties");
  const int gpus = count_gpus();
  return std::string(properties.name) + ", " + std::to_string(gpus) +
         (gpus == 1 ? " GPU" : " GPUs");
}

std::string own_gpu() {
  cuda::device(); // which is chosen then
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device),
        "cudaGetDeviceProperties");
  std::string text = "GPU-";
  for (char byte : properties.uuid.bytes) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", unsigned(byte) & 0xffu);
    text += hex;
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> library_versions() {
  int driver = 0, nccl = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  ncclGetVersion(&nccl);
  return {{"driver", std::to_string(driver)},
          {"products", cuda::Gemm::version()},
          {"convolutions", cuda::ConvLibrary::version()},
          {"nccl", std::to_string(nccl)},
          {"mpi", mpi_version()},
          {"compiler", __VERSION__}};
}

int count_cores(Comm &comm, const Group &world) {
  int64_t mine[] = {machine_id(comm.rank()), count_gpus()};
  std::vector<int64_t> all(2 * std::size_t(comm.size()));
  comm.wait(comm.all_gather("cores", world, flat(mine, DType::i64, 2),
                            flat(all.data(), DType::i64, int64_t(all.size()))));
  std::map<int64_t, int64_t> gpus;
  for (std::size_t i = 0; i < all.size(); i += 2)
    gpus[all[i]] = all[i + 1];
  int count = 0;
  for (const auto &[machine, those] : gpus)
    count += int(those);
  return count;
}

} // namespace ffrt
