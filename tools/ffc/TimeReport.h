//===- TimeReport.h - the text of --report ----------------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_TIMEREPORT_H
#define FFC_TOOLS_FFC_TIMEREPORT_H

#include "ffc/Plan/Simulation.h"

#include <iosfwd>

namespace ffc {

/// Where the time of a step goes: a line per device, those with equal figures
/// in one, and the operators that take most of it.
void printTimeReport(std::ostream &out, const plan::Simulation &simulation);

} // namespace ffc

#endif // FFC_TOOLS_FFC_TIMEREPORT_H
