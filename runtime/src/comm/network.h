//===- network.h - communication that reaches all ranks ---------*- C++ -*-===//
#ifndef FFRT_COMM_NETWORK_H
#define FFRT_COMM_NETWORK_H

#include "ffrt/comm.h"

#include <string>

namespace ffrt {

/// What a transport in shared memory uses beyond its node.
class Network : public Comm {
public:
  /// True when `event` has happened, after which it must not be waited for.
  virtual bool test(Event event) = 0;
};

/// What is wrong with the sizes of the operands of all_gather or
/// reduce_scatter; empty: nothing.
inline std::string block_mismatch(const Group &group, const Tensor &part,
                                  const Tensor &whole) {
  const int64_t wanted = part.span() * int64_t(group.members.size());
  if (whole.span() == wanted)
    return "";
  return "expected " + std::to_string(wanted) +
         " elements in the whole, found " + std::to_string(whole.span());
}

/// The cause when a collective is called for a group without this rank.
constexpr const char *kStranger =
    "expected a group of this rank, found another";

} // namespace ffrt

#endif // FFRT_COMM_NETWORK_H
