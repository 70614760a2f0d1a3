//===- SearchProgress.h - what a user sees of a search ----------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_SEARCHPROGRESS_H
#define FFC_TOOLS_FFC_SEARCHPROGRESS_H

#include "Options.h"

#include "ffc/Search/Search.h"

#include <csignal>
#include <string>

namespace ffc {

/// "12.345 ms".
std::string milliseconds(plan::Picoseconds time);

/// While it lives, a search says how far it is (on a terminal, or where options
/// ask for it), and the first Ctrl-C ends it with the best strategy so far; the
/// second one ends ffc.
class SearchWatch {
public:
  /// Sets what `searching` tells and asks.
  SearchWatch(search::Options &searching, const Options &options);
  SearchWatch(const SearchWatch &) = delete;
  SearchWatch &operator=(const SearchWatch &) = delete;
  ~SearchWatch();

  /// Removes what it said from a terminal.
  void clear() const;

private:
  bool isTerminal;
};

} // namespace ffc

#endif // FFC_TOOLS_FFC_SEARCHPROGRESS_H
