//===- ParameterTable.h - what is trained, as text --------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_PARAMETERTABLE_H
#define FFC_TOOLS_FFC_PARAMETERTABLE_H

#include "ffc/Import/Parameters.h"

#include <string>

namespace ffc {

/// A line for every value, trained ones first, and what is missing.
std::string describeValues(const ParameterList &list);

/// "6 values trained (26506 numbers, 106.0 kB), 2 frozen (2 numbers, 8 B)", of
/// values of floats.
std::string describeSums(const ParameterList &list);

/// What the file does not hold, and how it would; empty if nothing is missing.
std::string describeMissing(const ParameterList &list);

} // namespace ffc

#endif // FFC_TOOLS_FFC_PARAMETERTABLE_H
