//===- Flags.h - tables of command line flags -------------------*- C++ -*-===//
//
// ffc and each of its commands have a table of flags, from which the command
// line is read and --help is written.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TOOLS_FFC_FLAGS_H
#define FFC_TOOLS_FFC_FLAGS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc {

/// A flag that `set` puts into an Options.
template <typename Options> struct FlagOf {
  llvm::StringRef name;  ///< with its dashes
  llvm::StringRef value; ///< how --help calls the value; empty: takes none
  llvm::StringRef help;
  llvm::Error (*set)(Options &options, llvm::StringRef flag,
                     llvm::StringRef value);
};

template <typename Options> struct FlagGroupOf {
  llvm::StringRef title;
  std::vector<FlagOf<Options>> flags;
};

/// "FLAG: expected WHAT, found 'FOUND'".
llvm::Error expected(llvm::StringRef flag, const llvm::Twine &what,
                     llvm::StringRef found);

/// "  name   help", the help in a column of its own, with line breaks.
std::string describeLine(const llvm::Twine &name, llvm::StringRef help);

/// Finds the flag of that name: how --help calls its value, or nothing.
using FindFlag = llvm::function_ref<const llvm::StringRef *(llvm::StringRef)>;
using SetFlag = llvm::function_ref<llvm::Error(llvm::StringRef flag,
                                               llvm::StringRef value)>;
using TakeArgument = llvm::function_ref<llvm::Error(llvm::StringRef)>;

/// The form of a command line: --flag=value, --flag value, -f value, and
/// arguments without dashes (or "-" alone). `advice` ends the message about an
/// unknown flag.
llvm::Error splitFlags(const std::vector<std::string> &arguments, FindFlag find,
                       SetFlag set, TakeArgument take, llvm::StringRef advice);

template <typename Options>
llvm::Error parseFlags(const std::vector<std::string> &arguments,
                       const std::vector<FlagGroupOf<Options>> &groups,
                       Options &options, TakeArgument take,
                       llvm::StringRef advice) {
  const FlagOf<Options> *flag = nullptr;
  auto find = [&](llvm::StringRef name) -> const llvm::StringRef * {
    for (const FlagGroupOf<Options> &group : groups)
      for (const FlagOf<Options> &each : group.flags)
        if (each.name == name) {
          flag = &each;
          return &each.value;
        }
    return nullptr;
  };
  auto set = [&](llvm::StringRef name, llvm::StringRef value) {
    return flag->set(options, name, value);
  };
  return splitFlags(arguments, find, set, take, advice);
}

/// The part of --help on flags.
template <typename Options>
std::string describeFlags(const std::vector<FlagGroupOf<Options>> &groups) {
  std::string text;
  for (const FlagGroupOf<Options> &group : groups) {
    text += ("\n" + group.title + ":\n").str();
    for (const FlagOf<Options> &flag : group.flags) {
      std::string name = flag.name.str();
      if (!flag.value.empty())
        name += ((flag.name.starts_with("--") ? "=" : " ") + flag.value).str();
      text += describeLine(name, flag.help);
    }
  }
  return text;
}

} // namespace ffc

#endif // FFC_TOOLS_FFC_FLAGS_H
