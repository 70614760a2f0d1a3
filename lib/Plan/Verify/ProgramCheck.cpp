//===- ProgramCheck.cpp - what kernels and copies read and write ----------===//

#include "ProgramCheck.h"

#include "SlotCheck.h"

#include <algorithm>
#include <cassert>

using namespace ffc::plan;

/// Over the slots of every operator that has internal tensors.
static constexpr int kMaxSlots = 64;

ProgramCheck::ProgramCheck(const Graph &graph, const Strategy &strategy,
                           const Program &program)
    : graph(graph), strategy(strategy), program(program), orders(graph),
      inFlight(program.devices.size()), offered(graph.outputs.size()) {
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    outputNumbers.insert({graph.outputs[o].name, o});
  for (const DeviceProgram &device : program.devices) {
    contents.emplace_back(device.buffers.size());
    for (const InputSlot &slot : device.inputs)
      fill(device, slot.buffer, slot.value);
    for (const StateSlot &slot : device.states)
      fill(device, slot.buffer, graph.states[slot.state].read);
  }
}

bool ProgramCheck::waitedForAll() {
  for (size_t d = 0; d < inFlight.size(); ++d) {
    const auto first =
        std::min_element(inFlight[d].begin(), inFlight[d].end(),
                         [](const auto &a, const auto &b) { return a < b; });
    if (first != inFlight[d].end())
      return fail({static_cast<DeviceId>(d), first->second.first},
                  "is never waited for");
  }
  return true;
}

bool ProgramCheck::states() {
  for (size_t d = 0; d < program.devices.size(); ++d)
    for (const StateSlot &slot : program.devices[d].states) {
      ValueId written = graph.states[slot.state].written;
      if (written < 0)
        continue;
      for (const Contents::Piece &piece : contents[d][slot.buffer].pieces())
        if (piece.origin.value != written || !piece.origin.complete()) {
          error = "device " + std::to_string(d) + ": state '" +
                  graph.states[slot.state].name + "' ends with '" +
                  nameOf(piece.origin.value) + "' in " + piece.box.str() +
                  ", expected '" + graph.value(written).name + "'";
          return false;
        }
    }
  return true;
}

bool ProgramCheck::outputs() {
  for (size_t o = 0; o < offered.size(); ++o) {
    const Box all = Box::whole(graph.value(graph.outputs[o].value).type.shape);
    if (all.empty() || offered[o].covers(all))
      continue;
    error = "output '" + graph.outputs[o].name + "' of " + all.str() +
            " is not offered as a whole";
    return false;
  }
  return true;
}

bool ProgramCheck::fail(ActionRef ref, const std::string &what) {
  const Action &a = program.action(ref);
  error = "device " + std::to_string(ref.device) + ", task " +
          str(a.task, graph) + " (" + a.name + "): " + what;
  return false;
}

void ProgramCheck::fill(const DeviceProgram &device, BufferId buffer,
                        ValueId value) {
  Contents &c = contents.back()[buffer];
  for (const Region::Piece &piece : device.buffers[buffer].region.pieces())
    c.write(piece.box, {value, Parts(0), 1});
}

bool ProgramCheck::idle(ActionRef ref, BufferId buffer, bool toBeWritten) {
  auto [begin, end] = inFlight[ref.device].equal_range(buffer);
  for (auto it = begin; it != end; ++it)
    if (toBeWritten || it->second.second)
      return fail(ref, "touches '" + bufferOf(ref, buffer).name +
                           "' while communication with it is under way");
  return true;
}

bool ProgramCheck::readWhole(ActionRef ref, BufferId buffer, const char *verb) {
  if (!idle(ref, buffer, false))
    return false;
  for (const Region::Piece &piece : bufferOf(ref, buffer).region.pieces())
    if (!contentsOf(ref, buffer).covers(piece.box))
      return fail(ref, std::string(verb) + " '" + bufferOf(ref, buffer).name +
                           "' of which " + piece.box.str() +
                           " was not written");
  return true;
}

ValueId ProgramCheck::subjectOf(OpId op, int slot) const {
  ValueId value = graph.slotValue(op, slot);
  assert((value >= 0 || slot < kMaxSlots) && "two tensors of one number");
  return value >= 0 ? value : -1 - (op * kMaxSlots + slot);
}

std::string ProgramCheck::nameOf(ValueId subject) const {
  if (subject >= 0)
    return graph.value(subject).name;
  int number = -1 - subject;
  return graph.op(number / kMaxSlots).name + ".internal" +
         std::to_string(number % kMaxSlots);
}

