//===- FlexFlowLayers.h - finds the layers of a graph -----------*- C++ -*-===//
#ifndef FFC_LIB_PLAN_FLEXFLOWLAYERS_H
#define FFC_LIB_PLAN_FLEXFLOWLAYERS_H

#include "ffc/Plan/FlexFlowModel.h"

#include <map>

namespace ffc::plan {

/// Goes through the forward operators and notes for each value where it comes
/// from. What no layer and no loss reads may be anything.
class FlexFlowLayers {
public:
  FlexFlowLayers(const Graph &graph, FlexFlowModel &model);

  /// Fills the model. Returns false, with a message in `error`, if something is
  /// read that the simulator has no operator for.
  bool find(std::string &error);

private:
  /// Where a value comes from.
  struct Source {
    enum class Kind {
      Data,      ///< inputs of the step
      Parameter, ///< states alone
      Layer,
      Joined, ///< several layers, which the loss may read
      Other,  ///< an operator that is none of the simulator's
    };
    Kind kind = Kind::Data;
    int layer = -1;
    StateId state = -1;
    OpId joins = -1;     ///< of Joined, who made it
    std::string problem; ///< of Other, what is said of who made it
  };

  void visit(OpId id);
  /// What an operator's results are; adds layers.
  Source sourceOf(OpId id);
  Source convolution(OpId id);
  Source linear(OpId id);
  Source lstm(OpId id);
  Source embedding(OpId id);
  Source concatenation(OpId id);
  /// A layer without parameters that reads the first operand.
  Source plain(OpId id, FlexFlowLayer::Kind kind);

  /// Is the product nothing but the part of an LSTM that reads its input?
  bool isLstmInput(const Op &op) const;
  /// Is it part of the layer that it reads?
  bool isPartOfLayer(OpId id) const;
  /// Does it take the time steps of one operator out of an embedding's?
  bool isBlock(const Op &slice, const Source &of) const;

  /// A layer of the forward operator `id` whose result has that shape after the
  /// samples.
  FlexFlowLayer layer(OpId id, FlexFlowLayer::Kind kind, Shape perSample) const;
  /// Adds `operands` of the operator as inputs, and the layer to the model.
  Source add(FlexFlowLayer layer, const std::vector<int> &operands);
  /// The same of a layer with a parameter of so many elements.
  Source addWithParameter(FlexFlowLayer layer, const std::vector<int> &operands,
                          ValueId parameter, double elements);

  const Source &source(ValueId value) const { return sources[value]; }
  const Shape &shape(ValueId value) const {
    return graph.value(value).type.shape;
  }
  bool isParameter(ValueId value) const {
    return source(value).kind == Source::Kind::Parameter;
  }
  /// An operator of which something else is expected.
  Source other(OpId id, const std::string &expectation) const;
  Source unknown(OpId id) const;

  const Graph &graph;
  FlexFlowModel &model;
  std::vector<int> sampleDims;
  std::vector<Source> sources; ///< by value
  /// Of the results of LSTMs' products, these.
  std::map<ValueId, OpId> lstmInputs;
  std::map<StateId, size_t> parameterOf;
  std::string problem; ///< the first one
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXFLOWLAYERS_H
