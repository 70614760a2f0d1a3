//===- layer.cpp - what a layer of an emitted program is made of ----------===//
#include "ffrt/layer.h"

#include "ffrt/error.h"
#include "ffrt/result_check.h"

#include <string>

namespace ffrt {

Shards::Shards(const std::vector<Tensor> &buffers, Rows rows) {
  while (!rows.empty())
    tensors.push_back(&rows.next_of(buffers));
}

Shards::~Shards() = default;

const Tensor &Shards::at(std::size_t i) const {
  if (i >= tensors.size())
    fail_in_tables("expected a shard below " + std::to_string(tensors.size()) +
                   ", found " + std::to_string(i));
  return *tensors[i];
}

Program::Program(Host &host, const Tables &tables)
    : tables(tables), host(host) {
  for (const std::vector<int> &members : tables.groups)
    groups.push_back(host.comm.make_group(members));
  for (const char *text : tables.schedules)
    schedules.push_back(Schedule::read(text));
  const Place &place = tables.places.at(std::size_t(host.context.rank));
  const RankClass &own = tables.classes.at(place.number);
  Rows rows(own.numbers, own.size, own.own + place.row * own.width, own.width);
  read_buffers(rows);
  read_slots(rows);
  for (std::size_t count = rows.next_count(); count > 0; --count)
    layers.push_back(rows.take(rows.next_count()));
  pass_order.resize(rows.next_count());
  for (std::size_t &pass : pass_order)
    pass = rows.next_count();
}

void Program::read_buffers(Rows &rows) {
  for (std::size_t count = rows.next_count(); count > 0; --count) {
    const Section &section = rows.next() == 0 ? host.state : host.arena;
    Tensor tensor;
    tensor.data = section + rows.next();
    tensor.type = static_cast<DType>(rows.next());
    tensor.order = static_cast<Order>(rows.next());
    tensor.rank = rows.next_int();
    tensor.shape = rows.next_index(tensor.rank);
    tensor.lo = rows.next_index(tensor.rank);
    tensor.global = rows.next_index(tensor.rank);
    if (tensor.elements() == 0)
      tensor.data = nullptr;
    buffers.push_back(tensor);
  }
}

Tensor Program::read_tensor(Rows &rows) { return rows.next_of(buffers); }

void Program::read_slots(Rows &rows) {
  for (std::size_t count = rows.next_count(); count > 0; --count) {
    const StateInfo &state = rows.next_of(tables.states);
    state_slots.push_back(
        {state.name, state.kind, state.init, read_tensor(rows), state.of});
  }
  for (std::size_t count = rows.next_count(); count > 0; --count) {
    const char *input = rows.next_of(tables.inputs);
    input_slots.push_back({input, read_tensor(rows)});
  }
  if (const int64_t loss = rows.next(); loss >= 0)
    loss_tensor = buffers.at(std::size_t(loss));
}

Program::~Program() = default;

std::vector<StateSlot> Program::states() { return state_slots; }

std::vector<InputSlot> Program::inputs() { return input_slots; }

Tensor Program::loss() { return loss_tensor; }

bool Program::has_own_order() const { return !pass_order.empty(); }

Rows &Program::layer(std::size_t number) { return layers.at(number); }

void Program::add_task(std::size_t position, TaskId task) {
  if (position >= task_list.size())
    task_list.resize(position + 1);
  task_list[position] = task;
}

std::vector<TaskId> Program::tasks() {
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (!layers[i].empty())
      fail_in_tables("expected layer " + std::to_string(i) +
                     " to use all of its rows, found more of them");
  return task_list;
}

void Program::begin(StepPart part) {
  next_task = part == StepPart::update ? first_of_update : 0;
}

void Program::end(StepPart part) {
  if (part == StepPart::micro_batch)
    first_of_update = next_task;
  else if (next_task != task_list.size())
    fail_out_of_order(task_list.size());
}

void Program::fail_out_of_order(std::size_t found) const {
  const auto name = [this](std::size_t position) {
    if (position >= task_list.size())
      return std::string("the end of the step");
    const TaskId &task = task_list[position];
    return "task " + std::string(task.op) + "#" + std::to_string(task.phase) +
           "@" + std::to_string(task.point) + "." +
           std::to_string(task.instance);
  };
  throw Error("step: expected " + name(next_task) + ", found " + name(found) +
              ": the program does not do what was planned (ffc verify)");
}

static std::vector<Tensor> tensors(Rows &rows, Operands values) {
  std::vector<Tensor> result;
  for (const Operand &value : values)
    result.push_back(value.shards == &absent
                         ? Tensor()
                         : value.shards->at(rows.next_count()));
  return result;
}

KernelTiles::KernelTiles(Layer &layer, Operands in, Operands out,
                         Functions functions)
    : program(layer.program), functions(functions) {
  Rows &rows = layer.rows;
  turns.resize(rows.next_count());
  if (turns.empty())
    return;
  const char *op = rows.next_of(layer.program.tables.operators);
  const int phase = rows.next_int(), instance = rows.next_int();
  for (std::size_t &first : turns) {
    first = tiles.size();
    for (std::size_t left = rows.next_count(); left > 0; --left)
      read_tile(rows, {op, phase, 0, instance}, in, out);
  }
}

void KernelTiles::read_tile(Rows &rows, TaskId task, Operands in,
                            Operands out) {
  Tile &tile = tiles.emplace_back();
  tile.position = rows.next_count();
  task.point = rows.next_int();
  program.add_task(tile.position, task);
  tile.in = tensors(rows, in);
  tile.out = tensors(rows, out);
  for (std::size_t left = rows.next_count(); left > 0; --left)
    rows.next_of(tile.out).accumulates = true;
}

void KernelTiles::operator()() {
  begin_call();
  for (const Tile &tile : tiles)
    run(tile);
}

void KernelTiles::next() {
  begin_call();
  if (turns.empty())
    return;
  const std::size_t following = turn + 1;
  const bool last = following == turns.size();
  const std::size_t end = last ? tiles.size() : turns[following];
  for (std::size_t tile = turns[turn]; tile < end; ++tile)
    run(tiles[tile]);
  turn = last ? 0 : following;
}

/// Host::check hears of a statement of the step, and after each tile.
void KernelTiles::begin_call() const {
  if (program.host.check)
    program.host.check->next_statement();
}

void KernelTiles::run(const Tile &tile) const {
  program.start_tasks(tile.position, 1);
  {
    const TracedTask task(program.host.trace, Trace::Kind::kernel);
    functions.call(tile.kernel, tile.in, tile.out);
  }
  if (program.host.check)
    look_at(tile);
}

void KernelTiles::look_at(const Tile &tile) const {
  for (std::size_t i = 0; i < tile.out.size(); ++i)
    program.host.check->look(tile.position, int(i), tile.out[i]);
}

KernelTiles::~KernelTiles() {
  for (Tile &tile : tiles)
    if (tile.kernel)
      functions.destroy(tile.kernel);
}

Dump::Dump(Layer &layer) : probe(layer.program.host.probe) {
  turns.resize(layer.rows.next_count());
  for (std::vector<Offer> &offers : turns)
    for (std::size_t count = layer.rows.next_count(); count > 0; --count) {
      const char *output = layer.rows.next_of(layer.program.tables.outputs);
      offers.push_back({output, layer.rows.next_of(layer.program.buffers)});
    }
}

Dump::~Dump() = default;

void Dump::operator()() const {
  for (const std::vector<Offer> &offers : turns)
    offer(offers);
}

void Dump::next() {
  if (turn < turns.size())
    offer(turns[turn]);
  turn = turn + 1 < turns.size() ? turn + 1 : 0;
}

void Dump::offer(const std::vector<Offer> &offers) const {
  for (const Offer &offer : offers)
    probe.offer(offer.output, offer.tensor);
}

} // namespace ffrt