/// What a kernel's result stands for: which of the partial sums of its box.
Origin ProgramCheck::originOf(const TaskId &task,
                              const SlotWrite &write) const {
  const Configuration &config = strategy[task.op];
  std::vector<int64_t> index = config.coordinates(task.point());
  Origin origin{subjectOf(task.op, write.slot), {}, 1};
  int64_t part = 0;
  for (size_t axis = 0; axis < config.axes.size(); ++axis) {
    if (!write.isPartialAlong(config.axes[axis].dim))
      continue;
    part = part * config.axes[axis].degree + index[axis];
    origin.total *= config.axes[axis].degree;
  }
  origin.parts = Parts(part);
  return origin;
}

/// A micro-batch leaves the state as it was, so that the next one does the
/// same, but for the means that it adds to.
bool ProgramCheck::mayWrite(ActionRef ref, BufferId buffer) {
  if (graph.microBatches == 1 ||
      ref.index >= program.devices[ref.device].microBatchActions ||
      bufferOf(ref, buffer).section != Section::State)
    return true;
  return fail(ref, "writes state '" + bufferOf(ref, buffer).name +
                       "' in a micro-batch, expected after the last one");
}

bool ProgramCheck::fits(ActionRef ref, const KernelAction &kernel,
                        const Phase &phase, int slot, const Access &access,
                        BufferId buffer, const char *verb) {
  auto wrong =
      checkSlot(graph, orders, program.action(ref).task.op, kernel, phase, slot,
                access, buffer < 0 ? nullptr : &bufferOf(ref, buffer));
  return !wrong || fail(ref, std::string(verb) + " " + *wrong);
}

/// All of an operand is there.
bool ProgramCheck::reads(ActionRef ref, const SlotRead &read, BufferId id) {
  if (!readWhole(ref, id, "reads"))
    return false;
  const Buffer &buffer = bufferOf(ref, id);
  const ValueId subject = subjectOf(program.action(ref).task.op, read.slot);
  for (const Contents::Piece &piece : contentsOf(ref, id).pieces()) {
    if (piece.origin.value != subject)
      return fail(ref, "reads '" + nameOf(subject) + "' in '" + buffer.name +
                           "', found '" + nameOf(piece.origin.value) + "'");
    if (!piece.origin.complete())
      return fail(
          ref, "reads '" + buffer.name + "' " + piece.box.str() + ", found " +
                   std::to_string(piece.origin.parts.count()) + " of " +
                   std::to_string(piece.origin.total) + " partial results");
  }
  return true;
}

bool ProgramCheck::local(ActionRef ref, const KernelAction &kernel) {
  const TaskId &task = program.action(ref).task;
  const Op &op = graph.op(task.op);
  const Configuration &config = strategy[task.op];
  const Phase &phase = scheduleFor(op.rules, config).phases[task.phase];
  if (config.devices[task.point()] != ref.device ||
      config.tileOf(op.rules, task.point()) != kernel.tile)
    return fail(ref, "computes tile " + kernel.tile.str() +
                         ", which the strategy does not place here");
  const bool isAgain = std::get<TaskId::Compute>(task.what).isAgain;
  if (isAgain && !config.again)
    return fail(ref, "computes again what the strategy keeps");
  if (!kernels.insert({task.op, task.phase, task.point(), isAgain}).second)
    return fail(ref, "computes what was computed before");
  if (kernel.ins.size() != phase.reads.size() ||
      kernel.outs.size() != phase.writes.size())
    return fail(ref, "has " + std::to_string(kernel.ins.size()) +
                         " operands and " + std::to_string(kernel.outs.size()) +
                         " results, expected " +
                         std::to_string(phase.reads.size()) + " and " +
                         std::to_string(phase.writes.size()));
  for (size_t r = 0; r < phase.reads.size(); ++r) {
    const SlotRead &read = phase.reads[r];
    if (!fits(ref, kernel, phase, read.slot, read.access, kernel.ins[r],
              "reads"))
      return false;
    if (kernel.ins[r] >= 0 && !reads(ref, read, kernel.ins[r]))
      return false;
  }
  for (size_t w = 0; w < phase.writes.size(); ++w) {
    const SlotWrite &write = phase.writes[w];
    if (!fits(ref, kernel, phase, write.slot, write.access, kernel.outs[w],
              "writes"))
      return false;
    if (kernel.outs[w] < 0)
      continue;
    if (!idle(ref, kernel.outs[w], true) || !mayWrite(ref, kernel.outs[w]))
      return false;
    Contents &c = contentsOf(ref, kernel.outs[w]);
    const Box box = bufferOf(ref, kernel.outs[w]).region.box();
    const bool adds = std::find(kernel.addsTo.begin(), kernel.addsTo.end(),
                                int(w)) != kernel.addsTo.end();
    if (adds) {
      if (!addsUp(ref, write, kernel.outs[w], box))
        return false;
      continue;
    }
    c.clear();
    c.write(box, originOf(task, write));
  }
  for (int w : kernel.addsTo)
    if (w < 0 || w >= static_cast<int>(kernel.outs.size()) ||
        kernel.outs[w] < 0)
      return fail(ref, "adds to result " + std::to_string(w) +
                           ", which it does not have");
  return true;
}

