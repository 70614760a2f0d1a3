//===- conv_plans.cpp - has cuDNN engines for these convolutions? ---------===//
//
// conv_plans FILE: the convolutions that emulated programs have written
// (conv_shapes.h), planned for a device that is described.
//
//===----------------------------------------------------------------------===//
#include "conv_shapes.h"
#include "ffrt/error.h"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace ffrt::cuda;

int main(int argc, char **argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.insert(line);
  int bad = 0;
  for (const std::string &line : lines) {
    std::istringstream in(line);
    ConvShape shape;
    if (!read_shape(in, shape)) {
      std::fprintf(stderr, "error: expected a convolution, found '%s'\n",
                   line.c_str());
      return 2;
    }
    try {
      const ConvLibrary library(shape);
    } catch (const ffrt::Error &error) {
      std::printf("%s: %s\n", line.c_str(), error.what());
      ++bad;
    }
  }
  std::printf("%zu convolutions, %d without an engine\n", lines.size(), bad);
  return bad > 0 || lines.empty();
}
