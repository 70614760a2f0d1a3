//===- StageProfileFile.cpp - reads tables of operators -------------------===//
//
// The folder of docs/stages.md.
//
//===----------------------------------------------------------------------===//

#include "Text/Text.h"
#include "ffc/Plan/StageProfile.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>

using namespace ffc::plan;

namespace fs = std::filesystem;

static constexpr size_t kMaxFileBytes = size_t(16) << 20;
static constexpr int kMostNumber = 1 << 20;

[[noreturn]] static void fail(size_t line, const std::string &message) {
  throw Malformed{static_cast<int>(line), message};
}

/// The cells of every line; empty lines at the end are none.
static std::vector<std::vector<std::string>> cellsOf(const std::string &text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  for (char c : text)
    if (c == '\n')
      lines.push_back({""});
    else if (c == ',')
      lines.back().push_back("");
    else if (c != '\r' && (c != ' ' || !lines.back().back().empty()))
      lines.back().back() += c;
  while (!lines.empty() && lines.back() == std::vector<std::string>{""})
    lines.pop_back();
  return lines;
}

static double readNumber(const std::string &cell, size_t line,
                         const std::string &column) {
  char *end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end || !(value >= 0) || !std::isfinite(value))
    fail(line, "expected a number of at least 0 for '" + column + "', found " +
                   ffc::plan::quoted(cell));
  return value;
}

namespace ffc::plan {
class StageProfileReader {
public:
  StageProfileReader(std::string folder, const std::string &model)
      : folder(std::move(folder)) {
    profile.modelName = model;
  }
  std::optional<StageProfile> read(std::string &error);

private:
  using Cells = std::vector<std::vector<std::string>>;

  /// Is there such a file? What is wrong with it is thrown.
  void readFile(const std::string &name,
                void (StageProfileReader::*take)(const Cells &cells));
  void readTable(const Cells &cells);
  void readCollective(const Cells &cells);
  void readLink(const Cells &cells);

  std::string folder, error;
  StageProfile profile;
  /// Of the file that is read.
  std::array<int, 3> key = {};
  std::pair<StageCollective, int> group;
  std::optional<LinkTable> *link = nullptr;
};
} // namespace ffc::plan

void StageProfileReader::readTable(const Cells &cells) {
  static const std::pair<const char *, double StageRow::*> columns[] = {
      {"forward-compute", &StageRow::forward},
      {"backward-compute", &StageRow::backward},
      {"input_size", &StageRow::input},
      {"output_size", &StageRow::output},
      {"weights", &StageRow::weights},
      {"activations", &StageRow::activations},
      {"fwd_reserved", &StageRow::forwardReserved},
      {"bwd_reserved", &StageRow::backwardReserved}};
  std::vector<std::string> header = {"op_name"};
  for (const auto &column : columns)
    header.push_back(column.first);
  if (cells.size() < 2)
    fail(1, "expected a line of columns and rows of operators, found " +
                std::to_string(cells.size()) + " lines");
  if (cells[0] != header)
    fail(1, "expected the columns " + joined(header) + "; found " +
                joined(cells[0]));
  StageTable table;
  std::vector<std::string> names;
  for (size_t line = 1; line < cells.size(); ++line) {
    if (cells[line].size() != header.size())
      fail(line + 1, "expected " + std::to_string(header.size()) +
                         " columns, found " +
                         std::to_string(cells[line].size()));
    names.push_back(cells[line][0]);
    StageRow &row = table.emplace_back();
    size_t column = 1;
    for (auto [name, field] : columns)
      row.*field = readNumber(cells[line][column++], line + 1, name);
  }
  if (profile.names.empty())
    profile.names = names;
  for (size_t row = 0; row < names.size(); ++row)
    if (row >= profile.names.size() || names[row] != profile.names[row])
      fail(row + 2, "expected the operators of the other tables, here " +
                        (row < profile.names.size()
                             ? ffc::plan::quoted(profile.names[row])
                             : std::string("the end")) +
                        ", found " + ffc::plan::quoted(names[row]));
  if (names.size() < profile.names.size())
    fail(names.size() + 1, "expected the operators of the other tables, next " +
                               ffc::plan::quoted(profile.names[names.size()]) +
                               ", found the end");
  profile.tables[key] = std::move(table);
}

void StageProfileReader::readCollective(const Cells &cells) {
  CollectiveTable table;
  for (size_t line = 1; line < cells.size(); ++line) {
    if (cells[line].size() != 2)
      fail(line + 1,
           "expected 2 columns, found " + std::to_string(cells[line].size()));
    const double size = readNumber(cells[line][0], line + 1, "data_size(MB)");
    if (size != std::floor(size) || size > kMostNumber)
      fail(line + 1, "expected a whole number of MiB, found " +
                         ffc::plan::quoted(cells[line][0]));
    table.add(static_cast<int>(size),
              readNumber(cells[line][1], line + 1, "time(ms)"));
  }
  if (table.size() == 0)
    fail(1, "expected sizes and times, found none");
  profile.collectives[group] = std::move(table);
}

