//===- Moves.cpp - what a chain proposes ----------------------------------===//

#include "Moves.h"

#include <algorithm>
#include <iterator>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

const std::vector<Moves::Move> Moves::kMoves = {
    {"candidate", 3, &Moves::candidate}, {"neighbour", 2, &Moves::neighbour},
    {"alike", 1, &Moves::alike},         {"stretch", 2, &Moves::stretch},
    {"trail", 2, &Moves::trail},         {"resize", 1, &Moves::resize},
    {"option", 1, &Moves::option},       {"group", 1, &Moves::group},
    {"trade", 1, &Moves::trade},         {"shares", 2, &Moves::shares},
};

/// Of what it reads and writes, at least one.
static int64_t elementsOf(const Op &op, const Graph &graph) {
  int64_t sum = 1;
  for (const std::vector<ValueId> *values : {&op.operands, &op.results})
    for (ValueId value : *values)
      if (value >= 0)
        sum += numElements(graph.value(value).type.shape);
  return sum;
}

Moves::Moves(const Space &space, const std::vector<Choice> &pinned)
    : space(space), trails(space), roles(space), branches(space.graph()),
      isOpen(space.graph().ops.size()) {
  const std::vector<OpId> &anchors = space.anchors();
  for (size_t i = 0; i < anchors.size(); ++i)
    if (std::none_of(pinned.begin(), pinned.end(),
                     [&](const Choice &pin) { return pin.op == anchors[i]; })) {
      open.push_back(i);
      sizes.push_back((sizes.empty() ? 0 : sizes.back()) +
                      elementsOf(space.graph().op(anchors[i]), space.graph()));
      isOpen[anchors[i]] = true;
      if (!space.options(anchors[i]).empty())
        withOptions.push_back(anchors[i]);
    }
}

std::vector<MoveCount> Moves::counts() {
  std::vector<MoveCount> result;
  for (const Move &move : kMoves)
    result.push_back({move.name});
  return result;
}

int Moves::weightOf(const Move &move) const {
  const bool canBe = move.propose == &Moves::option   ? !withOptions.empty()
                     : move.propose == &Moves::shares ? !space.speeds().empty()
                                                      : true;
  return canBe ? move.weight : 0;
}

size_t Moves::propose(const Walker &from, Random &source,
                      std::vector<Choice> &result) {
  walker = &from;
  random = &source;
  choices = &result;
  choices->clear();
  int total = 0;
  for (const Move &move : kMoves)
    total += weightOf(move);
  int64_t drawn = random->below(total);
  size_t number = 0;
  for (; drawn >= weightOf(kMoves[number]); ++number)
    drawn -= weightOf(kMoves[number]);
  (this->*kMoves[number].propose)();
  return number;
}

OpId Moves::drawAnchor(size_t &at) {
  // Half of the time where most is moved, or would be.
  at = random->oneIn(2)
           ? static_cast<size_t>(std::upper_bound(sizes.begin(), sizes.end(),
                                                  random->below(sizes.back())) -
                                 sizes.begin())
           : static_cast<size_t>(random->below(int64_t(open.size())));
  return space.anchors()[open[at]];
}

Choice Moves::drawCandidate(OpId anchor) {
  return {anchor, space.candidate(anchor, *random),
          walker->choice(anchor).options};
}

void Moves::carry(const Choice &from, OpId to) {
  Configuration config =
      carryOverByName(space.graph(), from.op, from.config, to);
  if (space.allows(to, config))
    choices->push_back(
        {to, std::move(config), from.options & space.options(to)});
}

void Moves::candidate() {
  size_t at;
  choices->push_back(drawCandidate(drawAnchor(at)));
}

void Moves::neighbour() {
  size_t at;
  const OpId anchor = drawAnchor(at);
  if (open.size() == 1) {
    choices->push_back(drawCandidate(anchor));
    return;
  }
  const bool behind = at == 0 || (at + 1 < open.size() && random->oneIn(2));
  carry(walker->choice(space.anchors()[open[behind ? at + 1 : at - 1]]),
        anchor);
}

void Moves::alike() {
  size_t at;
  const Choice first = drawCandidate(drawAnchor(at));
  const std::vector<OpId> &same = space.alike(open[at]);
  for (size_t i : open)
    if (const OpId anchor = space.anchors()[i];
        std::binary_search(same.begin(), same.end(), anchor))
      choices->push_back({anchor, first.config, first.options});
}

