//===- TiedWeights.cpp - one parameter that a file holds twice ------------===//

#include "TiedWeights.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cstring>

using namespace ffc::importer;
using llvm::StringRef;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

namespace {

enum class Match { None, Same, Turned };

/// A tensor that may be equal to another one.
struct Candidate {
  std::string name;
  int32_t type;
  Shape shape;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  /// Elements at some places in the order of the tensor, and of its transpose.
  std::string sample, turnedSample;

  const char *element(int64_t i) const {
    return buffer->getBufferStart() + i * elementBytes(type);
  }
  int64_t size() const { return *elementCount(shape); }
};

class Tier {
public:
  Tier(GraphProto &graph, const TensorData &data,
       const ExporterMetadata *metadata)
      : graph(graph), data(data), metadata(metadata) {}

  std::vector<TiedWeight> run() {
    for (const TensorProto &tensor : graph.initializer())
      ++definitions[tensor.name()];
    for (const NodeProto &node : graph.node())
      for (const std::string &output : node.output())
        ++definitions[output];
    for (const TensorProto &tensor : graph.initializer())
      add(tensor.name(), tensor);
    for (const NodeProto &node : graph.node())
      if (node.op_type() == "Constant" && node.output_size() == 1 &&
          node.attribute_size() == 1 && node.attribute(0).has_t())
        add(node.output(0), node.attribute(0).t());
    if (metadata)
      std::stable_partition(candidates.begin(), candidates.end(),
                            [this](const Candidate &candidate) {
                              return metadata->isParameter(candidate.name);
                            });
    for (const Candidate &candidate : candidates)
      if (!tie(candidate))
        known[candidate.sample].push_back(&candidate);
    removeTied();
    return std::move(result);
  }

private:
  GraphProto &graph;
  const TensorData &data;
  const ExporterMetadata *metadata;
  /// How often the graph defines a name. Of one that it defines twice, what is
  /// read would not be what is replaced.
  llvm::StringMap<int> definitions;
  std::vector<Candidate> candidates;
  /// Those that are not tied, by their samples.
  llvm::StringMap<std::vector<const Candidate *>> known;
  std::vector<TiedWeight> result;
  std::vector<NodeProto> made; ///< what takes the places of tied values

  void add(const std::string &name, const TensorProto &tensor) {
    constexpr int64_t kMost = 64; // of small tensors that may agree by chance
    if (!isFloatType(tensor.data_type()) || definitions.lookup(name) > 1)
      return;
    // What is wrong with a tensor is said when it is imported.
    if (llvm::Error error = data.check(tensor))
      return llvm::consumeError(std::move(error));
    Candidate candidate;
    candidate.name = name;
    candidate.type = tensor.data_type();
    candidate.shape.assign(tensor.dims().begin(), tensor.dims().end());
    if (candidate.size() <= kMost)
      return;
    auto bytes = data.bytes(tensor);
    if (!bytes)
      return llvm::consumeError(bytes.takeError());
    candidate.buffer = std::move(*bytes);
    if (static_cast<int64_t>(candidate.buffer->getBufferSize()) !=
        candidate.size() * elementBytes(candidate.type))
      return;
    takeSamples(candidate);
    if (isOneValue(candidate))
      return;
    candidates.push_back(std::move(candidate));
  }

  static void takeSamples(Candidate &of) {
    constexpr int64_t kSamples = 64;
    const int64_t width = elementBytes(of.type), last = of.size() - 1;
    const bool isMatrix = of.shape.size() == 2;
    of.sample = std::to_string(of.type) + " " + std::to_string(last) + " ";
    of.turnedSample = of.sample;
    for (int64_t k = 0; k < kSamples; ++k) {
      const int64_t i = k * last / (kSamples - 1);
      of.sample.append(of.element(i), width);
      if (isMatrix)
        of.turnedSample.append(
            of.element(i % of.shape[0] * of.shape[1] + i / of.shape[0]), width);
    }
  }

