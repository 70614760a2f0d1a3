//===- Verifier.cpp - proof that a program is safe to run -----------------===//

#include "ffc/Plan/Verifier.h"

#include "AlgorithmCheck.h"
#include "BatchCheck.h"
#include "BufferContents.h"
#include "MemoryCheck.h"
#include "ProgramWalk.h"
#include "SlotCheck.h"

#include <cassert>
#include <map>
#include <set>

using namespace ffc::plan;

namespace {

class Checker {
public:
  Checker(const Graph &graph, const Strategy &strategy, const Program &program)
      : graph(graph), strategy(strategy), program(program), orders(graph),
        inFlight(program.devices.size()) {
    for (const DeviceProgram &device : program.devices) {
      contents.emplace_back(device.buffers.size());
      for (const InputSlot &slot : device.inputs)
        fill(device, slot.buffer, slot.value);
      for (const StateSlot &slot : device.states)
        fill(device, slot.buffer, graph.states[slot.state].read);
    }
  }

  bool local(ActionRef ref, const KernelAction &kernel);
  bool local(ActionRef ref, const CopyAction &copy);
  bool local(ActionRef ref, const ProbeAction &probe) {
    return readWhole(ref, probe.buffer, "offers");
  }

  bool posted(ActionRef ref, const ExchangeAction &exchange) {
    auto &flying = inFlight[ref.device];
    for (const Message &message : exchange.sends) {
      if (!readWhole(ref, message.buffer, "sends"))
        return false;
      flying.insert({message.buffer, {ref.index, false}});
    }
    for (const Message &message : exchange.receives) {
      if (!idle(ref, message.buffer, true))
        return false;
      flying.insert({message.buffer, {ref.index, true}});
    }
    return true;
  }

  bool message(ActionRef send, size_t s, ActionRef receive, size_t r) {
    const auto &from = program.action(send).get<ExchangeAction>();
    const auto &to = program.action(receive).get<ExchangeAction>();
    const Message &out = from.sends[s], &in = to.receives[r];
    if (from.tag != to.tag)
      return fail(receive, "expects a message with tag " +
                               std::to_string(to.tag) + " from device " +
                               std::to_string(send.device) + ", found tag " +
                               std::to_string(from.tag));
    const Buffer &a = bufferOf(send, out.buffer);
    const Buffer &b = bufferOf(receive, in.buffer);
    if (a.bytes != b.bytes || a.type != b.type)
      return fail(receive, "receives '" + b.name + "' of " +
                               std::to_string(b.bytes) + " bytes, found " +
                               std::to_string(a.bytes) + " bytes of '" +
                               a.name + "' from device " +
                               std::to_string(send.device));
    if (a.region != b.region || a.order != b.order)
      return fail(receive, "receives " + b.region.str() + " of '" + b.name +
                               "', found " + a.region.str() + " from device " +
                               std::to_string(send.device));
    contentsOf(receive, in.buffer) = contentsOf(send, out.buffer);
    return true;
  }

  bool collective(const std::vector<ActionRef> &members);
  bool symmetric(const std::vector<ActionRef> &members,
                 BufferId CollectiveAction::*side);

  bool waited(ActionRef ref, const WaitAction &wait) {
    auto &flying = inFlight[ref.device];
    for (auto it = flying.begin(); it != flying.end();)
      it = it->second.first == wait.event ? flying.erase(it) : std::next(it);
    return true;
  }

