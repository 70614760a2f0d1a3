//===- Text.h - lines of C++ ------------------------------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TEXT_H
#define FFC_LIB_CODEGEN_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// Collects lines of at most 80 columns where their parts allow.
class Text {
public:
  /// A line at the current depth, or an empty line. Breaks a longer one after a
  /// comma or an opening parenthesis, in the shallowest brackets possible.
  void line(const llvm::Twine &text = "");
  /// A comment in front of which `mark` stands ("//", "///"), wrapped at
  /// spaces; a tab is a space without a break.
  void comment(llvm::StringRef mark, const llvm::Twine &text);
  /// "//===--- title ---...---===//"
  void banner(const llvm::Twine &title);
  /// Lines that are right as they are.
  void block(llvm::StringRef lines) { text += lines; }
  /// The lines of `other`, which has its own depth.
  void append(Text &&other) { text += other.text; }
  void indent() { depth += 2; }
  void outdent() { depth -= 2; }

  std::string take() { return std::move(text); }

private:
  std::string text;
  unsigned depth = 0;
};

/// `text` as words that a comment does not separate.
std::string unbroken(llvm::StringRef text);

/// "{1, 2, 3}"
std::string braced(llvm::ArrayRef<std::string> parts);
std::string braced(llvm::ArrayRef<int64_t> values);
/// A C++ literal of type long or wider that is valid for every value.
std::string literal(int64_t value);
/// The shortest C++ literal of type double that reads back as `value`.
std::string literal(double value);
/// A C++ string literal; bytes outside ASCII are kept.
std::string quoted(llvm::StringRef value);

/// "rank 3", "ranks 0-2, 5": of many only the first ranges.
std::string describe(llvm::ArrayRef<int64_t> ranks);
/// A name as part of a comment, which it neither ends nor breaks.
std::string commentable(llvm::StringRef name);

/// "2.6 G", "512 k", for figures in comments.
std::string withPrefix(double value);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TEXT_H
