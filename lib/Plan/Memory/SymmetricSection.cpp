//===- SymmetricSection.cpp - equal offsets on all ranks ------------------===//

#include "ffc/Plan/SymmetricSection.h"

#include "ArenaBlocks.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

using namespace ffc::plan;

namespace {

/// What a collective gives or gets on a device: a buffer of its state, or the
/// block of its arena in which the buffer lies.
struct Place {
  DeviceId device = -1;
  Section section = Section::Arena;
  int index = -1;
};

/// Places that are to have one offset.
struct Class {
  std::vector<Place> places; ///< by device
  int64_t bytes = 0;
  int64_t area = 0; ///< bytes times the most actions that a place is in use for
  int64_t offset = 0;
};

/// Which places belong together, from the collectives of a program.
class PlaceSets {
public:
  PlaceSets(const Program &program, const std::vector<Blocks> &arenas)
      : program(program), arenas(arenas) {
    for (size_t d = 0; d < program.devices.size(); ++d) {
      ofState.emplace_back(program.devices[d].buffers.size(), -1);
      ofBlock.emplace_back(arenas[d].blocks.size(), -1);
    }
    for (size_t i = 0; i < program.order.size(); i += numPartsAt(program, i))
      if (program.action(program.order[i]).is<CollectiveAction>()) {
        join(i, &CollectiveAction::src);
        join(i, &CollectiveAction::dst);
      }
  }

  /// In the order of first collectives.
  std::vector<std::vector<Place>> sets() {
    std::vector<std::vector<Place>> byRoot(places.size());
    for (size_t n = 0; n < places.size(); ++n)
      byRoot[rootOf(static_cast<int>(n))].push_back(places[n]);
    byRoot.erase(std::remove_if(byRoot.begin(), byRoot.end(),
                                [](const auto &set) { return set.empty(); }),
                 byRoot.end());
    return byRoot;
  }

private:
  /// One side of the collective that begins at `order[begin]`.
  void join(size_t begin, BufferId CollectiveAction::*side) {
    int first = -1;
    const size_t members = numPartsAt(program, begin);
    for (size_t m = 0; m < members; ++m) {
      const ActionRef ref = program.order[begin + m];
      const BufferId buffer = program.action(ref).get<CollectiveAction>().*side;
      if (program.devices[ref.device].buffers[buffer].bytes == 0)
        return;
      const int root = rootOf(nodeOf(ref.device, buffer));
      if (m == 0)
        first = root;
      else
        joined[std::max(first, root)] = std::min(first, root);
      first = std::min(first, root);
    }
  }

  int nodeOf(DeviceId device, BufferId buffer) {
    const Section section = program.devices[device].buffers[buffer].section;
    const bool isState = section == Section::State;
    const int index = isState ? buffer : arenas[device].of[buffer];
    int &node = (isState ? ofState : ofBlock)[device][index];
    if (node < 0) {
      node = static_cast<int>(places.size());
      places.push_back({device, section, index});
      joined.push_back(node);
    }
    return node;
  }
  int rootOf(int node) {
    while (joined[node] != node)
      node = joined[node] = joined[joined[node]];
    return node;
  }

  const Program &program;
  const std::vector<Blocks> &arenas;
  std::vector<Place> places;
  std::vector<int> joined; ///< by place: itself, or an earlier one of its set
  /// By device, of every buffer or block; -1: no place yet.
  std::vector<std::vector<int>> ofState, ofBlock;
};

class Layout {
public:
  Layout(const Graph &graph, const Strategy &strategy, Program &program)
      : program(program) {
    for (const DeviceProgram &device : program.devices)
      arenas.push_back(blocksOf(graph, strategy, device));
  }

  void run() {
    std::vector<Class> ofStates, ofBlocks;
    statesApart.resize(program.devices.size());
    for (std::vector<Place> &places : PlaceSets(program, arenas).sets())
      if (mayHaveOneOffset(places)) {
        Class made = makeClass(std::move(places));
        const bool isState = made.places[0].section == Section::State;
        (isState ? ofStates : ofBlocks).push_back(std::move(made));
      } else {
        setApart(places);
      }
    layOutStates(ofStates);
    layOutArenas(ofBlocks);
  }

private:
  Block &blockOf(const Place &place) {
    return arenas[place.device].blocks[place.index];
  }

