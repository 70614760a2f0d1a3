//===- instance.cpp - a rank's program, ready to run ----------------------===//
#include "common/program/instance.h"

#include "comm/launch.h"
#include "common/program/together.h"
#include "ffrt/error.h"

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
                   Trace *trace)
    : context(context), comm(comm), world(world) {
  device_comm = make_device_comm(comm, world);
  together(comm, world, "start", [&] {
    const RankInfo &mine = info.rank_info.at(std::size_t(comm.rank()));
    const Allocate &symmetric = device_comm.allocate_symmetric;
    state = std::make_unique<SectionMemory>(mine.state_bytes,
                                            info.symmetric_state, symmetric);
    arena = std::make_unique<SectionMemory>(mine.arena_bytes,
                                            info.symmetric_arena, symmetric);
  });
  Comm *used = device_comm.comm ? device_comm.comm.get() : &comm;
  if (trace) {
    traced = std::make_unique<TracedComm>(*used, *trace);
    used = traced.get();
  }
  host.reset(new Host{context, *used, probe, state->section(), arena->section(),
                      trace});
  begin_plans(comm, world);
  made = make(*host);
  if (!agree_on_plans(comm, world)) {
    made.reset();
    made = make(*host);
  }
  if (trace)
    trace->prepare(made->tasks());
  state_slots = made->states();
  input_slots = made->inputs();
  together(comm, world, "start",
           [&] { numbers = inputs_of(info, input_slots); });
}

void Instance::initialise(const Saved &saved) {
  together(comm, world, "initial values", [&] {
    ffrt::initialise(state_slots, context.seed, this_program() + ".weights",
                     saved);
  });
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
