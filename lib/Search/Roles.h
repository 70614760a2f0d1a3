//===- Roles.h - what recipes know of operators -----------------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_ROLES_H
#define FFC_LIB_SEARCH_ROLES_H

#include "ffc/Search/Space.h"

#include <initializer_list>
#include <optional>
#include <vector>

namespace ffc::search {

/// The dimensions that experts split, found from kinds of dimensions and from
/// what tensors share, never from operators' names. kReplica: none.
struct Roles {
  explicit Roles(const Space &space);

  /// By operator: the dimension of the samples (plan::sampleDims()).
  std::vector<int> sample;
  /// By operator: the dimension that a group of devices shares so that as few
  /// activations as possible move between layers (Shoeybi et al., Megatron-LM,
  /// 2019). A layer with parameters whose operand comes whole splits a
  /// parameter dimension; what follows keeps the split (attention by heads)
  /// until a layer contracts the split dimension, whose result is summed up
  /// and whole again.
  std::vector<int> tensor;
  /// The other large dimension of a layer's parameters: where both are split,
  /// what one layer's sums are split by is what the next one contracts.
  std::vector<int> other;
};

/// Of a product of which every batch has a parameter of its own, as the layers
/// of experts do: that dimension, and one that each batch's own operand has.
/// kReplica: it is no such product.
struct ExpertDims {
  int experts = plan::kReplica, rows = plan::kReplica;
};
ExpertDims expertDims(const plan::Graph &graph, const plan::Op &op);

/// A degree along a dimension of an operator.
struct Split {
  int dim = plan::kReplica;
  int64_t degree = 1;
};

/// `op` split so on neighbours, `first` the first one, with copies along what
/// it cannot split; nothing if it cannot be split like that for another reason.
std::optional<plan::Configuration> gridOf(const Space &space, plan::OpId op,
                                          std::initializer_list<Split> splits,
                                          plan::DeviceId first);

/// How a block of neighbours shares layers: samples x tensor groups, of which
/// each splits a layer's parameters `other` times along their other dimension.
struct TensorGrid {
  int64_t samples = 1, group = 1, other = 1;
};

/// `op` split so, as gridOf() does it.
std::optional<plan::Configuration>
tensorGridOf(const Space &space, const Roles &roles, plan::OpId op,
             const TensorGrid &grid, plan::DeviceId first = 0);

/// The same on these devices, in that order, as many as the grid has points;
/// nothing, too, if the space does not allow it.
std::optional<plan::Configuration>
tensorGridOn(const Space &space, const Roles &roles, plan::OpId op,
             const TensorGrid &grid,
             const std::vector<plan::DeviceId> &devices);

/// The state that `value` is, perhaps in another form, such as another element
/// type; of several side by side, the first one; -1: it is none.
plan::ValueId stateBehind(const plan::Graph &graph, plan::ValueId value);

/// The first splittable dimension of kind Parameter.
int parameterDim(const plan::Op &op);

/// The largest dimension that the largest parameter of `op` has: the rows of a
/// table, the contracted dimension of a wide product.
int rowDim(const plan::Graph &graph, const plan::Op &op);

/// The next largest one of these. kReplica: there is none.
int columnDim(const plan::Graph &graph, const plan::Op &op);

/// Are the parameters of `op` more than what goes in and out of it on one of so
/// many devices that share it, so that it is cheaper to move that (Krizhevsky,
/// One weird trick, 2014)?
bool hasManyParameters(const plan::Graph &graph, const plan::Op &op,
                       int64_t devices = 1);

/// Does it take rows of a table?
bool isLookup(const plan::Graph &graph, const plan::Op &op);

/// Elements of what `op` reads and writes, at least one.
int64_t elementsMovedBy(const plan::Graph &graph, const plan::Op &op);

/// Elements of the parameters that `op` reads.
double numParameters(const plan::Graph &graph, const plan::Op &op);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_ROLES_H