void StageProfileReader::readLink(const Cells &cells) {
  if (cells.size() != 2 || cells[0].size() != cells[1].size())
    fail(1, "expected a line of sizes and one of as many rates");
  std::vector<double> rates;
  for (size_t i = 0; i < cells[0].size(); ++i) {
    const double size = readNumber(cells[0][i], 1, "MiB");
    if (size != std::ldexp(1.0, static_cast<int>(i)))
      fail(1, "expected sizes of 1, 2, 4, ... MiB, found " +
                  ffc::plan::quoted(cells[0][i]));
    rates.push_back(readNumber(cells[1][i], 2, "GiB/s"));
    if (rates.back() == 0)
      fail(2,
           "expected a rate above 0, found " + ffc::plan::quoted(cells[1][i]));
  }
  link->emplace(std::move(rates));
}

void StageProfileReader::readFile(
    const std::string &name,
    void (StageProfileReader::*take)(const Cells &cells)) {
  const std::string path = (fs::path(folder) / name).string();
  const auto text = readTextFile(path, kMaxFileBytes, error);
  if (!text)
    throw Malformed{0, error};
  try {
    (this->*take)(cellsOf(*text));
  } catch (const Malformed &malformed) {
    throw Malformed{0, path + ":" + std::to_string(malformed.line) + ": " +
                           malformed.message};
  }
}

/// The names of the files in the folder, ascending.
static std::vector<std::string> namesIn(const std::string &folder) {
  std::error_code code;
  std::vector<std::string> names;
  fs::directory_iterator it(folder, code);
  if (code)
    throw Malformed{
        0, folder + ": expected a folder of tables (.csv): " + code.message() +
               "; 'cmake -E tar xf' opens an archive"};
  for (; it != fs::directory_iterator(); it.increment(code))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<StageProfile> StageProfileReader::read(std::string &message) {
  static const std::regex tableName(
      "(.+)_mbs([1-9]\\d{0,4})_tp([1-9]\\d{0,4})_algo([01])\\.csv");
  static const std::regex collectiveName(
      "prim_(.+)_(all_gather|all_reduce|all_to_all|reduce_scatter)_"
      "([1-9]\\d{0,4})gpus\\.csv");
  static const std::map<std::string, StageCollective> kinds = {
      {"all_gather", StageCollective::AllGather},
      {"all_reduce", StageCollective::AllReduce},
      {"all_to_all", StageCollective::AllToAll},
      {"reduce_scatter", StageCollective::ReduceScatter}};
  try {
    std::set<int> samples, tensor;
    std::set<std::string> models;
    std::smatch match;
    for (const std::string &name : namesIn(folder)) {
      auto number = [&](size_t i) { return std::stoi(match.str(i)); };
      if (std::regex_match(name, match, collectiveName)) {
        if (match.str(1) != profile.modelName)
          continue;
        group = {kinds.at(match.str(2)), number(3)};
        readFile(name, &StageProfileReader::readCollective);
      } else if (std::regex_match(name, match, tableName)) {
        models.insert(match.str(1));
        if (match.str(1) != profile.modelName)
          continue;
        key = {number(2), number(3), number(4)};
        samples.insert(key[0]);
        tensor.insert(key[1]);
        profile.numAlgorithms = std::max(profile.numAlgorithms, key[2] + 1);
        readFile(name, &StageProfileReader::readTable);
      } else if (name == "p2p_intra_node.csv" || name == "p2p_inter_node.csv") {
        link = name == "p2p_intra_node.csv" ? &profile.intra : &profile.inter;
        readFile(name, &StageProfileReader::readLink);
      }
    }
    if (profile.tables.empty())
      throw Malformed{
          0, folder + ": expected tables of " +
                 ffc::plan::quoted(profile.modelName) + ", found " +
                 (models.empty()
                      ? "none of any model"
                      : "those of " + joined({models.begin(), models.end()}))};
    if (!profile.intra)
      throw Malformed{0, folder + ": expected 'p2p_intra_node.csv', found "
                                  "none"};
    profile.allSamples.assign(samples.begin(), samples.end());
    profile.allTensor.assign(tensor.begin(), tensor.end());
    return std::move(profile);
  } catch (const Malformed &malformed) {
    message = malformed.message;
    return std::nullopt;
  }
}

std::optional<StageProfile> StageProfile::load(const std::string &folder,
                                               const std::string &model,
                                               std::string &error) {
  return StageProfileReader(folder, model).read(error);
}
