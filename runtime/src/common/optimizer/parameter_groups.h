//===- parameter_groups.h - rates by the names of parameters ----*- C++ -*-===//
//
// --group 'PATTERN|PATTERN: lr=0.1x, wd=0': parameters whose names match one of
// the patterns have a learning rate or a weight decay of their own. In a
// pattern `*` is any text and `?` any letter.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_PARAMETER_GROUPS_H
#define FFRT_COMMON_PARAMETER_GROUPS_H

#include "ffrt/context.h"

#include <optional>
#include <string>
#include <vector>

namespace ffrt {

struct ParameterGroup {
  std::vector<std::string> patterns;
  std::optional<double> rate;   ///< in place of the program's
  std::optional<double> factor; ///< of the program's rate
  std::optional<double> weight_decay;
};

/// Throws Error "expected ..., found ...".
ParameterGroup parse_group(const std::string &text);
/// The reverse.
std::string to_string(const ParameterGroup &group);

/// Throws Error where a pattern matches none of the parameters, with the names
/// that come nearest.
void expect_matches(const std::vector<ParameterGroup> &groups,
                    const std::vector<const char *> &parameters);

/// What `parameter` is updated with: what the groups say that it matches, the
/// last of them first, else what the program does. A rate of its own keeps its
/// share of the program's in all steps. Throws Error where the program's is 0.
UpdateRates rates_of(const std::string &parameter,
                     const std::vector<ParameterGroup> &groups,
                     double learning_rate, double weight_decay);

/// A line for every parameter: its rate, its decay and its name.
std::string describe_rates(const std::vector<const char *> &parameters,
                           const std::vector<ParameterGroup> &groups,
                           double learning_rate, double weight_decay);

} // namespace ffrt

#endif // FFRT_COMMON_PARAMETER_GROUPS_H
