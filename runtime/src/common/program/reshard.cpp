//===- reshard.cpp - a value on its way to those that read it -------------===//
#include "ffrt/reshard.h"

#include "ffrt/copy.h"
#include "ffrt/result_check.h"

#include <algorithm>

namespace ffrt {

/// Reads the actions of a reshard.
struct Reshard::Reader {
  explicit Reader(Layer &layer)
      : program(layer.program), rows(layer.rows),
        op(rows.next_of(program.tables.operators)), phase(rows.next_int()) {}

  Action action() {
    switch (rows.next()) {
    case words::copies:
      return copies();
    case words::exchange:
      return exchange();
    case words::collective:
      return collective();
    default:
      return Wait{rows.next_count()};
    }
  }

private:
  /// A number of tasks that follow each other.
  void add_tasks(std::size_t position, int point, int instance,
                 std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      program.add_task(position + i, {op, phase, point, instance});
  }
  const char *transfer(std::size_t &position) {
    position = rows.next_count();
    const int point = rows.next_int();
    add_tasks(position, point, rows.next_int(), 1);
    return rows.next_of(program.tables.transfers);
  }
  const Tensor &buffer() { return rows.next_of(program.buffers); }

  Copies copies() {
    Copies copies;
    copies.position = rows.next_count();
    const int point = rows.next_int(), instance = rows.next_int();
    copies.tasks = rows.next_count();
    copies.body.resize(copies.tasks);
    copies.turns.resize(rows.next_count());
    copies.at.resize(copies.turns.size());
    for (int64_t &turns : copies.turns) {
      turns = rows.next();
      copies.tasks *= std::size_t(turns);
    }
    add_tasks(copies.position, point, instance, copies.tasks);
    for (Copy &copy : copies.body)
      read(copy, copies.turns.size());
    return copies;
  }

  void read(Copy &copy, std::size_t loops) {
    copy.how = static_cast<Copy::How>(rows.next());
    copy.dst = buffer();
    copy.src = buffer();
    const int rank = copy.dst.rank;
    copy.dst_at = rows.next_index(rank);
    copy.src_at = rows.next_index(rank);
    copy.size = rows.next_index(rank);
    for (std::size_t i = 0; i < loops; ++i) {
      copy.dst_step.push_back(rows.next_index(rank));
      copy.src_step.push_back(rows.next_index(rank));
    }
  }

  std::vector<Message> messages() {
    std::vector<Message> messages;
    for (std::size_t count = rows.next_count(); count > 0; --count) {
      const int peer = rows.next_int();
      messages.push_back({peer, buffer()});
    }
    return messages;
  }

  Exchange exchange() {
    Exchange exchange;
    exchange.transfer = transfer(exchange.position);
    exchange.tag = rows.next_int();
    exchange.sends = messages();
    exchange.receives = messages();
    return exchange;
  }

  Collective collective() {
    Collective collective;
    collective.transfer = transfer(collective.position);
    collective.kind = static_cast<Collective::Kind>(rows.next());
    collective.group = &rows.next_of(program.groups);
    collective.src = buffer();
    collective.dst = buffer();
    collective.reduce = static_cast<ReduceOp>(rows.next());
    collective.algorithm = static_cast<CollectiveAlgorithm>(rows.next());
    collective.root = rows.next_int();
    if (const int64_t number = rows.next(); number != words::none)
      collective.scheduled = std::make_shared<ScheduledCollective>(
          schedule(number, *collective.group), *collective.group,
          program.host.comm, collective.src, collective.dst, collective.reduce);
    collective.starts = rows.next_int();
    return collective;
  }

  const Schedule &schedule(int64_t number, const Group &group) const {
    const std::vector<Schedule> &all = program.schedules;
    if (number < 0 || number >= int64_t(all.size()))
      fail_in_tables("expected a schedule below " + std::to_string(all.size()) +
                     ", found " + std::to_string(number));
    const Schedule &schedule = all[std::size_t(number)];
    if (schedule.members != int(group.members.size()))
      fail_in_tables(
          "expected a schedule of " + std::to_string(group.members.size()) +
          " members, found one of " + std::to_string(schedule.members));
    return schedule;
  }

  Program &program;
  Rows &rows;
  const char *op;
  int phase;
};

Reshard::Reshard(Layer &layer) : program(layer.program) {
  Reader reader(layer);
  parts.resize(layer.rows.next_count());
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    counts.push_back(layer.rows.next_count());
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t left = counts[i]; left > 0; --left) {
      parts[i].push_back(reader.action());
    }
  for (const std::vector<Action> &part : parts)
    for (const Action &action : part)
      if (std::holds_alternative<Exchange>(action) ||
          std::holds_alternative<Collective>(action))
        collectives.push_back(std::get_if<Collective>(&action));
  events.resize(collectives.size());
}

Reshard::~Reshard() = default;

void Reshard::operator()() {
  for (std::size_t i = 0; i < parts.size(); ++i)
    part(i);
}

