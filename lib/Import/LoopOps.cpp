//===- LoopOps.cpp - Loop and Scan, unrolled ------------------------------===//
//
// A program is a straight line, so the number of iterations must be known at
// import, from constants and shapes. Each iteration imports the nodes of the
// body again, on the values of the one before.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"

#include <climits>

using namespace ffc;
using namespace ffc::importer;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;
using Kind = GraphValue::Kind;
using Values = llvm::SmallVector<GraphValue *>;

/// Of all loops together, also within each other. More would be a mistake, or a
/// program that no compiler takes.
static constexpr int64_t kMaxIterations = 10000;
/// Of their bodies, for the same reason.
static constexpr int64_t kMaxUnrolledNodes = 1000000;

namespace {

/// A Loop or a Scan whose iterations are imported one by one.
class Unrolling {
public:
  explicit Unrolling(NodeImporter &node)
      : node(node), made(node), bound(node.innerScope()) {
    auto *attribute = node.attribute("body", AttributeProto::GRAPH);
    if (!attribute) {
      node.error("expected attribute 'body'");
      return;
    }
    // What is the same in all iterations is imported once: weights stay one.
    GraphProto constants, nodes = attribute->g();
    constants.mutable_initializer()->Swap(nodes.mutable_initializer());
    nodes.clear_node();
    for (const NodeProto &inner : attribute->g().node())
      *(inner.op_type() == "Constant" ? constants : nodes).add_node() = inner;
    body = &node.importer.keep(std::move(nodes));
    if (mlir::failed(node.importer.importGraph(
            node.importer.keep(std::move(constants)), bound)))
      node.fail();
  }

  /// Reports a body that has another number of inputs or outputs.
  void expectSignature(size_t inputs, size_t outputs) {
    if (!node.failed() && (static_cast<size_t>(body->input_size()) != inputs ||
                           static_cast<size_t>(body->output_size()) != outputs))
      node.error("expected a body with " + llvm::Twine(inputs) +
                 " inputs and " + llvm::Twine(outputs) + " outputs, found " +
                 llvm::Twine(body->input_size()) + " and " +
                 llvm::Twine(body->output_size()));
  }

  /// The operands from `first` on, up to `end`; reports those left out.
  Values operands(size_t first, size_t end) {
    Values values;
    for (size_t i = first; i < end; ++i) {
      const int operand = static_cast<int>(i);
      if (node.has(operand))
        values.push_back(&node.operand(operand));
      else
        node.error("operand " + llvm::Twine(i) + " is missing");
    }
    return values;
  }

  /// One more iteration. Its outputs; none after an error, and if something in
  /// it is not supported.
  Values iterate(const Values &inputs) {
    if (++node.importer.iterations > kMaxIterations) {
      node.error("expected at most " + llvm::Twine(kMaxIterations) +
                 " iterations of all loops together");
      return {};
    }
    if ((node.importer.unrolledNodes += body->node_size()) >
        kMaxUnrolledNodes) {
      node.error("expected at most " + llvm::Twine(kMaxUnrolledNodes) +
                 " nodes in the iterations of all loops together");
      return {};
    }
    for (auto [input, value] : llvm::zip_equal(body->input(), inputs))
      bound.values[input.name()] = value;
    Values outputs = node.importGraph(*body, bound);
    node.importer.names.forget(*body);
    if (llvm::any_of(outputs, [](GraphValue *value) {
          return value->kind == Kind::Unsupported;
        })) {
      supported = false;
      return {};
    }
    return outputs;
  }

  /// False once an iteration had something that is not supported.
  bool isSupported() const { return supported; }

  /// Element `index` of `value` along `axis`, which is dropped.
  GraphValue *elementOf(GraphValue *value, int64_t axis, int64_t index) {
    return made.apply("Gather", {value, number(TensorProto::INT64, index)},
                      "axis", axis);
  }

  /// Values of one shape, stacked along the new dimension `axis`.
  GraphValue *stacked(const Values &values, int64_t axis) {
    Values parts;
    for (GraphValue *value : values) {
      Shape shape = value->shape;
      if (shape != values.front()->shape)
        node.error("expected results of one shape from all iterations, found " +
                   shapeText(values.front()->shape) + " and " +
                   shapeText(shape));
      if (node.failed())
        return nullptr;
      shape.insert(shape.begin() + axis, 1);
      parts.push_back(made.reshape(value, shape));
    }
    return made.apply("Concat", parts, "axis", axis);
  }

