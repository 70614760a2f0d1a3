//===- ProgramCheck.h - what buffers hold while a program runs --*- C++ -*-===//
//
// Internal to the verifier: the visitor of ProgramWalk that follows what every
// byte stands for. Methods return false after the first thing that is wrong,
// which `error` says then.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PROGRAMCHECK_H
#define FFC_LIB_PLAN_PROGRAMCHECK_H

#include "BufferContents.h"
#include "Graph/MemoryOrders.h"

#include "ffc/Plan/Program.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ffc::plan {

class ProgramCheck {
public:
  ProgramCheck(const Graph &graph, const Strategy &strategy,
               const Program &program);

  // What the walk tells of.

  bool local(ActionRef ref, const KernelAction &kernel);
  bool local(ActionRef ref, const CopyAction &copy);
  bool local(ActionRef ref, const ProbeAction &probe);

  bool posted(ActionRef ref, const ExchangeAction &exchange);
  bool message(ActionRef send, size_t s, ActionRef receive, size_t r);
  bool collective(const std::vector<ActionRef> &members);
  bool waited(ActionRef ref, const WaitAction &wait);

  /// After the walk: every state that is stored holds what is stored, all of
  /// every output was offered, and all communication was waited for.
  bool finished() { return waitedForAll() && states() && outputs(); }

  bool fail(ActionRef ref, const std::string &what);

  std::string error;

private:
  bool waitedForAll();
  bool states();
  bool outputs();

  const CollectiveAction &collectiveOf(ActionRef ref) const {
    return program.action(ref).get<CollectiveAction>();
  }
  const Buffer &bufferOf(ActionRef ref, BufferId buffer) const {
    return program.devices[ref.device].buffers[buffer];
  }
  Contents &contentsOf(ActionRef ref, BufferId buffer) {
    return contents[ref.device][buffer];
  }

  /// Inputs and state are complete from the start.
  void fill(const DeviceProgram &device, BufferId buffer, ValueId value);

  /// False if communication under way reads `buffer` and it is to be written,
  /// or if it writes it.
  bool idle(ActionRef ref, BufferId buffer, bool toBeWritten);
  bool readWhole(ActionRef ref, BufferId buffer, const char *verb);

  bool mayWrite(ActionRef ref, BufferId buffer);
  bool addsUp(ActionRef ref, const SlotWrite &write, BufferId id,
              const Box &box);
  bool fits(ActionRef ref, const KernelAction &kernel, const Phase &phase,
            int slot, const Access &access, BufferId buffer, const char *verb);
  bool reads(ActionRef ref, const SlotRead &read, BufferId buffer);
  bool symmetric(const std::vector<ActionRef> &members,
                 BufferId CollectiveAction::*side);
  Origin originOf(const TaskId &task, const SlotWrite &write) const;
  /// What the contents of a slot are called in an Origin: the value, or a
  /// number of its own, below 0, for an internal tensor.
  ValueId subjectOf(OpId op, int slot) const;
  std::string nameOf(ValueId subject) const;

  const Graph &graph;
  const Strategy &strategy;
  const Program &program;
  const MemoryOrders orders;
  std::vector<std::vector<Contents>> contents; ///< per device and buffer
  /// Those that were met: operator, phase, point, and whether it is again.
  std::set<std::array<int, 4>> kernels;
  /// Buffers of communication under way: its action, and whether they are
  /// written.
  std::vector<std::unordered_multimap<BufferId, std::pair<int, bool>>> inFlight;
  std::unordered_map<std::string_view, size_t> outputNumbers; ///< by name
  /// What devices offered of each output.
  std::vector<Contents> offered;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PROGRAMCHECK_H