/// A kernel adds its partial values to others of the same sum.
bool ProgramCheck::addsUp(ActionRef ref, const SlotWrite &write, BufferId id,
                          const Box &box) {
  const Buffer &buffer = bufferOf(ref, id);
  if (!write.mayAccumulate || !isSummedInPlace(buffer.type))
    return fail(ref, "adds to '" + buffer.name + "', which its kernel cannot");
  const Origin origin = originOf(program.action(ref).task, write);
  Contents &contents = contentsOf(ref, id);
  if (!contents.covers(box))
    return fail(ref, "adds to " + box.str() + " of '" + buffer.name +
                         "', which was not written");
  for (const Contents::Piece &piece : contents.pieces())
    if (piece.origin.value != origin.value)
      return fail(ref, "adds to '" + nameOf(origin.value) + "' in '" +
                           buffer.name + "', found '" +
                           nameOf(piece.origin.value) + "'");
  if (!contents.combine(box, origin))
    return fail(ref,
                "adds a partial result to '" + buffer.name + "' a second time");
  return true;
}

bool ProgramCheck::local(ActionRef ref, const ProbeAction &probe) {
  if (!readWhole(ref, probe.buffer, "offers"))
    return false;
  const auto known = outputNumbers.find(probe.output);
  if (known == outputNumbers.end())
    return fail(ref, "offers '" + probe.output + "', which is no output");
  const Output &output = graph.outputs[known->second];
  for (const Contents::Piece &piece : contentsOf(ref, probe.buffer).pieces()) {
    if (piece.origin.value != output.value || !piece.origin.complete())
      return fail(ref, "offers " + piece.box.str() + " of '" +
                           nameOf(piece.origin.value) + "' as output '" +
                           probe.output + "', expected all of '" +
                           graph.value(output.value).name + "' there");
    offered[known->second].write(piece.box, piece.origin);
  }
  return true;
}

/// The global box behind a local box of a buffer; nothing if it crosses pieces.
static std::optional<Box> globalBox(const Region &region, const Shape &at,
                                    const Shape &size) {
  for (const Region::Piece &piece : region.pieces()) {
    Box box(region.rank());
    bool inside = true;
    for (int d = 0; d < box.rank(); ++d) {
      int64_t lo = piece.box[d].lo + at[d] - piece.at[d];
      box[d] = {lo, lo + size[d]};
      inside &= piece.box[d].contains(box[d]);
    }
    if (inside)
      return box;
  }
  return std::nullopt;
}

bool ProgramCheck::local(ActionRef ref, const CopyAction &copy) {
  const Buffer &src = bufferOf(ref, copy.src), &dst = bufferOf(ref, copy.dst);
  // A copy of a whole packed buffer crosses pieces but keeps them in place.
  bool whole = src.region == dst.region && copy.size == src.region.shape();
  std::vector<Box> boxes;
  if (whole) {
    for (const Region::Piece &piece : src.region.pieces())
      boxes.push_back(piece.box);
  } else {
    std::optional<Box> from = globalBox(src.region, copy.srcAt, copy.size);
    std::optional<Box> to = globalBox(dst.region, copy.dstAt, copy.size);
    if (!from || !to || *from != *to)
      return fail(ref, "copies " + (from ? from->str() : "an unknown part") +
                           " of '" + src.name + "' to " +
                           (to ? to->str() : "an unknown part") + " of '" +
                           dst.name + "'");
    boxes.push_back(*from);
  }
  if (!idle(ref, copy.src, false) || !idle(ref, copy.dst, true))
    return false;
  if (copy.accumulates) {
    if (ref.index >= program.devices[ref.device].microBatchActions ||
        dst.section != Section::State)
      return fail(ref, "adds '" + src.name +
                           "' up over the micro-batches in '" + dst.name +
                           "', expected in a micro-batch and in the state");
  } else if (!mayWrite(ref, copy.dst)) {
    return false;
  }
  Contents &target = contentsOf(ref, copy.dst);
  for (const Box &box : boxes) {
    if (!contentsOf(ref, copy.src).covers(box))
      return fail(ref, "copies " + box.str() + " of '" + src.name +
                           "', which was not written");
    if (copy.combine != Reduction::None && !target.covers(box))
      return fail(ref, "adds to " + box.str() + " of '" + dst.name +
                           "', which was not written");
    for (const Contents::Piece &piece : contentsOf(ref, copy.src).within(box)) {
      if (copy.combine == Reduction::None)
        target.write(piece.box, piece.origin);
      else if (!target.combine(piece.box, piece.origin))
        return fail(ref, "adds a partial result of '" + src.name +
                             "' a second time");
    }
  }
  return true;
}