  GraphValue *number(int32_t type, int64_t number) {
    return made.constant(type, {}, {number});
  }

private:
  NodeImporter &node;
  Expression made;
  const GraphProto *body = nullptr;
  /// Of the body, except for what it computes.
  Scope bound;
  bool supported = true;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// The one number of a value that is known at import; nothing otherwise.
static std::optional<int64_t> numberIn(const GraphValue &value) {
  if (value.kind != Kind::Constant || value.constant.isFloat() ||
      value.constant.size() != 1)
    return std::nullopt;
  return value.constant.ints.front();
}

static void importLoop(NodeImporter &node) {
  Unrolling loop(node);
  const int inputs = std::max(node.node.input_size(), 2);
  const size_t carried = inputs - 2;
  const size_t results = node.node.output_size();
  if (!node.failed() && results < carried)
    node.error("expected at least " + llvm::Twine(carried) +
               " results, found " + llvm::Twine(results));
  loop.expectSignature(inputs, results + 1);
  if (node.failed())
    return;
  std::optional<int64_t> trips = INT64_MAX, condition = 1;
  if (node.has(0) && !(trips = numberIn(node.operand(0))))
    return node.unsupported(" with a computed trip count");
  if (node.has(1) && !(condition = numberIn(node.operand(1))))
    return node.unsupported(" with a computed condition");

  Values state = loop.operands(2, inputs);
  if (node.failed())
    return;
  std::vector<Values> scanned(results - carried);
  for (int64_t trip = 0; trip < *trips && *condition; ++trip) {
    Values in = {loop.number(TensorProto::INT64, trip),
                 loop.number(TensorProto::BOOL, 1)};
    in.append(state);
    Values out = loop.iterate(in);
    if (!loop.isSupported())
      return node.skip();
    if (node.failed())
      return;
    if (!(condition = numberIn(*out.front())))
      return node.unsupported(" with a computed condition");
    state.assign(out.begin() + 1, out.begin() + 1 + carried);
    for (size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back(out[1 + carried + i]);
  }
  for (auto [i, value] : llvm::enumerate(state))
    node.define(static_cast<int>(i), value);
  for (auto [i, values] : llvm::enumerate(scanned)) {
    if (values.empty())
      return node.error("no iteration runs, so that result " +
                        llvm::Twine(carried + i) + " has no elements");
    GraphValue *value = loop.stacked(values, 0);
    if (node.failed())
      return;
    node.define(static_cast<int>(carried + i), value);
  }
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {
/// How one operand or result of a Scan is walked through.
struct Walk {
  int64_t axis = 0;
  bool backwards = false;

  int64_t at(int64_t iteration, int64_t length) const {
    return backwards ? length - 1 - iteration : iteration;
  }
};
} // namespace

/// The attributes of all operands, or results, of a Scan; axes not normalised.
static std::vector<Walk> walksOf(NodeImporter &node, llvm::StringRef kind,
                                 size_t count) {
  std::vector<Walk> walks(count);
  auto list = [&](const llvm::Twine &name) {
    Shape values = node.integers(name.str()).value_or(Shape(count, 0));
    if (values.size() != count)
      node.error("expected " + llvm::Twine(count) + " numbers in '" + name +
                 "', found " + llvm::Twine(values.size()));
    values.resize(count);
    return values;
  };
  Shape axes = list("scan_" + kind + "_axes"),
        directions = list("scan_" + kind + "_directions");
  for (size_t i = 0; i < count; ++i)
    walks[i] = {axes[i], directions[i] != 0};
  return walks;
}

/// Before opset 9 there are the directions of operands only.
static std::vector<Walk> oldWalksOf(NodeImporter &node, size_t count) {
  std::vector<Walk> walks(count);
  const Shape directions =
      node.integers("directions").value_or(Shape(count, 0));
  if (directions.size() != count)
    node.error("expected " + llvm::Twine(count) +
               " numbers in 'directions', found " +
               llvm::Twine(directions.size()));
  else
    for (size_t i = 0; i < count; ++i)
      walks[i].backwards = directions[i] != 0;
  return walks;
}

/// The last state, and what the iterations that walk through `walked` make,
/// stacked; nothing after an error, and if something is not supported.
static Values scan(NodeImporter &node, Unrolling &loop, Values state,
                   const Values &walked, std::vector<Walk> in,
                   const std::vector<Walk> &out) {
  const size_t carried = state.size();
  std::optional<int64_t> length;
  for (auto [i, walk] : llvm::enumerate(in)) {
    const int64_t rank = static_cast<int64_t>(walked[i]->shape.size());
    if (walk.axis < -rank || walk.axis >= rank) {
      node.error("expected an axis of operand " + llvm::Twine(carried + i) +
                 " within its rank " + llvm::Twine(rank) + ", found " +
                 llvm::Twine(walk.axis));
      return {};
    }
    walk.axis += walk.axis < 0 ? rank : 0;
    const int64_t found = walked[i]->shape[walk.axis];
    if (found != length.value_or(found)) {
      node.error("expected operands of one length to scan, found " +
                 llvm::Twine(*length) + " and " + llvm::Twine(found));
      return {};
    }
    length = found;
  }
  if (*length == 0) {
    node.error("no iteration runs: expected elements to scan, found none");
    return {};
  }

  std::vector<Values> scanned(out.size());
  for (int64_t t = 0; t < *length; ++t) {
    Values operands = state;
    for (auto [i, walk] : llvm::enumerate(in))
      operands.push_back(
          loop.elementOf(walked[i], walk.axis, walk.at(t, *length)));
    if (node.failed())
      return {};
    Values made = loop.iterate(operands);
    if (!loop.isSupported())
      node.skip();
    if (made.empty() || node.failed())
      return {};
    state.assign(made.begin(), made.begin() + carried);
    for (size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back(made[carried + i]);
  }
  for (auto [i, values] : llvm::enumerate(scanned)) {
    if (out[i].backwards)
      std::reverse(values.begin(), values.end());
    const int64_t rank = static_cast<int64_t>(values.front()->shape.size()) + 1;
    if (out[i].axis < -rank || out[i].axis >= rank)
      node.error("expected an axis of result " + llvm::Twine(carried + i) +
                 " within its rank " + llvm::Twine(rank) + ", found " +
                 llvm::Twine(out[i].axis));
    else
      state.push_back(
          loop.stacked(values, out[i].axis + (out[i].axis < 0 ? rank : 0)));
    if (node.failed())
      return {};
  }
  return state;
}

/// The same for every sample of a batch, which comes first in all operands and
/// results (before opset 9).
static Values scanSamples(NodeImporter &node, Unrolling &loop,
                          const Values &state, const Values &walked,
                          const std::vector<Walk> &in,
                          const std::vector<Walk> &out) {
  const int64_t samples =
      walked.front()->shape.empty() ? 0 : walked.front()->shape.front();
  for (const Values *values : {&state, &walked})
    for (const GraphValue *value : *values)
      if (samples == 0 || value->shape.empty() ||
          value->shape.front() != samples) {
        node.error("expected operands of one batch, found '" + value->name +
                   "' of shape " + shapeText(value->shape));
        return {};
      }
  std::vector<Values> all(state.size() + out.size());
  for (int64_t n = 0; n < samples; ++n) {
    auto sample = [&](const Values &values) {
      Values of;
      for (GraphValue *value : values)
        of.push_back(loop.elementOf(value, 0, n));
      return of;
    };
    const Values ownState = sample(state), ownWalked = sample(walked);
    if (node.failed())
      return {};
    const Values made = scan(node, loop, ownState, ownWalked, in, out);
    if (made.empty())
      return {};
    for (size_t i = 0; i < all.size(); ++i)
      all[i].push_back(made[i]);
  }
  Values results;
  for (const Values &values : all)
    results.push_back(loop.stacked(values, 0));
  return results;
}

static void importScan(NodeImporter &node) {
  const bool isOfBatch = node.opset() < 9;
  // Lengths of sequences come first then.
  const size_t first = isOfBatch ? 1 : 0;
  if (isOfBatch && node.has(0))
    return node.unsupported(" with lengths of sequences");
  Unrolling loop(node);
  const size_t inputs = std::max<size_t>(node.node.input_size(), first) - first;
  const size_t results = node.node.output_size();
  const int64_t slices = node.integer("num_scan_inputs", 0);
  if (!node.failed() && (slices < 1 || slices > static_cast<int64_t>(inputs)))
    node.error("expected num_scan_inputs from 1 to " + llvm::Twine(inputs) +
               ", found " + llvm::Twine(slices));
  if (node.failed())
    return;
  const size_t carried = inputs - slices;
  if (results < carried)
    return node.error("expected at least " + llvm::Twine(carried) +
                      " results, found " + llvm::Twine(results));
  const std::vector<Walk> in = isOfBatch ? oldWalksOf(node, slices)
                                         : walksOf(node, "input", slices),
                          out = isOfBatch ? std::vector<Walk>(results - carried)
                                          : walksOf(node, "output",
                                                    results - carried);
  loop.expectSignature(inputs, results);
  const Values state = loop.operands(first, first + carried),
               walked = loop.operands(first + carried, first + inputs);
  if (node.failed())
    return;
  const Values made = isOfBatch
                          ? scanSamples(node, loop, state, walked, in, out)
                          : scan(node, loop, state, walked, in, out);
  for (auto [i, value] : llvm::enumerate(made))
    if (!node.failed())
      node.define(static_cast<int>(i), value);
}

void ffc::importer::registerLoopOps() {
  registerOp("Loop", {importLoop, 0, INT_MAX, 0, false, 0, true});
  registerOp("Scan", {importScan, 0, INT_MAX});
}
