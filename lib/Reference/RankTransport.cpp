//===- RankTransport.cpp - communication of the rank evaluator ------------===//

#include "RankTransport.h"

#include "RankMemory.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Transport::Ticket Transport::send(Channel channel, std::vector<double> data) {
  Messages &messages = channels[channel];
  messages.sent.push_back(std::move(data));
  return {channel, messages.sent.size() - 1};
}

Transport::Ticket Transport::receive(Channel channel) {
  return {channel, channels[channel].received++};
}

bool Transport::isMatched(const Ticket &ticket) const {
  const Messages &messages = channels.at(ticket.channel);
  return ticket.number < messages.sent.size() &&
         ticket.number < messages.received;
}

const std::vector<double> &Transport::data(const Ticket &ticket) const {
  return channels.at(ticket.channel).sent[ticket.number];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Sums or maxima in the order of members, as every member gets them.
static std::vector<double> reduceInOrder(plan::Reduction reduction,
                                         ArrayRef<std::vector<double>> data) {
  std::vector<double> result = data.front();
  for (const std::vector<double> &more : data.drop_front())
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = combine(reduction, result[i], more[i]);
  return result;
}

FailureOr<Transport::Seat> Transport::join(CollectiveOp op, int64_t group,
                                           ArrayRef<int64_t> members,
                                           int64_t rank,
                                           std::vector<double> data) {
  size_t number = joins[{group, rank}]++;
  std::vector<Call> &groupCalls = calls[group];
  if (number == groupCalls.size())
    groupCalls.push_back({op,
                          rank,
                          members,
                          std::vector<bool>(members.size()),
                          std::vector<std::vector<double>>(members.size()),
                          {}});
  Call &call = groupCalls[number];
  size_t member = llvm::lower_bound(members, rank) - members.begin();
  call.joined[member] = true;
  call.data[member] = std::move(data);

  const std::vector<double> &mine = call.data[member];
  const std::vector<double> &first =
      call.data[llvm::lower_bound(members, call.rank) - members.begin()];
  if (op.getKind() != call.op.getKind() ||
      op.getReduce() != call.op.getReduce() ||
      op.getRoot() != call.op.getRoot() ||
      op.getSrc().getType() != call.op.getSrc().getType() ||
      mine.size() != first.size()) {
    auto print = [](InFlightDiagnostic &diag, CollectiveOp op, size_t count) {
      diag << op.getKind() << " (reduce " << op.getReduce() << ", root "
           << static_cast<int64_t>(op.getRoot()) << ") of " << count << " "
           << op.getSrc().getType().getElementType();
    };
    InFlightDiagnostic diag = op.emitOpError()
                              << "mismatched collective number " << number
                              << " of group " << group << ": ";
    print(diag, call.op, first.size());
    diag << " on rank " << call.rank << ", ";
    print(diag, op, mine.size());
    return diag << " on rank " << rank;
  }

  bool complete = llvm::all_of(call.joined, [](bool joined) { return joined; });
  plan::Reduction reduction = reductionOf(op.getReduce());
  if (complete && reduction != plan::Reduction::None)
    call.reduced = reduceInOrder(reduction, call.data);
  return Seat{group, number, member};
}

SmallVector<int64_t> Transport::missing(const Seat &seat) const {
  SmallVector<int64_t> result;
  for (auto [member, joined] : llvm::zip(call(seat).members, call(seat).joined))
    if (!joined)
      result.push_back(member);
  return result;
}

bool Transport::isComplete(const Seat &seat) const {
  return missing(seat).empty();
}

std::vector<double> Transport::resultOf(const Seat &seat) const {
  const Call &call = this->call(seat);
  CollectiveOp op = call.op;
  StringRef kind = op.getKind();
  if (kind == "all_reduce")
    return call.reduced;
  if (kind == "broadcast")
    return call.data[op.getRoot()];
  if (kind == "all_gather") {
    std::vector<double> whole;
    for (const std::vector<double> &part : call.data)
      whole.insert(whole.end(), part.begin(), part.end());
    return whole;
  }
  // reduce_scatter
  size_t part = call.reduced.size() / call.members.size();
  auto first = call.reduced.begin() + seat.member * part;
  return std::vector<double>(first, first + part);
}