  /// Finds a value that `candidate` is, and makes it that.
  bool tie(const Candidate &candidate) {
    for (const std::string *sample :
         {&candidate.sample, &candidate.turnedSample})
      for (const Candidate *other : known.lookup(*sample)) {
        if (metadata && metadata->areDistinct(candidate.name, other->name))
          continue;
        const Match match = compare(candidate, *other);
        if (match == Match::None)
          continue;
        replace(candidate, *other, match);
        result.push_back({candidate.name, other->name});
        return true;
      }
    return false;
  }

  static Match compare(const Candidate &a, const Candidate &b) {
    if (a.sample == b.sample && a.buffer->getBuffer() == b.buffer->getBuffer())
      return Match::Same;
    if (a.shape.size() != 2 || a.turnedSample != b.sample ||
        b.shape != Shape{a.shape[1], a.shape[0]})
      return Match::None;
    // Blocks keep to a few pages of both.
    constexpr int64_t kBlock = 64;
    const int64_t rows = a.shape[0], columns = a.shape[1];
    const int64_t width = elementBytes(a.type);
    for (int64_t r = 0; r < rows; r += kBlock)
      for (int64_t c = 0; c < columns; c += kBlock)
        for (int64_t i = r; i < std::min(r + kBlock, rows); ++i)
          for (int64_t j = c; j < std::min(c + kBlock, columns); ++j)
            if (std::memcmp(a.element(i * columns + j), b.element(j * rows + i),
                            width) != 0)
              return Match::None;
    return Match::Turned;
  }

  static bool isOneValue(const Candidate &of) {
    StringRef bytes = of.buffer->getBuffer();
    const int64_t width = elementBytes(of.type);
    return bytes.drop_front(width) == bytes.drop_back(width);
  }

  void replace(const Candidate &tied, const Candidate &by, Match match) {
    NodeProto node;
    node.set_name(tied.name);
    node.add_input(by.name);
    node.add_output(tied.name);
    if (match == Match::Turned) {
      node.set_op_type("Transpose");
      onnx::AttributeProto &perm = *node.add_attribute();
      perm.set_name("perm");
      perm.set_type(onnx::AttributeProto::INTS);
      perm.add_ints(1);
      perm.add_ints(0);
    } else if (tied.shape == by.shape) {
      node.set_op_type("Identity");
    } else {
      node.set_op_type("Reshape");
      NodeProto shape;
      shape.set_op_type("Constant");
      shape.add_output(tied.name + ".shape");
      onnx::AttributeProto &extents = *shape.add_attribute();
      extents.set_name("value_ints");
      extents.set_type(onnx::AttributeProto::INTS);
      for (int64_t extent : tied.shape)
        extents.add_ints(extent);
      node.add_input(shape.output(0));
      made.push_back(std::move(shape));
    }
    made.push_back(std::move(node));
  }

  /// What defined tied values makes place for what they are now. That is before
  /// the readers, as files are sorted.
  void removeTied() {
    if (result.empty())
      return;
    llvm::StringSet<> tied;
    for (const TiedWeight &weight : result)
      tied.insert(weight.name);
    auto isTied = [&](const auto &entry) {
      return tied.contains(entry.name());
    };
    auto erase = [](auto *list, auto isGone) {
      list->erase(std::remove_if(list->begin(), list->end(), isGone),
                  list->end());
    };
    erase(graph.mutable_initializer(), isTied);
    // Before IR version 4 initializers were inputs.
    erase(graph.mutable_input(), isTied);
    erase(graph.mutable_node(), [&](const NodeProto &node) {
      return node.output_size() == 1 && tied.contains(node.output(0));
    });
    const auto count = static_cast<int>(made.size());
    for (NodeProto &node : made)
      *graph.add_node() = std::move(node);
    auto *nodes = graph.mutable_node()->mutable_data();
    std::rotate(nodes, nodes + graph.node_size() - count,
                nodes + graph.node_size());
  }
};

} // namespace

std::vector<TiedWeight>
ffc::importer::tieWeights(GraphProto &graph, const TensorData &data,
                          const ExporterMetadata *metadata) {
  return Tier(graph, data, metadata).run();
}
