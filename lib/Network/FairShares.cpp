//===- FairShares.cpp - max-min fair rates --------------------------------===//

#include "FairShares.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace ffc::network;

FairShares::FairShares(const std::vector<double> &capacities)
    : links(capacities.size()) {
  for (size_t l = 0; l < links.size(); ++l)
    links[l].capacity = capacities[l];
}

StreamId FairShares::addStream(const std::vector<Crossed> &over) {
  Stream &stream = streams.emplace_back();
  for (const Crossed &crossed : over)
    stream.crossings.push_back({crossed.link, crossed.part, -1});
  return static_cast<StreamId>(streams.size() - 1);
}

void FairShares::addFlows(StreamId id, int64_t count) {
  Stream &stream = streams[id];
  stream.flows += count;
  if (!stream.changed) {
    stream.changed = true;
    touched.push_back(id);
  }
}

void FairShares::list(StreamId id) {
  std::vector<Crossing> &crossings = streams[id].crossings;
  for (size_t c = 0; c < crossings.size(); ++c) {
    std::vector<OnLink> &on = links[crossings[c].link].streams;
    crossings[c].place = static_cast<int32_t>(on.size());
    on.push_back({id, static_cast<int32_t>(c)});
  }
}

void FairShares::unlist(StreamId id) {
  for (const Crossing &crossing : streams[id].crossings) {
    std::vector<OnLink> &on = links[crossing.link].streams;
    const OnLink last = on.back();
    on[crossing.place] = last;
    streams[last.stream].crossings[last.crossing].place = crossing.place;
    on.pop_back();
  }
}

/// Streams below this level keep their rate: until then links fill up as
/// before. A stream that lost flows was among the last that its links gave a
/// rate; one that gained flows cannot get less than an even share.
double FairShares::lowestLevel() const {
  double lowest = std::numeric_limits<double>::infinity();
  for (StreamId id : touched) {
    const Stream &stream = streams[id];
    if (stream.filledFlows > 0)
      lowest = std::min(lowest, stream.level);
    if (stream.flows <= stream.filledFlows)
      continue;
    for (const Crossing &crossing : stream.crossings) {
      const LinkState &link = links[crossing.link];
      double flows = 0;
      for (const OnLink &on : link.streams)
        flows += load(on);
      lowest = std::min(lowest, link.capacity / flows);
    }
  }
  return lowest;
}

void FairShares::reach(LinkId id) {
  LinkState &link = links[id];
  if (link.reached)
    return;
  link.reached = true;
  link.left = link.capacity;
  link.flows = 0;
  link.open = 0;
  region.push_back(id);
}

/// The links that the change can reach, with what is left on them, and their
/// streams without a rate. Those that have just got flows have level 0.
void FairShares::collect(double from) {
  for (size_t r = 0; r < region.size(); ++r) {
    const LinkId id = region[r];
    for (size_t s = 0; s < links[id].streams.size(); ++s) {
      const OnLink on = links[id].streams[s];
      Stream &stream = streams[on.stream];
      if (!stream.open && !stream.changed && stream.level < from) {
        links[id].left -= load(on) * stream.level;
        continue;
      }
      links[id].flows += load(on);
      ++links[id].open;
      if (stream.open)
        continue;
      stream.open = true;
      for (const Crossing &crossing : stream.crossings)
        reach(crossing.link);
    }
  }
}

void FairShares::close(StreamId id, double level) {
  Stream &stream = streams[id];
  stream.open = false;
  for (const Crossing &crossing : stream.crossings) {
    LinkState &link = links[crossing.link];
    link.left -= stream.on(crossing) * level;
    link.flows -= stream.on(crossing);
    --link.open;
  }
  if (stream.level != level) {
    stream.level = level;
    result.push_back(id);
  }
}

/// A link's level can only rise while others fill up, so a level that is out of
/// date is noticed when its turn comes.
void FairShares::fill() {
  auto levelOf = [&](LinkId id) {
    const LinkState &link = links[id];
    return std::max(link.left, 0.0) / link.flows;
  };
  heap.clear();
  for (LinkId id : region)
    if (links[id].open > 0)
      heap.emplace_back(levelOf(id), id);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    auto &[level, id] = heap.back();
    if (links[id].open == 0) {
      heap.pop_back();
      continue;
    }
    const double now = levelOf(id);
    if (now > level) {
      level = now;
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
      continue;
    }
    for (const OnLink &on : links[id].streams)
      if (streams[on.stream].open)
        close(on.stream, level);
    heap.pop_back();
  }
}

const std::vector<StreamId> &FairShares::update() {
  result.clear();
  size_t kept = 0;
  for (StreamId id : touched) {
    Stream &stream = streams[id];
    if (stream.flows == stream.filledFlows) {
      stream.changed = false;
      continue;
    }
    touched[kept++] = id;
    if (stream.filledFlows == 0)
      list(id);
    else if (stream.flows == 0)
      unlist(id);
  }
  touched.resize(kept);
  if (touched.empty())
    return result;

  const double from = lowestLevel();
  region.clear();
  for (StreamId id : touched)
    for (const Crossing &crossing : streams[id].crossings)
      reach(crossing.link);
  collect(from);
  fill();
  for (LinkId id : region)
    links[id].reached = false;
  for (StreamId id : touched) {
    Stream &stream = streams[id];
    stream.changed = false;
    stream.filledFlows = stream.flows;
    if (stream.flows == 0) {
      stream.level = 0;
      result.push_back(id);
    }
  }
  touched.clear();
  return result;
}
