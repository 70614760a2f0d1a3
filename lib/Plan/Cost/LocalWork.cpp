//===- LocalWork.cpp - what a kernel or copy does -------------------------===//

#include "ffc/Plan/LocalWork.h"

#include <optional>

using namespace ffc::plan;

/// "[8,64]".
static std::string shapeText(const Shape &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "[" : ",") + std::to_string(extent);
  return text.empty() ? "[]" : text + "]";
}

std::string ffc::plan::bufferText(ElementType type, const Shape &shape,
                                  MemoryOrder order) {
  return str(type) + shapeText(shape) +
         (order == MemoryOrder::ChannelsLast ? "cl"
          : order == MemoryOrder::Pitched    ? "p"
                                             : "");
}

LocalWork ffc::plan::kernelWork(const Op &op, const Phase &phase,
                                const Tile &tile,
                                const std::vector<const BufferFacts *> &ins,
                                const std::vector<const BufferFacts *> &outs,
                                const std::vector<int> &addsTo, bool withKey) {
  LocalWork work;
  work.kernel = phase.kernel;
  work.flops = flopsOf(phase, tile);
  work.parts = phase.parts;
  work.startsWithOthers = phase.startsWithOthers;
  std::optional<ElementType> operands;
  for (size_t r = 0; r < ins.size(); ++r)
    if (ins[r]) {
      work.bytes += touchedBytes(phase.reads[r].touchedPerPoint, tile,
                                 ins[r]->type, ins[r]->bytes);
      if (decidesArithmetic(ins[r]->type))
        operands = ins[r]->type;
    }
  // A phase computes in the type of its last result, or of its operands.
  for (size_t w = 0; w < outs.size(); ++w)
    if (outs[w]) {
      work.bytes += touchedBytes(phase.writes[w].touchedPerPoint, tile,
                                 outs[w]->type, outs[w]->bytes);
      work.arithmetic = arithmeticOf(op, operands.value_or(outs[w]->type));
    }
  for (int w : addsTo)
    work.bytes += touchedBytes(phase.writes[w].touchedPerPoint, tile,
                               outs[w]->type, outs[w]->bytes);
  if (!withKey)
    return work;
  work.key = phase.kernel + "(" + op.attributes + ")";
  // What is read and written does not say so.
  if (work.arithmetic == Arithmetic::TF32)
    work.key += " tf32";
  auto add = [&](const BufferFacts *buffer) {
    work.key += " " + (buffer ? buffer->text : "-");
  };
  for (const BufferFacts *in : ins)
    add(in);
  work.key += " ->";
  for (const BufferFacts *out : outs)
    add(out);
  for (int w : addsTo)
    work.key += " +" + std::to_string(w);
  return work;
}

LocalWork ffc::plan::copyWork(const BufferFacts &dst, const BufferFacts &src,
                              int64_t elements, bool combines,
                              const Shape *shape) {
  LocalWork work;
  const bool reorders = (dst.order == MemoryOrder::ChannelsLast) !=
                        (src.order == MemoryOrder::ChannelsLast);
  work.kernel = combines ? kCombine : reorders ? kReorder : kCopy;
  work.arithmetic = arithmeticOf(dst.type);
  work.bytes = 2 * elements * byteSize(dst.type);
  if (shape)
    work.key = std::string(work.kernel) + shapeText(*shape) + " " + src.text +
               " -> " + dst.text;
  return work;
}

std::optional<LocalWork> ffc::plan::workOf(const Graph &graph,
                                           const Strategy &strategy,
                                           const DeviceProgram &device,
                                           const Action &action, bool withKey) {
  auto factsOf = [&](BufferId id) {
    const Buffer &buffer = device.buffers[id];
    BufferFacts facts{buffer.bytes, buffer.type, buffer.order, ""};
    if (withKey)
      facts.text = bufferText(buffer.type, buffer.region.shape(), buffer.order);
    return facts;
  };
  auto ofCopy = [&](const CopyAction &copy) {
    return copyWork(factsOf(copy.dst), factsOf(copy.src),
                    numElements(copy.size),
                    copy.combine != Reduction::None || copy.accumulates,
                    withKey ? &copy.size : nullptr);
  };
  auto ofKernel = [&](const KernelAction &kernel) {
    std::vector<BufferFacts> facts;
    facts.reserve(kernel.ins.size() + kernel.outs.size());
    auto listOf = [&](const std::vector<BufferId> &ids) {
      std::vector<const BufferFacts *> list;
      for (BufferId id : ids)
        list.push_back(id < 0 ? nullptr : &facts.emplace_back(factsOf(id)));
      return list;
    };
    const auto ins = listOf(kernel.ins), outs = listOf(kernel.outs);
    const Op &op = graph.op(action.task.op);
    const Schedule &schedule = scheduleFor(op.rules, strategy[action.task.op]);
    return kernelWork(op, schedule.phases[action.task.phase], kernel.tile, ins,
                      outs, kernel.addsTo, withKey);
  };
  std::optional<LocalWork> work;
  if (const auto *copy = action.as<CopyAction>()) {
    work = ofCopy(*copy);
    work->devices = copy->devices;
  } else if (const auto *kernel = action.as<KernelAction>()) {
    work = ofKernel(*kernel);
    work->devices = kernel->devices;
  }
  return work;
}
