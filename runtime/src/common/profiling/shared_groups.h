//===- shared_groups.h - every group once -----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_SHARED_GROUPS_H
#define FFRT_COMMON_SHARED_GROUPS_H

#include "common/profiling/forwarding_comm.h"

#include <map>
#include <vector>

namespace ffrt {

/// Makes every group once: programs that run one after the other in a process
/// ask for the same few, and groups hold memory until the process ends.
class SharedGroups final : public ForwardingComm {
public:
  using ForwardingComm::ForwardingComm;

  Group make_group(const std::vector<int> &members) override {
    auto found = groups.find(members);
    if (found == groups.end())
      found = groups.emplace(members, comm.make_group(members)).first;
    return found->second;
  }

private:
  std::map<std::vector<int>, Group> groups;
};

} // namespace ffrt

#endif // FFRT_COMMON_SHARED_GROUPS_H
