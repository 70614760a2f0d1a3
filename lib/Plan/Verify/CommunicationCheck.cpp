//===- CommunicationCheck.cpp - what messages and collectives move --------===//

#include "ProgramCheck.h"

#include <iterator>

using namespace ffc::plan;

bool ProgramCheck::posted(ActionRef ref, const ExchangeAction &exchange) {
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

bool ProgramCheck::message(ActionRef send, size_t s, ActionRef receive,
                           size_t r) {
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
                             std::to_string(a.bytes) + " bytes of '" + a.name +
                             "' from device " + std::to_string(send.device));
  if (a.region != b.region || a.order != b.order)
    return fail(receive, "receives " + b.region.str() + " of '" + b.name +
                             "', found " + a.region.str() + " from device " +
                             std::to_string(send.device));
  contentsOf(receive, in.buffer) = contentsOf(send, out.buffer);
  return true;
}

/// If a member's buffer lies in the symmetric part, all do, at one offset.
bool ProgramCheck::symmetric(const std::vector<ActionRef> &members,
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

bool ProgramCheck::collective(const std::vector<ActionRef> &members) {
  const CollectiveAction &first = collectiveOf(members.front());
  const std::string &name = program.action(members.front()).name;
  const auto &group = program.groups[first.group];
  for (size_t m = 0; m < members.size(); ++m) {
    const CollectiveAction &a = collectiveOf(members[m]);
    if (members[m].device != group[m])
      return fail(members[m], "enters a collective of another group");
    bool same = a.kind == first.kind && a.algorithm == first.algorithm &&
                a.schedule == first.schedule && a.combine == first.combine &&
                a.root == first.root &&
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
    if (!idle(members[m], a.dst, true))
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
    auto &flying = inFlight[members[m].device];
    flying.insert({a.src, {members[m].index, false}});
    flying.insert({a.dst, {members[m].index, true}});
    Contents &c = contentsOf(members[m], a.dst);
    c.clear();
    for (const Region::Piece &needed : dst.region.pieces())
      for (const Contents::Piece &piece : result.within(needed.box))
        c.write(piece.box, piece.origin);
  }
  return true;
}

bool ProgramCheck::waited(ActionRef ref, const WaitAction &wait) {
  auto &flying = inFlight[ref.device];
  auto land = [&](BufferId buffer) {
    auto [it, end] = flying.equal_range(buffer);
    while (it != end)
      it = it->second.first == wait.event ? flying.erase(it) : std::next(it);
  };
  const Action &ended = program.devices[ref.device].actions[wait.event];
  if (const auto *collective = ended.as<CollectiveAction>()) {
    land(collective->src);
    land(collective->dst);
  } else if (const auto *exchange = ended.as<ExchangeAction>()) {
    for (const auto *messages : {&exchange->sends, &exchange->receives})
      for (const Message &message : *messages)
        land(message.buffer);
  }
  return true;
}
