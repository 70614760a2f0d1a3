//===- SealWeights.h - sums behind the values of a program ------*- C++ -*-===//
//
// A program is two files, and the one with values may be that of another
// compilation, a part of one, or damaged. So its values are followed by sums,
// and the program knows their hash:
//
//   values, then zeros up to a multiple of 8 bytes
//   the sum of every MiB of values (the last one may be less)
//   the number of bytes of values, the hash, and "ffcsums1"
//
// in words of 64 bits, little-endian. A sum adds up, over words w with their
// numbers i in the file,
//
//   mix(w + (i + 1) * 0x9e3779b97f4a7c15)
//
// where mix is the finalizer of MurmurHash3. The hash is the same over the
// number of bytes, number 0, and the sums, from number 1 on. The runtime
// computes the same (runtime/src/common/program/weights_file.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_CODEGEN_SEALWEIGHTS_H
#define FFC_CODEGEN_SEALWEIGHTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ffc::codegen {

/// Adds the sums to a file of values. Returns the hash as 16 hexadecimal
/// digits; none where there is no file. Errors name the path.
llvm::Expected<std::string> sealWeights(llvm::StringRef path);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_SEALWEIGHTS_H
