//===- tables.cpp - what the ranks of a program have ----------------------===//
#include "ffrt/tables.h"

#include "ffrt/error.h"

namespace ffrt {

void fail_in_tables(const std::string &what) {
  throw Error("tables: " + what +
              "; this is a fault of ffc, or the program's files are of "
              "different ones");
}

int64_t Rows::next() {
  if (at == end)
    fail_in_tables("expected a number, found the end of the rows");
  const int64_t number = *at++;
  const uint64_t column = uint64_t(number) - uint64_t(own(0));
  return column < width ? row[column] : number;
}

std::size_t Rows::next_count() {
  const int64_t count = next();
  if (count < 0)
    fail_in_tables("expected a number of at least 0, found " +
                   std::to_string(count));
  return std::size_t(count);
}

std::size_t Rows::next_below(std::size_t size) {
  const std::size_t number = next_count();
  if (number >= size)
    fail_in_tables("expected a number below " + std::to_string(size) +
                   ", found " + std::to_string(number));
  return number;
}

Index Rows::next_index(int rank) {
  Index index;
  for (int d = 0; d < rank; ++d)
    index[d] = next();
  return index;
}

Rows Rows::take(std::size_t count) {
  if (count > std::size_t(end - at))
    fail_in_tables("expected " + std::to_string(count) + " numbers, found " +
                   std::to_string(end - at));
  const Rows taken(at, count, row, width);
  at += count;
  return taken;
}

} // namespace ffrt
