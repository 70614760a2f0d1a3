//===- TablesText.cpp - the tables of a program, read ---------------------===//

#include "TablesText.h"

#include "Tokens.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

namespace {

class TablesReader {
public:
  explicit TablesReader(TokenReader in) : in(in) {}

  Expected<TablesText> read() {
    while (!in.atEnd()) {
      if (in.skip({"const", "int64_t"})) {
        if (Error error = readList())
          return error;
      } else if (in.skip({"const", "Tables", "rank_tables", "=", "{"})) {
        if (Error error = readTables())
          return error;
        return std::move(result);
      } else {
        in.next();
      }
    }
    return in.fail("'const Tables rank_tables'");
  }

private:
  Error readList() {
    auto [name, kind] = in.peek().text.split('_');
    size_t number = 0;
    if (!name.consume_front("class") || name.getAsInteger(10, number) ||
        (kind != "numbers" && kind != "own"))
      return in.fail("the list of a class");
    in.next();
    std::vector<Cell> &cells =
        (kind == "own" ? result.own : result.lists)[number];
    if (Error error = in.expect({"[", "]", "=", "{"}))
      return error;
    while (!in.atEnd() && !in.skip({"}", ";"})) {
      Cell &cell = cells.emplace_back();
      cell.line = in.peek().line;
      cell.word = in.next().text;
      if (cell.word == "own" && in.skip({"("})) {
        cell.isOwn = true;
        cell.word = in.next().text;
        if (Error error = in.expect({")"}))
          return error;
      }
      if (cell.word == "INT64_MIN")
        cell.number = INT64_MIN;
      else if (cell.word == "none")
        cell.number = -1;
      else if (cell.word.getAsInteger(10, cell.number) && cell.isOwn)
        return in.fail("the number of a column");
      if (Error error = in.expect({","}))
        return error;
    }
    return Error::success();
  }

  Error readTables() {
    for (auto *list : {&result.groups, &result.schedules, &result.operators,
                       &result.transfers, &result.inputs, &result.outputs})
      if (Error error = readNames(*list))
        return error;
    if (Error error = readEntries([&] {
          result.states.push_back(in.takeArgument());
          in.leave();
        }))
      return error;
    if (Error error = readEntries([&] {
          for (int i = 0; i < 3; ++i, in.skip({","}))
            in.takeArgument();
          size_t width = 0;
          in.next().text.getAsInteger(10, width);
          result.widths.push_back(width);
          in.leave();
        }))
      return error;
    return readEntries([&] {
      std::pair<size_t, size_t> place;
      in.next().text.getAsInteger(10, place.first);
      in.skip({","});
      in.next().text.getAsInteger(10, place.second);
      result.places.push_back(place);
      in.leave();
    });
  }

  Error readNames(std::vector<std::string> &names) {
    if (Error error = in.expect({"{"}))
      return error;
    while (!in.atEnd() && !in.skip({"}"})) {
      names.push_back(in.takeArgument());
      in.skip({","});
    }
    return in.expect({","});
  }

  template <class ReadEntry> Error readEntries(ReadEntry readEntry) {
    if (Error error = in.expect({"{"}))
      return error;
    while (in.skip({"{"})) {
      readEntry();
      in.skip({","});
    }
    return in.expect({"}", ","});
  }

  TokenReader in;
  TablesText result;
};

} // namespace

Expected<TablesText> codegen::readTables(const SourceFile &tables) {
  const std::vector<Token> tokens = tokensOf(tables.contents);
  return TablesReader(TokenReader(tables.path, tokens)).read();
}