  /// At the end every state that is stored holds what is stored.
  bool states() {
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

  bool fail(ActionRef ref, const std::string &what) {
    const Action &a = program.action(ref);
    error = "device " + std::to_string(ref.device) + ", task " +
            str(a.task, graph) + " (" + a.name + "): " + what;
    return false;
  }

  std::string error;

private:
  const CollectiveAction &collectiveOf(ActionRef ref) const {
    return program.action(ref).get<CollectiveAction>();
  }
  const Buffer &bufferOf(ActionRef ref, BufferId buffer) const {
    return program.devices[ref.device].buffers[buffer];
  }
  Contents &contentsOf(ActionRef ref, BufferId buffer) {
    return contents[ref.device][buffer];
  }

  /// Inputs and state are complete from the start.
  void fill(const DeviceProgram &device, BufferId buffer, ValueId value) {
    Contents &c = contents.back()[buffer];
    for (const Region::Piece &piece : device.buffers[buffer].region.pieces())
      c.write(piece.box, {value, {0}, 1});
  }

  /// False if a message under way reads `buffer` and it is to be written, or
  /// if one writes it.
  bool idle(ActionRef ref, BufferId buffer, bool toBeWritten) {
    auto [begin, end] = inFlight[ref.device].equal_range(buffer);
    for (auto it = begin; it != end; ++it)
      if (toBeWritten || it->second.second)
        return fail(ref, "touches '" + bufferOf(ref, buffer).name +
                             "' while a message with it is under way");
    return true;
  }

  bool readWhole(ActionRef ref, BufferId buffer, const char *verb) {
    if (!idle(ref, buffer, false))
      return false;
    for (const Region::Piece &piece : bufferOf(ref, buffer).region.pieces())
      if (!contentsOf(ref, buffer).covers(piece.box))
        return fail(ref, std::string(verb) + " '" + bufferOf(ref, buffer).name +
                             "' of which " + piece.box.str() +
                             " was not written");
    return true;
  }

  bool mayWrite(ActionRef ref, BufferId buffer);
  template <class SlotAccess>
  bool fits(ActionRef ref, const KernelAction &kernel, const Phase &phase,
            const SlotAccess &access, BufferId buffer, const char *verb) {
    auto wrong = checkSlot(graph, orders, program.action(ref).task.op, kernel,
                           phase, access.slot, access.access,
                           buffer < 0 ? nullptr : &bufferOf(ref, buffer));
    return !wrong || fail(ref, std::string(verb) + " " + *wrong);
  }
  Origin originOf(const TaskId &task, const SlotWrite &write) const;
  /// What the contents of a slot are called in an Origin: the value, or a
  /// number of its own, below 0, for an internal tensor.
  ValueId subjectOf(OpId op, int slot) const {
    ValueId value = graph.slotValue(op, slot);
    assert((value >= 0 || slot < kMaxSlots) && "two tensors of one number");
    return value >= 0 ? value : -1 - (op * kMaxSlots + slot);
  }
  std::string nameOf(ValueId subject) const {
    if (subject >= 0)
      return graph.value(subject).name;
    int number = -1 - subject;
    return graph.op(number / kMaxSlots).name + ".internal" +
           std::to_string(number % kMaxSlots);
  }
  /// Over the slots of every operator that has internal tensors.
  static constexpr int kMaxSlots = 64;

  const Graph &graph;
  const Strategy &strategy;
  const Program &program;
  const MemoryOrders orders;
  std::vector<std::vector<Contents>> contents; ///< per device and buffer
  /// Buffers of messages under way: the exchange, and whether they are written.
  std::vector<std::multimap<BufferId, std::pair<int, bool>>> inFlight;
};

} // namespace

/// What a kernel's result stands for: which of the partial sums of its box.
Origin Checker::originOf(const TaskId &task, const SlotWrite &write) const {
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
  origin.parts = {part};
  return origin;
}

/// A micro-batch leaves the state as it was, so that the next one does the
/// same, but for the means that it adds to.
bool Checker::mayWrite(ActionRef ref, BufferId buffer) {
  if (graph.microBatches == 1 ||
      ref.index >= program.devices[ref.device].microBatchActions ||
      bufferOf(ref, buffer).section != Section::State)
    return true;
  return fail(ref, "writes state '" + bufferOf(ref, buffer).name +
                       "' in a micro-batch, expected after the last one");
}

bool Checker::local(ActionRef ref, const KernelAction &kernel) {
  const TaskId &task = program.action(ref).task;
  const Op &op = graph.op(task.op);
  const Configuration &config = strategy[task.op];
  const Phase &phase = scheduleFor(op.rules, config).phases[task.phase];
  if (config.devices[task.point()] != ref.device ||
      config.tileOf(op.rules, task.point()) != kernel.tile)
    return fail(ref, "computes tile " + kernel.tile.str() +
                         ", which the strategy does not place here");
  if (kernel.ins.size() != phase.reads.size() ||
      kernel.outs.size() != phase.writes.size())
    return fail(ref, "has " + std::to_string(kernel.ins.size()) +
                         " operands and " + std::to_string(kernel.outs.size()) +
                         " results, expected " +
                         std::to_string(phase.reads.size()) + " and " +
                         std::to_string(phase.writes.size()));
  for (size_t r = 0; r < phase.reads.size(); ++r) {
    const SlotRead &read = phase.reads[r];
    if (!fits(ref, kernel, phase, read, kernel.ins[r], "reads"))
      return false;
    if (kernel.ins[r] < 0)
      continue;
    const Buffer &buffer = bufferOf(ref, kernel.ins[r]);
    if (!readWhole(ref, kernel.ins[r], "reads"))
      return false;
    ValueId subject = subjectOf(task.op, read.slot);
    for (const Contents::Piece &piece :
         contentsOf(ref, kernel.ins[r]).pieces()) {
      if (piece.origin.value != subject)
        return fail(ref, "reads '" + nameOf(subject) + "' in '" + buffer.name +
                             "', found '" + nameOf(piece.origin.value) + "'");
      if (!piece.origin.complete())
        return fail(
            ref, "reads '" + buffer.name + "' " + piece.box.str() + ", found " +
                     std::to_string(piece.origin.parts.size()) + " of " +
                     std::to_string(piece.origin.total) + " partial results");
    }
  }
  for (size_t w = 0; w < phase.writes.size(); ++w) {
    const SlotWrite &write = phase.writes[w];
    if (!fits(ref, kernel, phase, write, kernel.outs[w], "writes"))
      return false;
    if (kernel.outs[w] < 0)
      continue;
    if (!idle(ref, kernel.outs[w], true) || !mayWrite(ref, kernel.outs[w]))
      return false;
    Contents &c = contentsOf(ref, kernel.outs[w]);
    c.clear();
    c.write(bufferOf(ref, kernel.outs[w]).region.box(), originOf(task, write));
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

bool Checker::local(ActionRef ref, const CopyAction &copy) {
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

/// If a member's buffer lies in the symmetric part, all do, at one offset.
bool Checker::symmetric(const std::vector<ActionRef> &members,
                        BufferId CollectiveAction::*side) {
  auto offsetOf = [&](const Buffer &buffer) -> int64_t {
    return buffer.offset < program.symmetricBytes(buffer.section)
               ? buffer.offset
               : -1;
  };
  auto where = [&](const Buffer &buffer) {
    const int64_t at = offsetOf(buffer);
    return at < 0 ? "outside of the symmetric part"
                  : "at byte " + std::to_string(at) + " of the symmetric " +
                        (buffer.section == Section::State ? "state" : "arena");
  };
  const Buffer &first = bufferOf(members[0], collectiveOf(members[0]).*side);
  for (ActionRef member : members) {
    const Buffer &buffer = bufferOf(member, collectiveOf(member).*side);
    const int64_t at = offsetOf(buffer);
    if (buffer.bytes > 0 &&
        (at != offsetOf(first) || (at >= 0 && buffer.section != first.section)))
      return fail(member, "has '" + buffer.name + "' " + where(buffer) +
                              ", expected it " + where(first) +
                              " as on device " +
                              std::to_string(members[0].device));
  }
  return true;
}

bool Checker::collective(const std::vector<ActionRef> &members) {
  const CollectiveAction &first = collectiveOf(members.front());
  const std::string &name = program.action(members.front()).name;
  const auto &group = program.groups[first.group];
  for (size_t m = 0; m < members.size(); ++m) {
    const CollectiveAction &a = collectiveOf(members[m]);
    if (members[m].device != group[m])
      return fail(members[m], "enters a collective of another group");
    bool same = a.kind == first.kind && a.algorithm == first.algorithm &&
                a.combine == first.combine && a.root == first.root &&
                program.action(members[m]).name == name &&
                a.batch == first.batch;
    for (auto side : {&CollectiveAction::src, &CollectiveAction::dst}) {
      const Buffer &mine = bufferOf(members[m], a.*side);
      const Buffer &theirs = bufferOf(members[0], first.*side);
      same &= mine.bytes == theirs.bytes && mine.type == theirs.type &&
              mine.order == theirs.order;
    }
    if (!same)
      return fail(members[m], "enters another collective than device " +
                                  std::to_string(members[0].device) + " (" +
                                  name + ")");
    bool reads = first.kind != CollectiveKind::Broadcast ||
                 static_cast<int>(m) == first.root;
    if (reads && !readWhole(members[m], a.src, "gives"))
      return false;
  }
  if (!symmetric(members, &CollectiveAction::src) ||
      !symmetric(members, &CollectiveAction::dst))
    return false;
  // The combined contents of all members' sources, by global box.
  Contents result;
  for (size_t m = 0; m < members.size(); ++m) {
    if (first.kind == CollectiveKind::Broadcast &&
        static_cast<int>(m) != first.root)
      continue;
    const CollectiveAction &a = collectiveOf(members[m]);
    for (const Contents::Piece &piece : contentsOf(members[m], a.src).pieces())
      if (first.combine == Reduction::None || !result.covers(piece.box))
        result.write(piece.box, piece.origin);
      else if (!result.combine(piece.box, piece.origin))
        return fail(members[m], "adds a partial result a second time");
  }
  for (size_t m = 0; m < members.size(); ++m) {
    const CollectiveAction &a = collectiveOf(members[m]);
    const Buffer &src = bufferOf(members[m], a.src);
    const Buffer &dst = bufferOf(members[m], a.dst);
    // Block m of the whole buffer, in member order along the first dimension.
    const Buffer *whole = first.kind == CollectiveKind::AllGather ? &dst
                          : first.kind == CollectiveKind::ReduceScatter
                              ? &src
                              : nullptr;
    const Buffer *part = whole == &dst ? &src : &dst;
    if (whole && !(whole->region.isBox() && part->region.isBox() &&
                   part->region.box()[0].lo - whole->region.box()[0].lo ==
                       static_cast<int64_t>(m) * part->region.box()[0].size()))
      return fail(members[m], "is member " + std::to_string(m) +
                                  " and holds block " + part->region.str() +
                                  " of " + whole->region.str());
    Contents &c = contentsOf(members[m], a.dst);
    c.clear();
    for (const Region::Piece &needed : dst.region.pieces())
      for (const Contents::Piece &piece : result.within(needed.box))
        c.write(piece.box, piece.origin);
  }
  return true;
}

std::optional<std::string> ffc::plan::verifyProgram(const Graph &graph,
                                                    const Strategy &strategy,
                                                    const Program &program,
                                                    const Topology &topology) {
  for (size_t d = 0; d < program.devices.size(); ++d) {
    const DeviceProgram &device = program.devices[d];
    if (auto error = checkMemory(graph, strategy, program, device))
      return "device " + std::to_string(d) + ": " + *error;
    if (auto error = checkBatches(program, device))
      return "device " + std::to_string(d) + ": " + *error;
    if (auto error = checkAlgorithms(program, device, topology))
      return "device " + std::to_string(d) + ": " + *error;
    int64_t planned = device.stateBytes + device.arenaBytes;
    int64_t memory = topology.kindOf(static_cast<DeviceId>(d)).memoryBytes;
    if (planned > memory)
      return "device " + std::to_string(d) + ": plan needs " +
             std::to_string(planned) + " bytes, expected at most " +
             std::to_string(memory);
  }
  Checker checker(graph, strategy, program);
  ProgramWalk<Checker> walk(program, checker);
  if (walk.run())
    return checker.states() ? std::nullopt
                            : std::optional<std::string>(checker.error);
  if (!checker.error.empty())
    return checker.error;
  for (ActionRef ref : walk.stuck()) {
    checker.fail(ref, "never goes on (deadlock)");
    return checker.error;
  }
  for (ActionRef ref : walk.strayMessages())
    checker.fail(ref, "has a message without partner");
  return checker.error;
}
