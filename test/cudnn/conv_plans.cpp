//===- conv_plans.cpp - has cuDNN engines for these convolutions? ---------===//
//
// conv_plans FILE: the convolutions that emulated programs have written
// (conv_shapes.h), planned for a device that is described. For one at least of
// those that are followed by bias and bounds there must be an engine that does
// these too. Of bf16 and f16, tensor cores must multiply all; a program that
// has such may have others in f32 of channels that are each alone.
//
//===----------------------------------------------------------------------===//
#include "conv_shapes.h"
#include "cuda/conv/conv_graph.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace ffrt::cuda;
using ffrt::DType;
using Kind = ConvShape::Kind;

namespace {

/// Calls take(proposal) for what is proposed for `shape` in the types that it
/// has, with weights in the order of the images, until one is taken.
template <class F> bool any_engine(ConvShape shape, bool finishes, F &&take) {
  shape.w.order = shape.y.order;
  const bool narrow = shape.operand_type() != DType::f32;
  try {
    CudnnGraph graph = conv_graph(shape, finishes);
    const auto found = graph.proposals(narrow       ? CudnnPrecision::low
                                       : shape.tf32 ? CudnnPrecision::tf32
                                                    : CudnnPrecision::f32);
    return std::any_of(found.begin(), found.end(), take);
  } catch (const ffrt::Error &) {
    return false;
  }
}

/// What is proposed for narrow operands and several operations is compiled for
/// a plan, which wants a driver.
bool has_engine(const ConvShape &shape, bool finishes) {
  return any_engine(shape, finishes, [&](const CudnnProposal &proposal) {
    try {
      if (shape.operand_type() == DType::f32 || !finishes)
        const CudnnPlan plan(text_of(shape), proposal);
      return true;
    } catch (const ffrt::Error &) {
      return false;
    }
  });
}

/// Which engines the convolutions of a direction have, of the best kind.
struct Engines {
  int compiled = 0; ///< tensor cores, and cuDNN brings the code
  int late = 0;     ///< tensor cores, with code that is compiled for a plan
  int widened = 0;  ///< tensor cores after operands have become TF32
  int none = 0;

  int all() const { return compiled + late + widened + none; }
};

/// With narrow operands, as the library asks for them.
bool count(ConvShape shape, Engines &engines) {
  bool late = false;
  const auto look = [&](const ConvShape &form, bool finishes) {
    return any_engine(form, finishes, [&](const CudnnProposal &each) {
      late |= each.tensor_cores && each.compiles;
      return each.tensor_cores && !each.compiles;
    });
  };
  // Weight gradients are rounded to the type of their operands.
  if (shape.kind == Kind::weight_gradient)
    shape.w.type = shape.operand_type();
  ConvShape sums = shape; // of what a kernel of ours finishes
  if (!shape.is_finished())
    sums.y.type = DType::f32;
  if (look(sums, false) || (can_finish(shape) && look(shape, true))) {
    ++engines.compiled;
    return true;
  }
  if (late) {
    ++engines.late;
    return true;
  }
  for (ffrt::Tensor *t : {&sums.x, &sums.w, &sums.y})
    t->type = DType::f32;
  sums.tf32 = true;
  bool found = look(sums, false);
  for (ffrt::Tensor *t : {&sums.x, &sums.w, &sums.y})
    t->order = ffrt::Order::row_major;
  found |= look(sums, false) || late;
  ++(found ? engines.widened : engines.none);
  return found;
}

/// A tensor core has nothing to add up for a channel that is alone.
bool is_depthwise(const ConvShape &shape) {
  return shape.w.shape[1] == 1 && shape.x.shape[1] > 1;
}

void print(const char *direction, const Engines &engines) {
  std::printf("%s: %d of bf16 or f16, by tensor cores %d (for %d of them code "
              "is compiled, %d become TF32), without %d\n",
              direction, engines.all(), engines.all() - engines.none,
              engines.late, engines.widened, engines.none);
}

} // namespace

int main(int argc, char **argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.insert(line);
  int bad = 0, open = 0, finished = 0, narrow = 0, depthwise = 0;
  std::vector<std::string> wide; // in f32, and not depthwise
  Engines by_kind[3];
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
      if (shape.operand_type() == DType::f32) {
        is_depthwise(shape) ? void(++depthwise) : wide.push_back(line);
        continue;
      }
      if (!count(shape, by_kind[int(shape.kind)])) {
        std::printf("%s: no engine uses tensor cores\n", line.c_str());
        ++bad;
      }
      if (shape.kind == Kind::weight_gradient)
        shape.w.type = shape.operand_type();
      if (shape.result().type == DType::f32)
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
  const int all_narrow = by_kind[0].all() + by_kind[1].all() + by_kind[2].all();
  if (all_narrow > 0) {
    for (const std::string &line : wide)
      std::printf("%s: operands are f32 beside others that are narrow\n",
                  line.c_str());
    bad += int(wide.size());
  }
  std::printf("%zu convolutions, %d with narrow results, %d without an engine; "
              "of %d with bias or bounds, engines finish %d\n",
              lines.size(), narrow, bad, open, finished);
  const char *const directions[] = {"forward", "image gradients",
                                    "weight gradients"};
  for (int kind = 0; kind < 3; ++kind)
    if (by_kind[kind].all() > 0)
      print(directions[kind], by_kind[kind]);
  if (all_narrow > 0)
    std::printf("f32: %d of channels that are alone, %zu others\n", depthwise,
                wide.size());
  return bad > 0 || lines.empty() || (open > 0 && finished == 0);
}
