//===- Repair.cpp - windows of a strategy, solved again -------------------===//

#include "Repair.h"

#include <algorithm>
#include <set>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Anchors of a window, and choices for the first of them that are kept.
static constexpr size_t kWindow = 4, kBeam = 8;

/// Of the anchors, by index: all of branches, what these meet in, and each
/// branch, where there are several that matter.
static std::vector<std::vector<size_t>>
partsOf(const Space &space, const std::vector<size_t> &anchors) {
  const Branches branches(space.graph());
  if (!branches.areWorthwhile())
    return {};
  std::vector<std::vector<size_t>> parts(branches.operations.size() + 2);
  for (size_t a : anchors) {
    const int branch = branches.of[space.anchors()[a]];
    parts[branch < 0 ? 1 : 0].push_back(a);
    if (branch >= 0)
      parts[static_cast<size_t>(branch) + 2].push_back(a);
  }
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [](const auto &part) { return part.empty(); }),
              parts.end());
  return parts;
}

Repair::Repair(const Space &space, Walker &walker,
               const std::vector<Choice> &pinned, std::function<bool()> mayTake,
               std::function<bool()> goesOn)
    : space(space), walker(walker), mayTake(std::move(mayTake)),
      goesOn(std::move(goesOn)), trails(space), roles(space),
      moves(space, pinned), isOpen(space.anchors().size(), true),
      candidates(space.anchors().size()) {
  const Graph &graph = space.graph();
  for (const Choice &pin : pinned)
    isOpen[indexOf(pin.op)] = false;
  std::vector<size_t> groupOf(graph.ops.size());
  for (size_t a = 0; a < isOpen.size(); ++a) {
    if (isOpen[a])
      open.push_back(a);
    groupOf[space.anchors()[a]] = a;
    for (OpId op : space.followers(space.anchors()[a]))
      groupOf[op] = a;
  }
  parts = partsOf(space, open);
  // Where most is moved there is most to gain, if not all can be tried.
  std::stable_sort(open.begin(), open.end(), [&](size_t a, size_t b) {
    return elementsMovedBy(graph, graph.op(space.anchors()[a])) >
           elementsMovedBy(graph, graph.op(space.anchors()[b]));
  });
  std::vector<std::set<size_t>> found(isOpen.size());
  auto join = [&](size_t a, size_t b) {
    if (a != b && isOpen[b])
      found[a].insert(b);
  };
  for (const Value &value : graph.values)
    for (const Use &use : value.uses)
      if (value.producer >= 0) {
        join(groupOf[value.producer], groupOf[use.op]);
        join(groupOf[use.op], groupOf[value.producer]);
      }
  for (const std::set<size_t> &each : found)
    neighbours.emplace_back(each.begin(), each.end());
}

size_t Repair::indexOf(OpId anchor) const {
  return static_cast<size_t>(
      std::lower_bound(space.anchors().begin(), space.anchors().end(), anchor) -
      space.anchors().begin());
}

