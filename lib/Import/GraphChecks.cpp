//===- GraphChecks.cpp - what must hold before anything is decided --------===//

#include "GraphChecks.h"

#include "Fold.h"
#include "Graph.h"
#include "NewerFields.h"
#include "OpTable.h"
#include "OpVersions.h"

#include "llvm/ADT/STLExtras.h"

#include <climits>

using namespace ffc::importer;
using llvm::Error;
using llvm::Twine;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

Error ffc::importer::checkCounts(const NodeProto &node, int64_t opset) {
  const std::string name = operatorName(node);
  const OpInfo *info = lookupOp(name);
  const Folder *folder = lookupFolder(name);
  if (!info && !folder)
    return Error::success();
  if (isStandardDomain(node.domain()))
    if (Error error = checkMostOperands(node, opset))
      return error;
  const int least = info ? info->minInputs : static_cast<int>(folder->required);
  const int most = info ? info->maxInputs : INT_MAX;
  const int found = node.input_size();
  if (found > most)
    return makeError("expected at most " + Twine(most) + " operands, found " +
                     Twine(found));
  if (found < least)
    return makeError("expected at least " + Twine(least) + " operands, found " +
                     Twine(found));
  for (int i = 0; i < least; ++i)
    if (node.input(i).empty())
      return makeError("expected at least " + Twine(least) +
                       " operands, found none as operand " + Twine(i));
  if (node.output_size() == 0)
    return makeError("expected a result");
  return Error::success();
}

namespace {

class GraphChecker {
public:
  GraphChecker(const TensorData &data, int64_t opset)
      : data(data), opset(opset) {}

  Error check(const GraphProto &graph) {
    names.addNodes(graph);
    llvm::StringSet<> seen;
    for (const TensorProto &tensor : graph.initializer()) {
      const std::string text = "initializer '" + tensor.name() + "'";
      if (!seen.insert(tensor.name()).second)
        return makeError(text + " is defined already");
      if (Error error = check(tensor))
        return makeError(text + ": " + llvm::toString(std::move(error)));
    }
    for (const NodeProto &node : graph.node()) {
      if (Error error = check(node))
        return makeError(describe(node, names.nameOf(node)) + ": " +
                         llvm::toString(std::move(error)));
      Error error = Error::success();
      forEachSubgraph(node, [&](const GraphProto &inner) {
        if (!error)
          error = check(inner);
      });
      if (error)
        return error;
    }
    return Error::success();
  }

private:
  const TensorData &data;
  int64_t opset;
  NameTable names;

  Error check(const TensorProto &tensor) const {
    return elementBytes(tensor.data_type()) == 0 ? Error::success()
                                                 : data.check(tensor);
  }

  Error check(const NodeProto &node) const {
    if (Error error = checkCounts(node, ownOpsetOf(node).value_or(opset)))
      return error;
    if (operatorName(node) == "Constant")
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.has_t())
          if (Error error = check(attribute.t()))
            return error;
    return Error::success();
  }
};

} // namespace

Error ffc::importer::checkGraph(const GraphProto &graph, const TensorData &data,
                                int64_t opset) {
  return GraphChecker(data, opset).check(graph);
}
