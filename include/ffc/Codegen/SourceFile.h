//===- SourceFile.h - a file of a program -----------------------*- C++ -*-===//
#ifndef FFC_CODEGEN_SOURCEFILE_H
#define FFC_CODEGEN_SOURCEFILE_H

#include <string>

namespace ffc::codegen {

/// A file, by its path below the folder of the program.
struct SourceFile {
  std::string path;
  std::string contents;
};

} // namespace ffc::codegen

#endif // FFC_CODEGEN_SOURCEFILE_H