void Reshard::next() {
  if (turn < parts.size())
    part(turn);
  turn = turn + 1 < parts.size() ? turn + 1 : 0;
}

void Reshard::part(std::size_t number) {
  if (number == 0)
    started = 0;
  ResultCheck *const check = program.host.check;
  if (check)
    check->next_statement();
  for (Action &action : parts[number]) {
    run(action);
    if (check)
      look_at_sums(action);
  }
}

void Reshard::run(Action &action) {
  if (auto *copies = std::get_if<Copies>(&action))
    copy(*copies);
  else if (auto *exchange = std::get_if<Exchange>(&action))
    events[started++] = begin(*exchange);
  else if (auto *collective = std::get_if<Collective>(&action))
    events[started++] = begin(*collective);
  else
    program.host.comm.wait(events[std::get<Wait>(action).communication]);
}

void Reshard::look_at_sums(const Action &action) const {
  ResultCheck &check = *program.host.check;
  if (auto *copies = std::get_if<Copies>(&action)) {
    for (const Copy &each : copies->body)
      if (each.how == Copy::How::add || each.how == Copy::How::mean)
        check.look(copies->position, 0, each.dst);
  } else if (auto *wait = std::get_if<Wait>(&action)) {
    const Collective *c = collectives.at(wait->communication);
    if (c && c->kind == Collective::Kind::all_reduce)
      check.look(c->position, 0, c->src);
    else if (c && c->kind == Collective::Kind::reduce_scatter)
      check.look(c->position, 0, c->dst);
  }
}

/// All turns of the loops, the innermost one fastest.
void Reshard::copy(Copies &copies) const {
  program.start_tasks(copies.position, copies.tasks);
  std::fill(copies.at.begin(), copies.at.end(), 0);
  for (;;) {
    for (const Copy &each : copies.body)
      copy(each, copies.at);
    std::size_t loop = copies.turns.size();
    while (loop > 0 && ++copies.at[loop - 1] == copies.turns[loop - 1])
      copies.at[--loop] = 0;
    if (loop == 0)
      return;
  }
}

/// `start`, moved by the loops' turns.
static Index moved(Index start, int rank, const std::vector<Index> &steps,
                   const std::vector<int64_t> &turns) {
  for (std::size_t loop = 0; loop < steps.size(); ++loop)
    for (int d = 0; d < rank; ++d)
      start[d] += turns[loop] * steps[loop][d];
  return start;
}

void Reshard::copy(const Copy &copy, const std::vector<int64_t> &at) const {
  const int rank = copy.dst.rank;
  const Index dst_at = moved(copy.dst_at, rank, copy.dst_step, at);
  const Index src_at = moved(copy.src_at, rank, copy.src_step, at);
  const Context &cx = program.host.context;
  const TracedTask task(program.host.trace, Trace::Kind::copy);
  switch (copy.how) {
  case Copy::How::copy:
    return ffrt::copy(copy.dst, dst_at, copy.src, src_at, copy.size);
  case Copy::How::add:
    return combine(copy.dst, dst_at, copy.src, src_at, copy.size,
                   ReduceOp::sum);
  case Copy::How::maximum:
    return combine(copy.dst, dst_at, copy.src, src_at, copy.size,
                   ReduceOp::max);
  case Copy::How::mean:
    return accumulate(copy.dst, dst_at, copy.src, src_at, copy.size,
                      cx.micro_batch % cx.micro_batches == 0,
                      1.0 / cx.micro_batches);
  }
}

Event Reshard::begin(const Exchange &exchange) {
  program.start_tasks(exchange.position, 1);
  return program.host.comm.exchange(exchange.transfer, exchange.tag,
                                    exchange.sends, exchange.receives);
}

Event Reshard::begin(const Collective &c) {
  program.start_tasks(c.position, 1);
  Comm &comm = program.host.comm;
  if (c.scheduled)
    return begin_scheduled(c);
  if (c.starts > 1)
    comm.start_together(c.starts);
  switch (c.kind) {
  case Collective::Kind::all_reduce:
    return comm.all_reduce(c.transfer, *c.group, c.src, c.reduce, c.algorithm);
  case Collective::Kind::all_gather:
    return comm.all_gather(c.transfer, *c.group, c.src, c.dst);
  case Collective::Kind::reduce_scatter:
    return comm.reduce_scatter(c.transfer, *c.group, c.src, c.dst, c.reduce);
  case Collective::Kind::broadcast:
    break;
  }
  return comm.broadcast(c.transfer, *c.group, c.root, c.src);
}

/// The last of those that start as one starts all.
Event Reshard::begin_scheduled(const Collective &c) {
  std::vector<ScheduledCollective *> &starting = program.starting;
  if (c.starts > 0)
    program.to_start = c.starts;
  starting.push_back(c.scheduled.get());
  if (int(starting.size()) < program.to_start)
    return {};
  const Event event = program.host.comm.scheduled(c.transfer, starting);
  starting.clear();
  return event;
}

} // namespace ffrt
