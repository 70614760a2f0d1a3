//===- conv_plans.cpp - has cuDNN engines for these convolutions? ---------===//
//
// conv_plans FILE: the convolutions that emulated programs have written
// (conv_shapes.h), planned for a device that is described. For one at least of
// those that are followed by bias and bounds there must be an engine that does
// these too.
//
//===----------------------------------------------------------------------===//
#include "conv_shapes.h"
#include "cuda/conv/conv_graph.h"
#include "ffrt/error.h"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace ffrt::cuda;

/// Of the types that it has, with weights in the order of the images. What is
/// proposed for narrow operands and several operations is compiled for a plan,
/// which wants a driver.
static bool has_engine(ConvShape shape, bool finishes) {
  const bool narrow = shape.operand_type() != ffrt::DType::f32;
  shape.w.order = shape.y.order;
  try {
    CudnnGraph graph = conv_graph(shape, finishes);
    for (const CudnnProposal &proposal :
         graph.proposals(narrow ? CudnnPrecision::low : CudnnPrecision::f32)) {
      if (!narrow || !finishes)
        const CudnnPlan plan(text_of(shape), proposal);
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
  int bad = 0, open = 0, finished = 0, narrow = 0;
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
      finished += can_finish(shape) && has_engine(shape, true);
      // Weight gradients are rounded to the type of their operands.
      if (shape.kind == ConvShape::Kind::weight_gradient)
        shape.w.type = shape.operand_type();
      if (shape.result().type == ffrt::DType::f32)
        continue;
      // Sums of f32 are a way out, but operands of f32 are none.
      ++narrow;
      if (shape.is_finished() && !has_engine(shape, false)) {
        std::printf("%s: no engine writes a narrow result\n", line.c_str());
        ++bad;
      }
    } catch (const ffrt::Error &error) {
      std::printf("%s: %s\n", line.c_str(), error.what());
      ++bad;
    }
  }
  std::printf("%zu convolutions, %d with narrow results, %d without an engine; "
              "of %d with bias or bounds, engines finish %d\n",
              lines.size(), narrow, bad, open, finished);
  return bad > 0 || lines.empty() || (open > 0 && finished == 0);
}
