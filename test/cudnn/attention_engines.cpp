//===- attention_engines.cpp - has cuDNN engines for attention? -----------===//
//
// Whether cuDNN proposes engines for the graphs of bench/gpu/attention_graph.h
// on a device that is described. No plan is made of them: their code would be
// loaded by a driver.
//
//===----------------------------------------------------------------------===//
#include "attention_graph.h"
#include "ffrt/error.h"

#include <cstdio>

using namespace ffrt::cuda;

/// The names of all that is proposed, or why nothing is.
static bool report(const AttentionShape &shape, const char *direction,
                   CudnnGraph graph) {
  std::printf("%s, %s:", text_of(shape).c_str(), direction);
  bool found = false;
  try {
    for (const CudnnProposal &proposal :
         graph.proposals(CudnnFactors::narrow)) {
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
  for (const AttentionShape &shape : attention_shapes()) {
    all &= report(shape, "forward", attention_forward_graph(shape));
    all &= report(shape, "backward", attention_backward_graph(shape));
  }
  return all ? 0 : 1;
}
