//===- RankTransport.h - communication of the rank evaluator ----*- C++ -*-===//
#ifndef FFC_LIB_REFERENCE_RANKTRANSPORT_H
#define FFC_LIB_REFERENCE_RANKTRANSPORT_H

#include "ffc/IR/Rank.h"

#include <map>
#include <tuple>
#include <vector>

namespace ffc::rank {

/// Messages and collectives between all ranks during one step. Data is in
/// memory order.
class Transport {
public:
  /// Source, destination, tag.
  using Channel = std::tuple<int64_t, int64_t, int64_t>;
  /// A message by its number on its channel, counted alike at both ends.
  struct Ticket {
    Channel channel;
    size_t number;
  };
  /// A collective by its number on its group, counted alike by all members.
  struct Seat {
    int64_t group;
    size_t number;
    size_t member;
  };

  Ticket send(Channel channel, std::vector<double> data);
  Ticket receive(Channel channel);
  /// True when both ends have been posted.
  bool isMatched(const Ticket &ticket) const;
  /// Requires isMatched().
  const std::vector<double> &data(const Ticket &ticket) const;

  /// Enters rank `rank` into its next collective on a group with `data`, the
  /// contents of the source. Emits an error if the members disagree.
  mlir::FailureOr<Seat> join(CollectiveOp op, int64_t group,
                             llvm::ArrayRef<int64_t> members, int64_t rank,
                             std::vector<double> data);
  bool isComplete(const Seat &seat) const;
  /// Members that have not joined.
  llvm::SmallVector<int64_t> missing(const Seat &seat) const;
  /// The contents of a member's target. Requires isComplete().
  std::vector<double> resultOf(const Seat &seat) const;

private:
  struct Messages {
    std::vector<std::vector<double>> sent;
    size_t received = 0;
  };
  struct Call {
    CollectiveOp op; ///< of the member that came first
    int64_t rank;    ///< that member
    llvm::ArrayRef<int64_t> members;
    std::vector<bool> joined;
    std::vector<std::vector<double>> data;
    std::vector<double> reduced; ///< when complete, in the order of members
  };
  const Call &call(const Seat &seat) const {
    return calls.at(seat.group)[seat.number];
  }

  std::map<Channel, Messages> channels;
  std::map<int64_t, std::vector<Call>> calls;
  std::map<std::pair<int64_t, int64_t>, size_t> joins; ///< by group and rank
};

} // namespace ffc::rank

#endif // FFC_LIB_REFERENCE_RANKTRANSPORT_H
