//===- instance.cpp - a rank's program, ready to run ----------------------===//
#include "common/program/instance.h"

#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <functional>
#include <string>

namespace ffrt {

namespace {

std::vector<std::size_t> inputs_of(const ProgramInfo &info,
                                   const std::vector<InputSlot> &slots) {
  std::vector<std::size_t> result;
  for (const InputSlot &slot : slots) {
    std::size_t i = 0;
    while (i < info.inputs.size() &&
           std::string(info.inputs[i].name) != slot.name)
      ++i;
    if (i == info.inputs.size())
      throw Error(std::string("input '") + slot.name +
                  "': expected an input of the program, found no such");
    result.push_back(i);
  }
  return result;
}

} // namespace

Instance::Instance(Context &context, Comm &comm, const Group &world,
                   Probe &probe, const ProgramInfo &info, MakeProgram make,
                   Trace *trace, const ProgramInfo *second)
    : context(context), comm(comm), world(world), weights(weights_of(info)) {
  device_comm = make_device_comm(comm, world);
  together(comm, world, "start", [&] {
    const auto rank = std::size_t(comm.rank());
    const RankInfo &mine = info.rank_info.at(rank);
    state_bytes = mine.state_bytes;
    symmetric_state = info.symmetric_state;
    int64_t state_room = mine.state_bytes, arena_room = mine.arena_bytes;
    if (second) {
      // Its arena is the part that is not symmetric.
      const RankInfo &theirs = second->rank_info.at(rank);
      state_room = std::max(state_room, theirs.state_bytes);
      arena_room =
          std::max(arena_room, info.symmetric_arena + theirs.arena_bytes);
    }
    const Allocate &symmetric = device_comm.allocate_symmetric;
    state = std::make_unique<SectionMemory>(state_room, info.symmetric_state,
                                            symmetric);
    arena = std::make_unique<SectionMemory>(arena_room, info.symmetric_arena,
                                            symmetric);
  });
  Comm *used = &device_communication();
  if (trace) {
    traced = std::make_unique<TracedComm>(*used, *trace);
    used = traced.get();
  }
  host.reset(new Host{context, *used, probe, state->section(), arena->section(),
                      trace});
  make_program(make, info);
}

Instance::Instance(Instance &first, Context &context, Probe &probe,
                   const ProgramInfo &info, MakeProgram make,
                   const Saved &saved)
    : context(context), comm(first.comm), world(first.world),
      weights(first.weights) {
  std::byte *arena = first.arena->section().rest;
  host.reset(new Host{context,
                      first.device_communication(),
                      probe,
                      first.state->section(),
                      {arena, arena, 0},
                      nullptr});
  make_program(make, info);
  together(comm, world, "initial values", [&] {
    // Behind the first program's state.
    const std::byte *begin =
        host->state.rest + (first.state_bytes - first.symmetric_state);
    std::vector<StateSlot> own;
    for (const StateSlot &slot : state_slots)
      if (const auto *data = static_cast<const std::byte *>(slot.tensor.data);
          std::greater_equal<>()(data, begin) &&
          std::less<>()(
              data,
              begin + (info.rank_info.at(std::size_t(comm.rank())).state_bytes -
                       first.state_bytes)))
        own.push_back(slot);
    ffrt::initialise(own, context.seed, weights, saved);
  });
}

void Instance::make_program(MakeProgram make, const ProgramInfo &info) {
  begin_plans(comm, world);
  made = make(*host);
  if (!agree_on_plans(comm, world)) {
    made.reset();
    made = make(*host);
  }
  if (host->trace)
    host->trace->prepare(made->tasks());
  state_slots = made->states();
  input_slots = made->inputs();
  together(comm, world, "start",
           [&] { numbers = inputs_of(info, input_slots); });
}

void Instance::initialise(const Saved &saved) {
  together(comm, world, "initial values", [&] {
    ffrt::initialise(state_slots, context.seed, weights, saved);
  });
}

IdleMemory Instance::idle_memory(const ProgramInfo &info) const {
  // One part if ranks share no memory.
  const Section arena = host->arena;
  int64_t rest = INT64_MAX;
  for (const RankInfo &rank : info.rank_info)
    rest = std::min(rest, rank.arena_bytes - arena.symmetric_bytes);
  if (rest >= arena.symmetric_bytes)
    return {arena.rest, rest};
  return {arena.symmetric, arena.symmetric_bytes};
}

void Instance::check_guards() {
  together(comm, world, "memory check", [&] {
    if (!state->intact())
      throw Error("expected state within its planned bytes, found bytes next "
                  "to them written");
    if (!arena->intact())
      throw Error("expected buffers within the planned arena, found bytes next "
                  "to it written");
  });
}

} // namespace ffrt
