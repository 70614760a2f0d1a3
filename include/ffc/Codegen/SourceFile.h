//===- SourceFile.h - a file of a program -----------------------*- C++ -*-===//
#ifndef FFC_CODEGEN_SOURCEFILE_H
#define FFC_CODEGEN_SOURCEFILE_H

#include <string>

namespace ffc::codegen {

/// The files of a program: its text, what every rank has of it, and, in a
/// source folder, the `rank` module that both were made from; then the same of
/// its evaluation, if it has one, which the text includes.
inline constexpr char kTrainFile[] = "train.cpp", kRanksFile[] = "ranks.inc",
                      kPlanFile[] = "plan.rank",
                      kEvaluationFile[] = "evaluate.inc",
                      kEvaluationRanksFile[] = "evaluate_ranks.inc",
                      kEvaluationPlanFile[] = "evaluate.rank";

/// A file, by its path below the folder of the program.
struct SourceFile {
  std::string path;
  std::string contents;
};

} // namespace ffc::codegen

#endif // FFC_CODEGEN_SOURCEFILE_H