  /// They are in one section, and no two on a device are in use at once.
  bool mayHaveOneOffset(std::vector<Place> &places) {
    std::stable_sort(
        places.begin(), places.end(),
        [](const Place &a, const Place &b) { return a.device < b.device; });
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].section != places[0].section)
        return false;
      for (size_t j = i; j-- > 0 && places[j].device == places[i].device;)
        if (places[i].section == Section::State ||
            blockOf(places[i]).life.overlaps(blockOf(places[j]).life))
          return false;
    }
    return true;
  }

  void setApart(const std::vector<Place> &places) {
    for (const Place &place : places)
      if (place.section == Section::State)
        statesApart[place.device].push_back(place.index);
      else
        blockOf(place).apart = true;
  }

  Class makeClass(std::vector<Place> places) {
    Class result;
    result.places = std::move(places);
    for (const Place &place : result.places) {
      if (place.section == Section::State) {
        result.bytes = program.devices[place.device].buffers[place.index].bytes;
        continue;
      }
      const Block &block = blockOf(place);
      result.bytes = block.bytes;
      result.area = std::max(result.area, areaOf(block));
    }
    return result;
  }

  /// States are there all the time: one behind the other.
  void layOutStates(const std::vector<Class> &classes) {
    std::vector<int64_t> ends(program.devices.size());
    std::vector<std::vector<bool>> hasPlace;
    for (const DeviceProgram &device : program.devices)
      hasPlace.emplace_back(device.buffers.size());
    int64_t symmetric = 0;
    for (const Class &c : classes) {
      int64_t at = 0;
      for (const Place &place : c.places)
        at = std::max(at, ends[place.device]);
      for (const Place &place : c.places) {
        program.devices[place.device].buffers[place.index].offset = at;
        hasPlace[place.device][place.index] = true;
        ends[place.device] = at + aligned(c.bytes);
      }
      symmetric = std::max(symmetric, at + aligned(c.bytes));
    }
    program.symmetricState = symmetric;
    for (size_t d = 0; d < program.devices.size(); ++d) {
      DeviceProgram &device = program.devices[d];
      int64_t outside = symmetric;
      auto place = [&](BufferId b, bool apart) {
        Buffer &buffer = device.buffers[b];
        const int64_t bytes = aligned(buffer.bytes);
        const bool fits = !apart && ends[d] + bytes <= symmetric;
        int64_t &end = fits ? ends[d] : outside;
        buffer.offset = end;
        end += bytes;
        hasPlace[d][b] = true;
      };
      for (BufferId b : statesApart[d])
        place(b, true);
      for (size_t b = 0; b < device.buffers.size(); ++b)
        if (device.buffers[b].section == Section::State && !hasPlace[d][b])
          place(static_cast<BufferId>(b), false);
      device.stateBytes = outside;
    }
  }

  /// What is in use on a device while a class is, and where; the latest of a
  /// list that devices may share.
  struct Taken {
    Lifetime life;
    int64_t begin, end;
    const Taken *before;
  };

  /// Places classes in the order of descending weight at the lowest offset that
  /// is free on all their devices. Returns the bytes of the symmetric part.
  int64_t placeClasses(std::vector<Class> &classes, int64_t Class::*weight) {
    std::vector<Class *> order;
    for (Class &c : classes)
      order.push_back(&c);
    std::stable_sort(order.begin(), order.end(),
                     [&](const Class *a, const Class *b) {
                       return a->*weight > b->*weight;
                     });
    std::vector<const Taken *> taken(program.devices.size());
    std::deque<Taken> all;
    std::vector<std::pair<int64_t, int64_t>> inTheWay;
    int64_t symmetric = 0;
    for (Class *c : order) {
      // Devices that do the same have one list and one lifetime.
      std::map<std::tuple<const Taken *, int, int>, const Taken *> places;
      for (const Place &place : c->places) {
        const Lifetime &life = blockOf(place).life;
        places[{taken[place.device], life.first, life.last}] = nullptr;
      }
      inTheWay.clear();
      for (const auto &[device, _] : places) {
        const auto [last, first, end] = device;
        for (const Taken *other = last; other; other = other->before)
          if (Lifetime{first, end}.overlaps(other->life))
            inTheWay.push_back({other->begin, other->end});
      }
      std::sort(inTheWay.begin(), inTheWay.end());
      c->offset = 0;
      for (auto [begin, end] : inTheWay) {
        if (c->offset + c->bytes <= begin)
          break;
        c->offset = std::max(c->offset, end);
      }
      const int64_t end = c->offset + aligned(c->bytes);
      for (const Place &place : c->places) {
        const Lifetime &life = blockOf(place).life;
        const Taken *&made =
            places[{taken[place.device], life.first, life.last}];
        if (!made)
          made = &all.emplace_back(
              Taken{life, c->offset, end, taken[place.device]});
        taken[place.device] = made;
      }
      symmetric = std::max(symmetric, end);
    }
    return symmetric;
  }

  /// Everything else lies around them.
  void layOutArenas(std::vector<Class> &classes) {
    int64_t least = -1;
    std::vector<Blocks> best;
    for (auto weight : {&Class::bytes, &Class::area}) {
      std::vector<Blocks> blocks = arenas;
      const int64_t symmetric = placeClasses(classes, weight);
      for (const Class &c : classes)
        for (const Place &place : c.places)
          blocks[place.device].blocks[place.index].offset = c.offset;
      std::vector<int64_t> bytes;
      int64_t all = 0;
      BlockPlacer placer;
      for (Blocks &of : blocks) {
        bytes.push_back(placer.place(of.blocks, symmetric));
        all += bytes.back();
      }
      if (least >= 0 && all >= least)
        continue;
      least = all;
      best = std::move(blocks);
      program.symmetricArena = symmetric;
      for (size_t d = 0; d < bytes.size(); ++d)
        program.devices[d].arenaBytes = bytes[d];
    }
    for (size_t d = 0; d < best.size(); ++d) {
      auto &buffers = program.devices[d].buffers;
      for (size_t b = 0; b < buffers.size(); ++b)
        if (buffers[b].section == Section::Arena)
          buffers[b].offset = best[d].offsetOf(static_cast<BufferId>(b));
    }
  }

  Program &program;
  std::vector<Blocks> arenas;                     ///< by device
  std::vector<std::vector<BufferId>> statesApart; ///< by device
};

} // namespace

void ffc::plan::assignSymmetricOffsets(const Graph &graph,
                                       const Strategy &strategy,
                                       Program &program) {
  Layout(graph, strategy, program).run();
}
