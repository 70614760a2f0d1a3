//===- Moves.cpp - what a chain proposes ----------------------------------===//

#include "Moves.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>

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

Moves::Moves(const Space &space, const std::vector<Choice> &pinned)
    : space(space), trails(space), roles(space), branches(space.graph()),
      isOpen(space.graph().ops.size()) {
  const std::vector<OpId> &anchors = space.anchors();
  for (size_t i = 0; i < anchors.size(); ++i)
    if (std::none_of(pinned.begin(), pinned.end(),
                     [&](const Choice &pin) { return pin.op == anchors[i]; })) {
      open.push_back(i);
      elements.push_back(
          (elements.empty() ? 0 : elements.back()) +
          elementsMovedBy(space.graph(), space.graph().op(anchors[i])));
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

void Moves::begin(const Walker &from, Random &source,
                  std::vector<NumberedChoice> &result) {
  walker = &from;
  random = &source;
  choices = &result;
  choices->clear();
}

size_t Moves::propose(const Walker &from, Random &source,
                      std::vector<NumberedChoice> &result) {
  begin(from, source, result);
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

size_t Moves::draw() {
  // Half of the time where most is moved, or would be.
  return random->oneIn(2)
             ? static_cast<size_t>(
                   std::upper_bound(elements.begin(), elements.end(),
                                    random->below(elements.back())) -
                   elements.begin())
             : static_cast<size_t>(random->below(int64_t(open.size())));
}

NumberedChoice Moves::drawCandidate(size_t at) {
  const OpId anchor = anchorAt(at);
  NumberedChoice drawn = walker->numbered(anchor);
  const Configuration config =
      space.candidate(anchor, *random, [&](const Configuration &made) {
        return lookUp(candidates, space.classOf(open[at]), walker->number(made),
                      [&] { return space.isCandidate(anchor, made); });
      });
  drawn.config = walker->number(config);
  return drawn;
}

void Moves::carry(const NumberedChoice &from, OpId to) {
  const int32_t both = lookUp(
      pairs, from.op, to, [&] { return static_cast<int32_t>(pairs.size()); });
  const ConfigId config = lookUp(carried, both, from.config, [&] {
    Configuration taken =
        carryOverByName(space.graph(), from.op, walker->config(from), to);
    return space.allows(to, taken) ? walker->number(taken) : -1;
  });
  if (config >= 0)
    choices->push_back({to, config, from.options & space.options(to)});
}

void Moves::candidate() { choices->push_back(drawCandidate(draw())); }

void Moves::neighbour() {
  const size_t at = draw();
  if (open.size() == 1) {
    choices->push_back(drawCandidate(at));
    return;
  }
  const bool behind = at == 0 || (at + 1 < open.size() && random->oneIn(2));
  carry(walker->numbered(anchorAt(behind ? at + 1 : at - 1)), anchorAt(at));
}

void Moves::alike() {
  const size_t at = draw();
  const NumberedChoice first = drawCandidate(at);
  for (OpId anchor : space.alike(open[at]))
    if (isOpen[anchor])
      choices->push_back({anchor, first.config, first.options});
}

void Moves::trail() {
  const size_t at = draw();
  NumberedChoice first = drawCandidate(at);
  const std::vector<OpId> &same = space.alike(open[at]);
  const OpId model =
      same[static_cast<size_t>(random->below(int64_t(same.size())))];
  if (model != first.op && random->oneIn(2)) {
    const NumberedChoice like = walker->numbered(model);
    if (space.allows(first.op, walker->config(like)))
      first = {first.op, like.config, like.options & space.options(first.op)};
  }
  choices->push_back(first);
  if (random->oneIn(2))
    for (OpId other : trails.sharing(first.op))
      if (other != first.op && isOpen[other])
        carry(first, other);
  for (size_t i = 0, leaders = choices->size(); i < leaders; ++i)
    for (auto [member, config] : behind((*choices)[i]))
      choices->push_back({member, config, walker->numbered(member).options});
}

const Moves::Taken &Moves::behind(const NumberedChoice &leader) {
  return lookUp(followed, leader.op, leader.config, [&] {
    Taken taken;
    for (auto &[member, config] :
         trails.behind(leader.op, walker->config(leader)))
      if (isOpen[member] && space.allows(member, config))
        taken.push_back({member, walker->number(config)});
    return taken;
  });
}

void Moves::stretch() {
  const size_t at = draw();
  const NumberedChoice first = drawCandidate(at);
  // Short stretches are as likely as long ones.
  int64_t most = 1;
  while (most < int64_t(open.size()) && !random->oneIn(2))
    most *= 2;
  const size_t last =
      std::min(open.size(), at + 1 + size_t(random->below(most)));
  choices->push_back(first);
  for (size_t i = at + 1; i < last; ++i)
    carry(first, anchorAt(i));
}

ConfigId Moves::resized(const NumberedChoice &from, size_t divisor,
                        bool grows) {
  const size_t way = 2 * divisor + size_t(grows);
  const auto key =
      static_cast<int32_t>(size_t(from.op) * 2 * space.divisors().size() + way);
  return lookUp(sizes, key, from.config, [&] {
    const int64_t factor = space.divisors()[divisor];
    const Configuration &now = walker->config(from);
    const auto config = grows ? space.grown(from.op, now, factor)
                              : space.shrunk(from.op, now, factor);
    return config ? walker->number(*config) : -1;
  });
}

void Moves::trade() {
  const size_t at = draw();
  const OpId first = anchorAt(at);
  OpId second = anchorAt(draw());
  const std::vector<OpId> &same = space.alike(open[at]);
  if (same.size() > 1 && random->oneIn(2))
    second = same[static_cast<size_t>(random->below(int64_t(same.size())))];
  if (first == second || !isOpen[second])
    return;
  carry(walker->numbered(first), second);
  carry(walker->numbered(second), first);
}

void Moves::exchangeDevices(const Walker &from, Random &source,
                            std::vector<NumberedChoice> &result) {
  begin(from, source, result);
  const std::vector<int64_t> &divisors = space.divisors();
  // Small blocks are more likely than large ones.
  size_t divisor = 0;
  while (divisor + 2 < divisors.size() && random->oneIn(2))
    ++divisor;
  const auto size = static_cast<DeviceId>(divisors[divisor]);
  const auto blocks = static_cast<DeviceId>(space.numDevices() / size);
  const auto one = static_cast<DeviceId>(random->below(blocks)),
             other = static_cast<DeviceId>(random->below(blocks));
  const auto [begin, end] = drawStretch();
  for (size_t i = begin; i < end; ++i) {
    const NumberedChoice now = walker->numbered(anchorAt(i));
    Configuration config = walker->config(now);
    if (config.numPoints() == space.numDevices())
      continue;
    for (DeviceId &device : config.devices)
      if (device / size == one)
        device += (other - one) * size;
      else if (device / size == other)
        device += (one - other) * size;
    if (!(config == walker->config(now)) && space.allows(now.op, config))
      choices->push_back({now.op, walker->number(config), now.options});
  }
}

void Moves::rotate(const Walker &from, Random &source,
                   std::vector<NumberedChoice> &result) {
  begin(from, source, result);
  const std::vector<OpId> &same = space.alike(open[draw()]);
  const auto size = static_cast<int64_t>(same.size());
  const int64_t most = 3 + random->below(2);
  std::vector<NumberedChoice> members;
  for (int64_t tries = 0; tries < 2 * size; ++tries) {
    const OpId op = same[static_cast<size_t>(random->below(size))];
    const NumberedChoice now = walker->numbered(op);
    if (static_cast<int64_t>(members.size()) < most && isOpen[op] &&
        std::none_of(
            members.begin(), members.end(), [&](const NumberedChoice &other) {
              return other.config == now.config && other.options == now.options;
            }))
      members.push_back(now);
  }
  if (members.size() < 3)
    return;
  for (size_t i = 0; i < members.size(); ++i) {
    const NumberedChoice &next = members[(i + 1) % members.size()];
    choices->push_back({members[i].op, next.config, next.options});
  }
}

int64_t Moves::drawDivisorOf(int64_t number) {
  const std::vector<int64_t> divisors = divisorsOf(number);
  return divisors[static_cast<size_t>(random->below(int64_t(divisors.size())))];
}

TensorGrid Moves::drawGrid(int64_t size) {
  const int64_t layers = drawDivisorOf(size),
                other = random->oneIn(2) ? drawDivisorOf(size / layers) : 1;
  return {size / layers / other, layers, other};
}

void Moves::inGrid(OpId op, const TensorGrid &grid,
                   const std::vector<DeviceId> &devices) {
  if (const auto config = tensorGridOn(space, roles, op, grid, devices))
    choices->push_back(
        {op, walker->number(*config), walker->numbered(op).options});
}

void Moves::tradeBranches(const Walker &from, Random &source,
                          std::vector<NumberedChoice> &result) {
  begin(from, source, result);
  const auto number = static_cast<int64_t>(branches.operations.size());
  if (number < 2)
    return;
  std::array<int64_t, 2> pair{random->below(number), random->below(number - 1)};
  pair[1] += pair[1] >= pair[0];
  std::array<std::vector<size_t>, 2> members;
  std::array<std::set<DeviceId>, 2> devices;
  for (size_t i = 0; i < open.size(); ++i)
    for (size_t b = 0; b < pair.size(); ++b)
      if (branches.of[anchorAt(i)] == pair[b]) {
        members[b].push_back(i);
        const Configuration &own = walker->config(anchorAt(i));
        devices[b].insert(own.devices.begin(), own.devices.end());
      }
  if (devices[0] == devices[1] || devices[0].empty() || devices[1].empty())
    return;
  for (size_t b = 0; b < pair.size(); ++b) {
    const std::vector<DeviceId> there(devices[1 - b].begin(),
                                      devices[1 - b].end());
    const TensorGrid grid = drawGrid(static_cast<int64_t>(there.size()));
    for (size_t i : members[b])
      inGrid(anchorAt(i), grid, there);
  }
}

void Moves::group() {
  const std::vector<int64_t> &divisors = space.divisors();
  const int64_t size =
      divisors[static_cast<size_t>(random->below(int64_t(divisors.size())))];
  const TensorGrid grid = drawGrid(size);
  std::vector<DeviceId> block(static_cast<size_t>(size));
  std::iota(
      block.begin(), block.end(),
      static_cast<DeviceId>(random->below(space.numDevices() / size) * size));
  auto split = [&](size_t i) { inGrid(anchorAt(i), grid, block); };
  if (branches.operations.size() > 1 && random->oneIn(2)) {
    const int branch = branches.of[anchorAt(draw())];
    for (size_t i = 0; i < open.size(); ++i)
      if (branches.of[anchorAt(i)] == branch)
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
    const NumberedChoice now = walker->numbered(anchorAt(i));
    const ConfigId config =
        walker->number(space.bySpeed(now.op, walker->config(now), exponent));
    if (config != now.config)
      choices->push_back({now.op, config, now.options});
  }
}

void Moves::resize() {
  const auto [begin, end] = drawStretch();
  // Small factors are more likely than large ones.
  size_t divisor = 1;
  while (divisor + 1 < space.divisors().size() && random->oneIn(4))
    ++divisor;
  const bool grows = random->oneIn(2);
  for (size_t i = begin; i < end; ++i) {
    const NumberedChoice now = walker->numbered(anchorAt(i));
    if (const ConfigId config = resized(now, divisor, grows); config >= 0)
      choices->push_back({now.op, config, now.options});
  }
}

void Moves::option() {
  const auto drawn =
      static_cast<size_t>(random->below(int64_t(withOptions.size())));
  NumberedChoice choice = walker->numbered(withOptions[drawn]);
  const std::vector<ChoiceOption> all = space.options(choice.op).list();
  const ChoiceOption changed =
      all.size() == 1
          ? all.front()
          : all[static_cast<size_t>(random->below(int64_t(all.size())))];
  choice.options.set(changed, !choice.options.has(changed));
  choices->push_back(choice);
}
