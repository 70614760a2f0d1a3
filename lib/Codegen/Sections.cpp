//===- Sections.cpp - a class's actions by layer and method ---------------===//

#include "Sections.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

namespace {

/// The layer of actions without a name before any with one.
constexpr StringLiteral kNameless = "start";

bool isAction(Operation *op) {
  return isa<rank::KernelOp, rank::CopyOp, rank::ExchangeOp, rank::CollectiveOp,
             rank::WaitOp, rank::ProbeOp>(op);
}

class Arranger {
public:
  explicit Arranger(const ProgramMeta &meta) : meta(meta) {}

  void add(Operation *op) {
    StringRef name = nameOf(op->getLoc());
    const bool isFirst = sections.methods.empty();
    const bool isNew = sections.methods.size() == sections.microBatchMethods;
    if (isNew || !name.empty()) {
      auto [layer, direction] =
          !name.empty() ? placeOf(name)
          : isFirst
              ? placeOf(kNameless)
              : std::pair(sections.methods.back().layer, Direction::Update);
      if (isNew || sections.methods.back().layer != layer ||
          sections.methods.back().direction != direction) {
        sections.layers[layer].methods.push_back(sections.methods.size());
        sections.methods.push_back({layer, direction, {}});
      }
    }
    Method &method = sections.methods.back();
    method.actions.push_back(op);
    for (Value operand : op->getOperands())
      addBuffer(method.layer, operand.getDefiningOp<rank::BufferOp>());
  }

  /// What comes now is not done in every micro-batch.
  void endMicroBatch() { sections.microBatchMethods = sections.methods.size(); }

  void addBuffer(size_t layer, rank::BufferOp buffer) {
    if (buffer && placed.insert(buffer).second)
      sections.layers[layer].buffers.push_back(buffer);
  }

  /// The layer called `name`, which may be new.
  size_t layerCalled(StringRef name) {
    auto [entry, isNew] = byName.try_emplace(name, sections.layers.size());
    if (isNew)
      sections.layers.push_back({name.str(), {}, {}});
    return entry->second;
  }

  Sections sections;

private:
  std::pair<size_t, Direction> placeOf(StringRef name) {
    auto op = meta.ops.find(name.str());
    if (op == meta.ops.end())
      return {layerCalled(name), Direction::Forward};
    StringRef layer = op->second.layer;
    return {layerCalled(layer.empty() ? name : layer), op->second.direction};
  }

  const ProgramMeta &meta;
  llvm::StringMap<size_t> byName;
  llvm::DenseSet<Operation *> placed;
};

} // namespace

Sections codegen::arrange(rank::FuncOp func, const ProgramMeta &meta) {
  Arranger arranger(meta);
  for (Operation &op : func.getBody().front())
    if (isAction(&op))
      arranger.add(&op);
    else if (isa<rank::MicroBatchEndOp>(op))
      arranger.endMicroBatch();
  for (auto buffer : func.getBody().getOps<rank::BufferOp>()) {
    if (arranger.sections.layers.empty())
      arranger.layerCalled(kNameless);
    arranger.addBuffer(0, buffer);
  }
  return std::move(arranger.sections);
}
