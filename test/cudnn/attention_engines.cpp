//===- attention_engines.cpp - has cuDNN engines for attention? -----------===//
//
// Whether cuDNN proposes engines for the attention of examples on a device that
// is described. No plan is made of them: their code would be
// loaded by a driver.
//
//===----------------------------------------------------------------------===//
#include "attention_shapes.h"
#include "cuda/attention/attention_graph.h"
#include "ffrt/error.h"

#include <cstdio>

using namespace ffrt::cuda;

/// The names of all that is proposed, or why nothing is.
static bool report(const char *model, const AttentionShape &shape) {
  std::printf("%s: %s:", model, text_of(shape).c_str());
  bool found = false;
  try {
    CudnnGraph graph = attention_graph(shape);
    for (const CudnnProposal &proposal : graph.proposals(CudnnPrecision::low)) {
      std::printf(" [%s]", proposal.name.c_str());
      found = true;
    }
  } catch (const ffrt::Error &error) {
    std::printf(" %s", error.what());
  }
  std::printf("\n");
  return found;
}

int main() {
  bool all = true;
  for (const ModelAttention &attention : attention_shapes()) {
    all &= report(attention.model, attention.shape);
    all &= report(attention.model, attention.gradient());
  }
  return all ? 0 : 1;
}