void Moves::trail() {
  size_t at;
  Choice first = drawCandidate(drawAnchor(at));
  const std::vector<OpId> &same = space.alike(open[at]);
  const OpId model =
      same[static_cast<size_t>(random->below(int64_t(same.size())))];
  if (model != first.op && random->oneIn(2)) {
    const Choice like = walker->choice(model);
    if (space.allows(first.op, like.config))
      first = {first.op, like.config, like.options & space.options(first.op)};
  }
  choices->push_back(first);
  if (random->oneIn(2))
    for (OpId other : trails.sharing(first.op))
      if (other != first.op && isOpen[other])
        carry(first, other);
  for (size_t i = 0, leaders = choices->size(); i < leaders; ++i) {
    const Choice leader = (*choices)[i];
    for (auto &[member, config] : trails.behind(leader.op, leader.config))
      if (isOpen[member] && space.allows(member, config))
        choices->push_back({member, config, walker->choice(member).options});
  }
}

void Moves::stretch() {
  size_t at;
  const Choice first = drawCandidate(drawAnchor(at));
  // Short stretches are as likely as long ones.
  int64_t most = 1;
  while (most < int64_t(open.size()) && !random->oneIn(2))
    most *= 2;
  const size_t last =
      std::min(open.size(), at + 1 + size_t(random->below(most)));
  choices->push_back(first);
  for (size_t i = at + 1; i < last; ++i)
    carry(first, space.anchors()[open[i]]);
}

void Moves::trade() {
  size_t at, with;
  const OpId first = drawAnchor(at);
  OpId second = drawAnchor(with);
  const std::vector<OpId> &same = space.alike(open[at]);
  if (same.size() > 1 && random->oneIn(2))
    second = same[static_cast<size_t>(random->below(int64_t(same.size())))];
  if (first == second || !isOpen[second])
    return;
  carry(walker->choice(first), second);
  carry(walker->choice(second), first);
}

void Moves::group() {
  const std::vector<int64_t> &divisors = space.divisors();
  auto drawDivisor = [&] {
    return divisors[static_cast<size_t>(
        random->below(int64_t(divisors.size())))];
  };
  const int64_t size = drawDivisor();
  int64_t layers = drawDivisor();
  while (size % layers != 0)
    layers = drawDivisor();
  const auto first =
      static_cast<DeviceId>(random->below(space.numDevices() / size) * size);
  auto split = [&](size_t i) {
    const Choice now = walker->choice(space.anchors()[open[i]]);
    auto config = gridOf(
        space, now.op,
        {{roles.sample[now.op], size / layers}, {roles.tensor[now.op], layers}},
        first);
    if (config && space.allows(now.op, *config))
      choices->push_back({now.op, *std::move(config), now.options});
  };
  if (branches.operations.size() > 1 && random->oneIn(2)) {
    size_t at;
    const int branch = branches.of[drawAnchor(at)];
    for (size_t i = 0; i < open.size(); ++i)
      if (branches.of[space.anchors()[open[i]]] == branch)
        split(i);
    return;
  }
  const auto [begin, end] = drawStretch();
  for (size_t i = begin; i < end; ++i)
    split(i);
}

std::pair<size_t, size_t> Moves::drawStretch() {
  const auto end = static_cast<int64_t>(open.size());
  if (random->oneIn(2))
    return {0, end};
  const int64_t begin = random->below(end);
  return {begin, begin + 1 + random->below(end - begin)};
}

void Moves::shares() {
  const auto [begin, end] = drawStretch();
  // Slow devices may get less than they can make while others do theirs, since
  // they have more to send, or more, where most of the time is that of links.
  constexpr double kExponents[] = {0, 0.5, 0.75, 1, 1, 1, 1.25, 1.5};
  const double exponent =
      kExponents[random->below(int64_t(std::size(kExponents)))];
  for (size_t i = begin; i < end; ++i) {
    const Choice now = walker->choice(space.anchors()[open[i]]);
    Configuration config = space.bySpeed(now.op, now.config, exponent);
    if (!(config == now.config))
      choices->push_back({now.op, std::move(config), now.options});
  }
}

void Moves::resize() {
  const auto [begin, end] = drawStretch();
  // Small factors are more likely than large ones.
  size_t divisor = 1;
  while (divisor + 1 < space.divisors().size() && random->oneIn(4))
    ++divisor;
  const int64_t factor = space.divisors()[divisor];
  const bool grows = random->oneIn(2);
  for (size_t i = begin; i < end; ++i) {
    const Choice now = walker->choice(space.anchors()[open[i]]);
    if (auto config = grows ? space.grown(now.op, now.config, factor)
                            : space.shrunk(now.op, now.config, factor))
      choices->push_back({now.op, *std::move(config), now.options});
  }
}

void Moves::option() {
  const auto drawn =
      static_cast<size_t>(random->below(int64_t(withOptions.size())));
  Choice choice = walker->choice(withOptions[drawn]);
  const std::vector<ChoiceOption> all = space.options(choice.op).list();
  const ChoiceOption changed =
      all.size() == 1
          ? all.front()
          : all[static_cast<size_t>(random->below(int64_t(all.size())))];
  choice.options.set(changed, !choice.options.has(changed));
  choices->push_back(std::move(choice));
}
