//===- shell.cpp - programs that tests run --------------------------------===//
#include "shell.h"

#include "common/data/npy.h"

#include <cstdio>
#include <sys/wait.h>

namespace ffrt {

Result shell(const std::string &command) {
  FILE *pipe = popen(("timeout -k 5 90 " + command + " 2>&1").c_str(), "r");
  Result result{};
  char buffer[4096];
  while (std::size_t n = fread(buffer, 1, sizeof buffer, pipe))
    result.text.append(buffer, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

int count(const std::string &text, const std::string &part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

std::vector<double> read(const std::string &path) {
  const NpyFile file(path);
  std::size_t n = 1;
  for (int64_t extent : file.shape)
    n *= std::size_t(extent);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(
        file.type == DType::f64
            ? reinterpret_cast<const double *>(file.data())[i]
            : double(reinterpret_cast<const float *>(file.data())[i]));
  return values;
}

} // namespace ffrt
