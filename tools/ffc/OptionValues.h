//===- OptionValues.h - what flags of models take --------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_OPTIONVALUES_H
#define FFC_TOOLS_FFC_OPTIONVALUES_H

#include "Options.h"

namespace ffc {

/// How many there are at most of chains, batches of a step and the like.
inline constexpr int kMostCount = 4096;

// Each reads the value of a flag into the options; an error names the flag,
// what was expected, and the value.
llvm::Error parseDim(Options &options, llvm::StringRef flag,
                     llvm::StringRef value);
llvm::Error parseFixed(Options &options, llvm::StringRef flag,
                       llvm::StringRef value);
llvm::Error parseTrain(Options &options, llvm::StringRef flag,
                       llvm::StringRef value);
llvm::Error parseFreeze(Options &options, llvm::StringRef flag,
                        llvm::StringRef value);
llvm::Error parseDropout(Options &options, llvm::StringRef flag,
                         llvm::StringRef value);
llvm::Error parseBatchNormGroups(Options &options, llvm::StringRef flag,
                                 llvm::StringRef value);
llvm::Error parseTimeBlock(Options &options, llvm::StringRef flag,
                           llvm::StringRef value);
llvm::Error parseOptimizer(Options &options, llvm::StringRef flag,
                           llvm::StringRef value);
llvm::Error parseLossScale(Options &options, llvm::StringRef flag,
                           llvm::StringRef value);
llvm::Error parseStrategy(Options &options, llvm::StringRef flag,
                          llvm::StringRef value);
llvm::Error parseSchedule(Options &options, llvm::StringRef flag,
                          llvm::StringRef value);
llvm::Error parseRewrites(Options &options, llvm::StringRef flag,
                          llvm::StringRef value);
llvm::Error parseCollectives(Options &options, llvm::StringRef flag,
                             llvm::StringRef value);
llvm::Error parseOutput(Options &options, llvm::StringRef flag,
                        llvm::StringRef value);

} // namespace ffc

#endif // FFC_TOOLS_FFC_OPTIONVALUES_H
