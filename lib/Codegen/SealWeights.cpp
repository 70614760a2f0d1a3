//===- SealWeights.cpp - sums behind the values of a program --------------===//

#include "ffc/Codegen/SealWeights.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

static constexpr uint64_t kChunk = uint64_t(1) << 20;
static constexpr uint64_t kWord = 8;

/// Of half a word, number `number`.
static uint64_t summandOfHalf(uint32_t half, uint64_t number) {
  const uint64_t at = (number + 1) * 0x9e3779b97f4a7c15u;
  return uint64_t(half) * (static_cast<uint32_t>(at ^ (at >> 32)) | 1);
}

/// Of word number `number`; runtime/src/common/checkpoint/checksum.cpp.
static uint64_t summand(uint64_t word, uint64_t number) {
  return summandOfHalf(static_cast<uint32_t>(word), 2 * number) +
         summandOfHalf(static_cast<uint32_t>(word >> 32), 2 * number + 1);
}

/// Of the bytes from `begin` on; what is missing to a whole word is 0.
static uint64_t sumOfChunk(StringRef values, uint64_t begin) {
  const StringRef chunk = values.substr(begin, kChunk);
  uint64_t sum = 0, number = begin / kWord;
  size_t at = 0;
  for (; at + kWord <= chunk.size(); at += kWord)
    sum += summand(support::endian::read64le(chunk.data() + at), number++);
  if (at < chunk.size()) {
    char last[kWord] = {};
    llvm::copy(chunk.substr(at), last);
    sum += summand(support::endian::read64le(last), number);
  }
  return sum;
}

Expected<std::string> ffc::codegen::sealWeights(StringRef path) {
  if (!sys::fs::exists(path))
    return "";
  auto failed = [&](const char *verb, std::error_code code) {
    return createStringError(code, "cannot %s '%s': %s", verb,
                             path.str().c_str(), code.message().c_str());
  };
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failed("read", buffer.getError());
  const StringRef values = (*buffer)->getBuffer();
  const uint64_t bytes = values.size();
  std::vector<uint64_t> tail;
  uint64_t hash = summand(bytes, 0);
  for (uint64_t begin = 0; begin < bytes; begin += kChunk) {
    tail.push_back(sumOfChunk(values, begin));
    hash += summand(tail.back(), tail.size());
  }
  tail.push_back(bytes);
  tail.push_back(hash);

  std::error_code code;
  raw_fd_ostream file(path, code, sys::fs::OF_Append);
  if (code)
    return failed("write", code);
  file.write_zeros(alignTo(bytes, kWord) - bytes);
  for (uint64_t word : tail) {
    char text[kWord];
    support::endian::write64le(text, word);
    file.write(text, kWord);
  }
  file << "ffcsums2";
  file.close();
  if (file.has_error()) {
    code = file.error();
    file.clear_error();
    return failed("write", code);
  }
  return formatv("{0:x-16}", hash).str();
}
