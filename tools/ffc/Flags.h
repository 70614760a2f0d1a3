//===- Flags.h - tables of command line flags -------------------*- C++ -*-===//
//
// ffc and each of its commands have a table of flags, from which the command
// line is read and --help is written. Commands that take a model share one.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TOOLS_FFC_FLAGS_H
#define FFC_TOOLS_FFC_FLAGS_H

#include "ffc/Plan/Units.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ffc {

/// Commands that share a table of flags, as a set of bits.
using CommandSet = unsigned;
constexpr CommandSet kEveryCommand = ~0U;

/// A flag that `set` puts into an Options.
template <typename Options> struct FlagOf {
  llvm::StringRef name;  ///< with its dashes
  llvm::StringRef value; ///< how --help calls the value; empty: takes none
  llvm::StringRef help;
  std::function<llvm::Error(Options &options, llvm::StringRef flag,
                            llvm::StringRef value)>
      set;
  CommandSet commands = kEveryCommand; ///< to which it means something
};

template <typename Options> struct FlagGroupOf {
  llvm::StringRef title;
  std::vector<FlagOf<Options>> flags;
};

/// "FLAG: expected WHAT, found 'FOUND'".
llvm::Error expected(llvm::StringRef flag, const llvm::Twine &what,
                     llvm::StringRef found);

/// "flag '--report' has no meaning here, ADVICE".
llvm::Error meaningless(llvm::StringRef flag, llvm::StringRef advice);

/// "  name   help", the help in a column of its own, with line breaks.
std::string describeLine(const llvm::Twine &name, llvm::StringRef help);

/// Finds the flag of that name: how --help calls its value, or nothing.
using FindFlag = llvm::function_ref<const llvm::StringRef *(llvm::StringRef)>;
using SetFlag = llvm::function_ref<llvm::Error(llvm::StringRef flag,
                                               llvm::StringRef value)>;
using TakeArgument = llvm::function_ref<llvm::Error(llvm::StringRef)>;

/// The form of a command line: --flag=value, --flag value, -f value, and
/// arguments without dashes (or "-" alone). A value that begins with "--" must
/// be joined, since the next flag is easily taken for a value that was
/// forgotten. `advice` ends the message about a flag that is not among `known`.
llvm::Error splitFlags(const std::vector<std::string> &arguments, FindFlag find,
                       SetFlag set, TakeArgument take, llvm::StringRef advice,
                       llvm::ArrayRef<llvm::StringRef> known);

//===----------------------------------------------------------------------===//
// What flags do with their values
//
// `place` is a member of the options, or a function that finds one in them.
//===----------------------------------------------------------------------===//

constexpr int64_t kAnyWhole = std::numeric_limits<int64_t>::max();
llvm::Error parseWhole(llvm::StringRef flag, llvm::StringRef text,
                       int64_t least, int64_t &result,
                       int64_t most = kAnyWhole);
/// A size with its unit (Units.h), in bytes from 1 on.
llvm::Error parseBytes(llvm::StringRef flag, llvm::StringRef text,
                       int64_t &result);
/// A quantity with its unit (Units.h), in its base unit, of at least `least`.
llvm::Error parseQuantity(llvm::StringRef flag, llvm::StringRef text,
                          plan::QuantityKind kind, double least,
                          double &result);
/// `what` says which numbers `accept` takes.
llvm::Error parseNumber(llvm::StringRef flag, llvm::StringRef text,
                        bool accept(double), llvm::StringRef what,
                        double &result);
/// Which of the words the text is.
llvm::Expected<size_t> parseWord(llvm::StringRef flag, llvm::StringRef text,
                                 llvm::ArrayRef<llvm::StringRef> words);

template <typename Place> auto setTrue(Place place) {
  return [=](auto &options, llvm::StringRef, llvm::StringRef) -> llvm::Error {
    std::invoke(place, options) = true;
    return llvm::Error::success();
  };
}

template <typename Place> auto setText(Place place) {
  return [=](auto &options, llvm::StringRef,
             llvm::StringRef value) -> llvm::Error {
    std::invoke(place, options) = value.str();
    return llvm::Error::success();
  };
}

/// For flags that may be repeated.
template <typename Place> auto addText(Place place) {
  return [=](auto &options, llvm::StringRef,
             llvm::StringRef value) -> llvm::Error {
    std::invoke(place, options).push_back(value.str());
    return llvm::Error::success();
  };
}

/// A member that is narrower than 64 bits needs a `most` that it can hold.
template <typename Place>
auto setWhole(Place place, int64_t least, int64_t most = kAnyWhole) {
  return [=](auto &options, llvm::StringRef flag,
             llvm::StringRef value) -> llvm::Error {
    int64_t number = 0;
    if (llvm::Error error = parseWhole(flag, value, least, number, most))
      return error;
    std::invoke(place, options) = number;
    return llvm::Error::success();
  };
}

template <typename Place> auto setBytes(Place place) {
  return [=](auto &options, llvm::StringRef flag,
             llvm::StringRef value) -> llvm::Error {
    int64_t bytes = 0;
    if (llvm::Error error = parseBytes(flag, value, bytes))
      return error;
    std::invoke(place, options) = bytes;
    return llvm::Error::success();
  };
}

