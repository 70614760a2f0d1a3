//===- TestGraph.h - small graphs for planner tests -------------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_PLAN_TESTGRAPH_H
#define FFC_TEST_UNIT_PLAN_TESTGRAPH_H

#include "ffc/Plan/Configuration.h"

#include <string>

namespace ffc::plan::testing {

/// Builds graphs of operators that between them have every kind of access: a
/// product (parameters, reduction), a 1-D window over the rows (halo), an
/// element-wise sum and an in-place update.
class TestGraph {
public:
  ValueId input(const std::string &name, Shape shape);
  ValueId state(const std::string &name, Shape shape);
  /// y[n,c] = sum_k x[n,k] w[k,c]; dims n, c, k.
  ValueId product(const std::string &name, ValueId x, ValueId w);
  /// y[n,c] reads x[n-1 .. n+1, c]; dims n, c.
  ValueId window(const std::string &name, ValueId x);
  /// The bytes of x as another shape; not to be split.
  ValueId reshape(const std::string &name, ValueId x, Shape shape);
  /// [n, c] to [n, c, times].
  ValueId repeat(const std::string &name, ValueId x, int64_t times);
  /// Rows of x from `first` on.
  ValueId part(const std::string &name, ValueId x, int64_t first, int64_t rows);
  /// The columns of a, and then those of b.
  ValueId beside(const std::string &name, ValueId a, ValueId b);
  /// y[n,c] = a[n,c] + b[n,c]; dims n, c. The result may overwrite either.
  ValueId sum(const std::string &name, ValueId a, ValueId b);
  /// g[k,c] = sum_n x[n,k] d[n,c]; dims k, c, n; owner `owner`. May add to what
  /// is there.
  ValueId outer(const std::string &name, ValueId x, ValueId d,
                const std::string &owner);
  /// Updates `state` by `gradient` in place; owner `owner`, which reads the
  /// state as its second operand.
  void update(const std::string &name, ValueId state, ValueId gradient,
              const std::string &owner);
  /// The value is what `state` holds at the end.
  void store(ValueId state, ValueId value);
  void output(const std::string &name, ValueId value);

  Graph graph;

private:
  ValueId addValue(const std::string &name, Shape shape, ValueKind kind);
  ValueId addOp(Op op, Shape resultShape);
  OpId find(const std::string &name) const;
};

/// x -> product -> window -> product -> gradient of the second weight ->
/// update.
TestGraph trainingGraph();

/// Products p1, p2, ... one after the other, the gradients of their weights
/// from the last one on, and then the updates in that order. The weights are of
/// 8 x 16 elements for the first layer and 16 x 16 for the others.
TestGraph stack(int layers);

/// Products f0, f1, ... of 64 x 64 elements one after the other; from the last
/// one on the gradient g of the weight, that of the operand b, and the update
/// u.
TestGraph products(int layers);

} // namespace ffc::plan::testing

#endif // FFC_TEST_UNIT_PLAN_TESTGRAPH_H
