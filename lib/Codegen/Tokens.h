//===- Tokens.h - the words of C++ text -------------------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TOKENS_H
#define FFC_LIB_CODEGEN_TOKENS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace ffc::codegen {

struct Token {
  /// A name, a number with its sign, a string with its quotes, "::", "->" or
  /// one character; empty at the end.
  llvm::StringRef text;
  size_t line = 0; ///< from 1

  bool isString() const { return text.starts_with("\""); }
};

/// The words of a file that is part of a program, without comments and lines of
/// the preprocessor. `text` must outlive them.
std::vector<Token> tokensOf(llvm::StringRef text);

/// Reads the words of a file from the front.
class TokenReader {
public:
  TokenReader(llvm::StringRef file, llvm::ArrayRef<Token> tokens)
      : file(file), tokens(tokens) {}

  const Token &peek(size_t ahead = 0) const;
  bool atEnd() const { return peek().text.empty(); }
  Token next();
  /// True, and behind it, if the next words are these.
  bool skip(std::initializer_list<llvm::StringRef> words);
  llvm::Error expect(std::initializer_list<llvm::StringRef> words);
  /// What stands up to the next comma or bracket that closes what was open
  /// before it, without spaces.
  std::string takeArgument();
  /// Behind what closes the bracket that was read last.
  void leave();

  /// "FILE:LINE: expected X, found Y".
  llvm::Error fail(const llvm::Twine &expected) const;

private:
  llvm::StringRef file;
  llvm::ArrayRef<Token> tokens;
  size_t at = 0;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TOKENS_H
