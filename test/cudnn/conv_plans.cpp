//===- conv_plans.cpp - has cuDNN engines for these convolutions? ---------===//
//
// conv_plans FILE: the convolutions that emulated programs have written
// (conv_shapes.h), planned for a device that is described. For one at least of
// those that are followed by bias and bounds there must be an engine that does
// these too.
//
//===----------------------------------------------------------------------===//
#include "conv_shapes.h"
#include "cuda/conv_graph.h"
#include "ffrt/error.h"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace ffrt::cuda;

static bool is_finished_by_an_engine(ConvShape shape) {
  shape.w.order = shape.y.order;
  try {
    CudnnGraph graph = conv_graph(shape, true);
    for (const CudnnProposal &proposal : graph.proposals(CudnnFactors::f32)) {
      const CudnnPlan plan(proposal);
      return true;
    }
  } catch (const ffrt::Error &) {
  }
  return false;
}

int main(int argc, char **argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.insert(line);
  int bad = 0, open = 0, finished = 0;
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
      open += can_finish(shape);
      finished += can_finish(shape) && is_finished_by_an_engine(shape);
    } catch (const ffrt::Error &error) {
      std::printf("%s: %s\n", line.c_str(), error.what());
      ++bad;
    }
  }
  std::printf("%zu convolutions, %d without an engine; of %d with bias or "
              "bounds, engines finish %d\n",
              lines.size(), bad, open, finished);
  return bad > 0 || lines.empty() || (open > 0 && finished == 0);
}