template <typename Place>
auto setQuantity(Place place, plan::QuantityKind kind, double least) {
  return [=](auto &options, llvm::StringRef flag,
             llvm::StringRef value) -> llvm::Error {
    double quantity = 0;
    if (llvm::Error error = parseQuantity(flag, value, kind, least, quantity))
      return error;
    std::invoke(place, options) = quantity;
    return llvm::Error::success();
  };
}

template <typename Place>
auto setNumber(Place place, bool accept(double), llvm::StringRef what) {
  return [=](auto &options, llvm::StringRef flag,
             llvm::StringRef value) -> llvm::Error {
    return parseNumber(flag, value, accept, what, std::invoke(place, options));
  };
}

/// The value of the word that is given.
template <typename Value, typename Place>
auto setChoice(Place place,
               const std::vector<std::pair<llvm::StringRef, Value>> &choices) {
  std::vector<llvm::StringRef> words;
  std::vector<Value> values;
  for (const auto &[word, value] : choices) {
    words.push_back(word);
    values.push_back(value);
  }
  return [=](auto &options, llvm::StringRef flag,
             llvm::StringRef text) -> llvm::Error {
    llvm::Expected<size_t> index = parseWord(flag, text, words);
    if (!index)
      return index.takeError();
    std::invoke(place, options) = values[*index];
    return llvm::Error::success();
  };
}

/// The word itself.
template <typename Place>
auto setWord(Place place, const std::vector<llvm::StringRef> &words) {
  std::vector<std::pair<llvm::StringRef, std::string>> choices;
  for (llvm::StringRef word : words)
    choices.emplace_back(word, word.str());
  return setChoice<std::string>(place, choices);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// What the options of all commands have.
struct CommandOptions {
  bool help = false;
  std::vector<std::string> arguments; ///< without dashes
};

/// The row of every table.
template <typename Options> FlagOf<Options> helpFlag() {
  return {"--help", "", "this text; also -h, or help before a command",
          setTrue(&Options::help)};
}

/// "expected WHAT, found 'a' and 'b'", unless there are `count` arguments.
llvm::Error expectArguments(const CommandOptions &options, size_t count,
                            const llvm::Twine &what);

template <typename Options> struct CommandLine {
  llvm::StringRef name; ///< "ffc topology"
  std::string intro;    ///< --help before the flags
  const std::vector<FlagGroupOf<Options>> &groups;
  /// Checks what belongs together, and completes the options.
  llvm::Error (*check)(Options &options);
  int (*run)(const Options &options); ///< returns the exit status
  CommandSet command = kEveryCommand; ///< which one it is in the table
};

/// Reads the flags of all `groups`; those without a meaning to the command are
/// errors.
template <typename Options>
llvm::Error parseFlags(const std::vector<std::string> &arguments,
                       const CommandLine<Options> &line, Options &options) {
  const std::string advice = ("see " + line.name + " --help").str();
  const FlagOf<Options> *flag = nullptr;
  // A name has a row for every meaning that it has to a command.
  auto find = [&](llvm::StringRef name) -> const llvm::StringRef * {
    flag = nullptr;
    if (name == "-h")
      name = "--help";
    for (const FlagGroupOf<Options> &group : line.groups)
      for (const FlagOf<Options> &each : group.flags)
        if (each.name == name && (!flag || each.commands & line.command))
          flag = &each;
    return flag ? &flag->value : nullptr;
  };
  auto set = [&](llvm::StringRef name, llvm::StringRef value) -> llvm::Error {
    if (!(flag->commands & line.command))
      return meaningless(name, advice);
    return flag->set(options, name, value);
  };
  auto take = [&](llvm::StringRef argument) {
    options.arguments.push_back(argument.str());
    return llvm::Error::success();
  };
  std::vector<llvm::StringRef> known;
  for (const FlagGroupOf<Options> &group : line.groups)
    for (const FlagOf<Options> &each : group.flags)
      if (each.commands & line.command)
        known.push_back(each.name);
  return splitFlags(arguments, find, set, take, advice, known);
}

/// The part of --help on flags.
template <typename Options>
std::string describeFlags(const CommandLine<Options> &line) {
  std::string text;
  for (const FlagGroupOf<Options> &group : line.groups) {
    std::string flags;
    for (const FlagOf<Options> &flag : group.flags) {
      if (!(flag.commands & line.command))
        continue;
      std::string name = flag.name.str();
      if (!flag.value.empty())
        name += ((flag.name.starts_with("--") ? "=" : " ") + flag.value).str();
      flags += describeLine(name, flag.help);
    }
    if (!flags.empty())
      text += ("\n" + group.title + ":\n" + flags).str();
  }
  return text;
}

/// Prints the message about a wrong command line and returns the exit status.
int failCommandLine(llvm::Error error);

/// Runs a command, or prints its --help, and returns the exit status.
template <typename Options>
int runCommandLine(const CommandLine<Options> &line,
                   const std::vector<std::string> &arguments) {
  Options options;
  if (llvm::Error error = parseFlags(arguments, line, options))
    return failCommandLine(std::move(error));
  if (options.help) {
    llvm::outs() << line.intro << describeFlags(line);
    return 0;
  }
  if (llvm::Error error = line.check(options))
    return failCommandLine(std::move(error));
  return line.run(options);
}

} // namespace ffc

#endif // FFC_TOOLS_FFC_FLAGS_H
