//===- Driver.h - from the command line to the output -----------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_DRIVER_H
#define FFC_TOOLS_FFC_DRIVER_H

namespace ffc {

/// Runs ffc and returns its exit status: 0, 1 after an error in the input, 2
/// after a wrong command line. Every error is one message on standard error.
int runDriver(int argc, char **argv);

} // namespace ffc

#endif // FFC_TOOLS_FFC_DRIVER_H
