//===- OutputOffers.h - outputs are offered for dumping ---------*- C++ -*-===//
//
// Internal to the planner.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_OUTPUTOFFERS_H
#define FFC_LIB_PLAN_OUTPUTOFFERS_H

#include "Placement.h"
#include "ProgramBuilder.h"

#include <map>

namespace ffc::plan {

class OutputOffers {
public:
  /// Arguments must outlive it.
  OutputOffers(const Graph &graph, ProgramBuilder &build);

  /// Is it an output that has not been offered, all of which is somewhere?
  bool isComplete(ValueId value, const Placement &where) const;
  /// Offers all of its copies, so that ranks which do the same are told to.
  void offer(ValueId value, Placement &where);
  /// Offers what a turn of its operator has `written`, unless that is partial
  /// sums, so that it need not be kept until all of it is there.
  void offerPart(ValueId value, Placement &where,
                 const std::vector<Need> &written, bool isLast);

private:
  void offer(DeviceId device, BufferId buffer,
             const std::vector<std::string> &as);

  const Graph &graph;
  ProgramBuilder &build;
  std::map<ValueId, std::vector<std::string>> names;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_OUTPUTOFFERS_H
