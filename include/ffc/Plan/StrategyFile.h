//===- StrategyFile.h - strategies as text ----------------------*- C++ -*-===//
//
// Reads and prints strategy files (docs/strategy.md): our own format, and those
// of FlexFlow: the layer table of its first README (read only), its text form,
// its printed form, and its protobuf messages (read only). Which one a file is
// follows from its first bytes.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_STRATEGYFILE_H
#define FFC_PLAN_STRATEGYFILE_H

#include "ffc/Plan/Configuration.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// Configurations by operator; nothing for those that a file leaves out.
using PartialStrategy = std::vector<std::optional<Configuration>>;

/// Shares as files say them: "3:1", or "3*4:1*4" for eight; of 1 to kMaxShares,
/// and at most so many of them. Nothing if `text` says none: a degree has no
/// colon and no star.
std::optional<std::vector<int64_t>> parseShares(const std::string &text);

/// Reads the file at `path`. Every configuration of the result is legal for its
/// operator on `numDevices` devices. On failure returns nothing and sets
/// `error` ("FILE:LINE: ...", for protobuf "FILE: byte OFFSET: ..."; what was
/// expected and what was found).
std::optional<PartialStrategy> loadStrategy(const std::string &path,
                                            const Graph &graph, int numDevices,
                                            std::string &error);

/// The same for text; `fileName` stands in messages.
std::optional<PartialStrategy> parseStrategy(const std::string &text,
                                             const std::string &fileName,
                                             const Graph &graph, int numDevices,
                                             std::string &error);

/// The rules by which the graph was rewritten whose operators the file at
/// `path` names: its second line, "rewrites NAME...", if it has one, which
/// other formats do not. All are among `known`. Fails as loadStrategy.
std::optional<std::vector<std::string>>
loadRewrites(const std::string &path, const std::vector<std::string> &known,
             std::string &error);

/// `strategy` in our own format, a line per operator in graph order, of a graph
/// that was rewritten by these rules. Reads back as exactly `strategy`.
std::string printStrategy(const Graph &graph, const Strategy &strategy,
                          const std::vector<std::string> &rewrites = {});
/// The same for some of the operators.
std::string printStrategy(const Graph &graph, const PartialStrategy &strategy,
                          const std::vector<std::string> &rewrites = {});

/// FlexFlow's text form, which it reads, and what it prints after a search.
enum class FlexFlowForm { Text, Printed };

/// The forward operators of `strategy` as FlexFlow has them; it has no others.
/// Reads back as the same configurations but for axes of degree 1 and the order
/// of axes. Operators that cannot be said go to `leftOut`, in graph order:
/// those of a type that FlexFlow lacks, those with replicas or a split of what
/// is no dimension of their result, and what is done again.
std::string printFlexFlowStrategy(const Graph &graph, const Strategy &strategy,
                                  FlexFlowForm form,
                                  std::vector<OpId> &leftOut);

/// Does FlexFlow have a way to split an operator, of whatever type, like this?
bool isSaidInFlexFlow(const Op &op, const Configuration &config);

/// Turns `strategy`, legal on `numDevices` devices, into what would be read of
/// what printFlexFlowStrategy() would write.
void keepWhatFlexFlowSays(const Graph &graph, PartialStrategy &strategy,
                          int numDevices);

} // namespace ffc::plan

#endif // FFC_PLAN_STRATEGYFILE_H