/// Takes the choices if they are faster and fit.
bool Repair::take(const Choices &choices, MoveCount &count) {
  ++made;
  const Picoseconds limit = walker.makespan() - 1;
  if (walker.proposeNumbered(choices, limit) > limit || !mayTake()) {
    walker.reject();
    return false;
  }
  walker.accept();
  ++count.accepted;
  return true;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The anchors that have something else there: each alone, and those that are
/// connected.
std::vector<std::vector<size_t>>
Repair::regionsOf(const Choices &theirs) const {
  std::vector<bool> differs(isOpen.size()), seen(isOpen.size());
  for (size_t a : open) {
    const NumberedChoice own = walker.numbered(space.anchors()[a]);
    differs[a] =
        own.config != theirs[a].config || !(own.options == theirs[a].options);
  }
  std::vector<std::vector<size_t>> result;
  for (size_t first : open) {
    if (!differs[first])
      continue;
    result.push_back({first});
    std::vector<size_t> region{first};
    if (seen[first])
      continue;
    seen[first] = true;
    for (size_t i = 0; i < region.size(); ++i)
      for (size_t next : neighbours[region[i]])
        if (differs[next] && !seen[next]) {
          seen[next] = true;
          region.push_back(next);
        }
    if (region.size() > 1)
      result.push_back(std::move(region));
  }
  return result;
}

void Repair::takeOver(const Strategy &other) {
  const Strategy own = walker.strategy();
  walker.assign(other);
  Choices theirs;
  for (OpId anchor : space.anchors())
    theirs.push_back(walker.numbered(anchor));
  walker.assign(own);
  for (const std::vector<size_t> &region : regionsOf(theirs)) {
    if (!isLeft())
      return;
    Choices choices;
    for (size_t a : region)
      choices.push_back(theirs[a]);
    ++regions.proposed;
    take(choices, regions);
  }
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void Repair::note(const Strategy &strategy) {
  for (size_t a : open) {
    const OpId anchor = space.anchors()[a];
    std::vector<ConfigId> &all = candidates[space.classOf(a)];
    auto add = [&](const Configuration &config) {
      const ConfigId id = walker.number(config);
      const bool isNew = std::find(all.begin(), all.end(), id) == all.end();
      if (isNew)
        all.push_back(id);
      return isNew;
    };
    if (add(strategy[anchor]))
      for (const Configuration &relative :
           space.relatives(anchor, strategy[anchor]))
        add(relative);
  }
}

/// Adds `partial` with one more choice to `next`, of which the `beam` fastest
/// are kept.
void Repair::addIfFaster(std::vector<Partial> &next, Partial partial,
                         const NumberedChoice &choice, size_t beam) {
  const Picoseconds limit =
      next.size() < beam ? kNoLimit : next.back().makespan - 1;
  ++made;
  partial.choices.push_back(choice);
  partial.makespan = walker.proposeNumbered(partial.choices, limit);
  walker.reject();
  if (partial.makespan > limit)
    return;
  next.insert(std::upper_bound(next.begin(), next.end(), partial,
                               [](const Partial &a, const Partial &b) {
                                 return a.makespan < b.makespan;
                               }),
              std::move(partial));
  if (next.size() > beam)
    next.pop_back();
}

/// What an anchor has, nothing and all of what it may have.
std::vector<ChoiceOptions> Repair::optionsOf(const NumberedChoice &own) const {
  std::vector<ChoiceOptions> result{own.options};
  for (const ChoiceOptions &other : {ChoiceOptions(), space.options(own.op)})
    if (std::find(result.begin(), result.end(), other) == result.end())
      result.push_back(other);
  return result;
}

/// With every candidate of one more anchor.
void Repair::extend(std::vector<Partial> &next, const Partial &partial,
                    size_t anchor, size_t beam) {
  const NumberedChoice own = walker.numbered(space.anchors()[anchor]);
  const std::vector<ChoiceOptions> allOptions = optionsOf(own);
  for (ConfigId config : choicesOf(anchor))
    for (const ChoiceOptions &options : allOptions) {
      if (config == own.config && options == own.options)
        continue;
      if (!isLeft())
        return;
      addIfFaster(next, partial, {own.op, config, options}, beam);
    }
}

/// Chooses again for the anchors, one after the other; true if that is faster.
bool Repair::solve(const std::vector<size_t> &window) {
  const Picoseconds now = walker.makespan();
  ++windows.proposed;
  std::vector<Partial> kept{{now, {}}};
  for (size_t w = 0; w < window.size(); ++w) {
    const size_t beam = w + 1 < window.size() ? kBeam : 1;
    // An anchor may keep what it has.
    std::vector<Partial> next(kept.begin(),
                              kept.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(beam, kept.size())));
    for (const Partial &partial : kept)
      extend(next, partial, window[w], beam);
    kept.swap(next);
  }
  return kept.front().makespan < now && take(kept.front().choices, windows);
}

/// The anchors that are reached first from `first`.
std::vector<size_t> Repair::connected(size_t first) const {
  std::vector<size_t> window{first};
  for (size_t i = 0; i < window.size(); ++i)
    for (size_t next : neighbours[window[i]])
      if (window.size() < kWindow &&
          std::find(window.begin(), window.end(), next) == window.end())
        window.push_back(next);
  std::sort(window.begin(), window.end());
  return window;
}

/// Layers alike from `first` on.
std::vector<size_t> Repair::alike(size_t first) const {
  const std::vector<OpId> &all = space.alike(first);
  std::vector<size_t> window;
  auto next = std::lower_bound(all.begin(), all.end(), space.anchors()[first]);
  for (; next != all.end() && window.size() < kWindow; ++next)
    if (const size_t a = indexOf(*next); isOpen[a])
      window.push_back(a);
  return window;
}

bool Repair::solveEach(
    const std::function<std::vector<size_t>(size_t)> &windowFrom) {
  bool gained = false;
  for (size_t anchor : open)
    if (const std::vector<size_t> window = windowFrom(anchor); isLeft())
      gained |= solve(window);
  return gained;
}

//===----------------------------------------------------------------------===//
// Layers and pairs
//===----------------------------------------------------------------------===//

/// What an anchor may choose from.
std::vector<ConfigId> Repair::choicesOf(size_t anchor) const {
  const OpId op = space.anchors()[anchor];
  std::vector<ConfigId> all = candidates[space.classOf(anchor)];
  for (const Configuration &config : space.reshaped(op, walker.config(op)))
    if (const ConfigId id = walker.number(config);
        std::find(all.begin(), all.end(), id) == all.end())
      all.push_back(id);
  return all;
}

/// What is behind the anchors of the choices, and is none of them, follows if
/// it may.
void Repair::addBehind(Choices &choices) const {
  std::set<OpId> chosen;
  for (const NumberedChoice &choice : choices)
    chosen.insert(choice.op);
  for (size_t i = 0, leaders = choices.size(); i < leaders; ++i)
    for (const auto &[member, config] :
         trails.behind(choices[i].op, walker.config(choices[i])))
      if (isOpen[indexOf(member)] && space.allows(member, config) &&
          chosen.insert(member).second)
        choices.push_back(
            {member, walker.number(config), walker.numbered(member).options});
}

/// The same for all; true if that is faster.
bool Repair::solveLayers(const std::vector<OpId> &members) {
  bool gained = false;
  for (ConfigId config : choicesOf(indexOf(members.front()))) {
    Choices choices;
    for (OpId member : members)
      choices.push_back({member, config, walker.numbered(member).options});
    Choices withMore = choices;
    addBehind(withMore);
    for (const Choices &each : {choices, withMore})
      if (isLeft() && each.size() > 1) {
        ++layers.proposed;
        gained |= take(each, layers);
      }
  }
  return gained;
}

bool Repair::solveLayers() {
  bool gained = false;
  std::vector<bool> isDone(isOpen.size());
  for (size_t first : open) {
    std::vector<OpId> members;
    for (OpId op : space.alike(first))
      if (const size_t a = indexOf(op); isOpen[a] && !isDone[a]) {
        isDone[a] = true;
        members.push_back(op);
      }
    if (!members.empty())
      gained |= solveLayers(members);
  }
  return gained;
}

/// Both on the same devices; true if that is faster.
bool Repair::solvePair(size_t first, size_t second) {
  bool gained = false;
  const OpId a = space.anchors()[first], b = space.anchors()[second];
  const std::vector<ConfigId> ofSecond = choicesOf(second);
  for (ConfigId config : choicesOf(first))
    for (ConfigId other : ofSecond) {
      const NumberedChoice one{a, config, walker.numbered(a).options},
          two{b, other, walker.numbered(b).options};
      if (!isLeft())
        return gained;
      if (config == walker.configs()[a] || other == walker.configs()[b] ||
          walker.config(one).devices != walker.config(two).devices)
        continue;
      ++pairs.proposed;
      gained |= take({one, two}, pairs);
    }
  return gained;
}

bool Repair::solvePairs() {
  bool gained = false;
  for (size_t first : open)
    for (size_t second : neighbours[first])
      if (first < second)
        gained |= solvePair(first, second);
  return gained;
}

void Repair::run(const std::vector<const Strategy *> &others, int64_t budget,
                 bool thoroughly) {
  end = made + budget;
  for (const Strategy *other : others)
    takeOver(*other);
  // Not worth a beginning.
  if (budget < static_cast<int64_t>(open.size()))
    return;
  for (const Strategy *other : others)
    note(*other);
  note(walker.strategy());
  // They are the fewest proposals, of which there may be too few for the rest.
  if (thoroughly)
    solveLayers();
  do
    while (solveEach([](size_t first) { return std::vector{first}; }))
      ;
  while (thoroughly &&
         (solveLayers() || solvePairs() ||
          solveEach([&](size_t first) { return connected(first); }) ||
          solveEach([&](size_t first) { return alike(first); })));
}
