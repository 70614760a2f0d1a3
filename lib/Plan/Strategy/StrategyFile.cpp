//===- StrategyFile.cpp - strategies as text ------------------------------===//
//
// Our own format and the layer table of docs/strategy.md, and which format a
// file is in. Reading throws Malformed (Text.h), which the public functions
// turn into messages.
//
//===----------------------------------------------------------------------===//

#include "ffc/Plan/StrategyFile.h"

#include "StrategyFlexFlow.h"
#include "StrategyNames.h"
#include "StrategyTokens.h"
#include "Text/Text.h"

#include <algorithm>
#include <numeric>

using namespace ffc::plan;

static constexpr size_t kMaxFileBytes = size_t(64) << 20;
static constexpr int64_t kMaxDegree = 1 << 20;
static const char kHeader[] = "ffc strategy 1", kAgain[] = "again",
                  kRewrites[] = "rewrites";

namespace {

class Reader {
public:
  Reader(const Graph &graph, int numDevices)
      : graph(graph), numDevices(numDevices), names(graph),
        strategy(graph.ops.size()), lineOf(graph.ops.size(), 0) {}

  PartialStrategy read(const std::string &text);

private:
  void readHeader(const StrategyLine &line) const;
  /// "conv2: h=2 w=3:1 on 0 2 1 3".
  void readLine(const StrategyLine &line);
  /// "conv2 conv2d n=1 c=1 h=2 w=2  0 2 1 3".
  void readTableRow(const StrategyLine &line);

  OpId findOp(int line, const std::string &name) const;
  /// "h=2"; nothing if `token` holds no '='.
  static std::optional<std::pair<std::string, int64_t>>
  readDegree(int line, const std::string &token);
  /// "h=2", or by shares "h=3:1" and "h=3*4:1*4"; nothing if there is no '='.
  std::optional<GridAxis> readAxis(int line, const Op &op,
                                   const std::string &token) const;
  /// The axes that one degree of a table row stands for.
  void addTableAxes(int line, const Op &op, bool namesGroups,
                    const std::string &dim, int64_t degree,
                    std::vector<GridAxis> &axes) const;
  int findDim(int line, const Op &op, const std::string &dim) const;
  /// Checks the configuration and enters it.
  void add(int line, OpId id, Configuration config);

  const Graph &graph;
  int numDevices;
  OperatorNames names;
  PartialStrategy strategy;
  std::vector<int> lineOf; ///< where an operator was given; 0: not yet
};

[[noreturn]] void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

} // namespace

//===----------------------------------------------------------------------===//
// What both formats share
//===----------------------------------------------------------------------===//

OpId Reader::findOp(int line, const std::string &name) const {
  std::string error;
  const OpId id = names.find(name, error);
  if (id < 0)
    fail(line, error);
  return id;
}

std::optional<std::pair<std::string, int64_t>>
Reader::readDegree(int line, const std::string &token) {
  const size_t equals = token.find('=');
  if (equals == std::string::npos)
    return std::nullopt;
  const auto degree = parseCount(token.substr(equals + 1), kMaxDegree);
  if (equals == 0 || !degree || *degree == 0)
    fail(line, "expected a dimension and its degree such as 'n=4', 1 to " +
                   std::to_string(kMaxDegree) + ", found " + quoted(token));
  return std::make_pair(token.substr(0, equals), int64_t(*degree));
}

std::optional<std::vector<int64_t>>
ffc::plan::parseShares(const std::string &text) {
  if (text.find_first_of(":*") == std::string::npos)
    return std::nullopt;
  std::vector<int64_t> shares;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(':', at), text.size());
    const size_t star = std::min(text.find('*', at), end);
    const auto share = parseCount(text.substr(at, star - at), kMaxShares);
    const auto count =
        star < end
            ? parseCount(text.substr(star + 1, end - star - 1), kMaxShares)
            : std::optional<long long>(1);
    if (!share || !count || *share == 0 || *count == 0 ||
        *count > kMaxShares - static_cast<int64_t>(shares.size()))
      return std::nullopt;
    shares.insert(shares.end(), static_cast<size_t>(*count), *share);
    at = end + 1;
  }
  return shares;
}

std::optional<GridAxis> Reader::readAxis(int line, const Op &op,
                                         const std::string &token) const {
  const size_t equals = token.find('=');
  if (equals == std::string::npos ||
      token.find_first_of(":*", equals) == std::string::npos) {
    const auto degree = readDegree(line, token);
    if (!degree)
      return std::nullopt;
    return GridAxis{findDim(line, op, degree->first), degree->second};
  }
  auto shares = parseShares(token.substr(equals + 1));
  if (!shares)
    fail(line, "expected shares such as 'n=3:3:1:1' or 'n=3*2:1*2', of 1 to " +
                   std::to_string(kMaxShares) + ", found " + quoted(token));
  return GridAxis::withShares(findDim(line, op, token.substr(0, equals)),
                              *std::move(shares));
}

int Reader::findDim(int line, const Op &op, const std::string &dim) const {
  const int found = op.rules.findDim(dim);
  if (found >= 0)
    return found;
  if (dim == "replica")
    return kReplica;
  std::vector<std::string> known;
  for (const IterDim &other : op.rules.dims)
    known.push_back(other.name);
  known.push_back("replica");
  fail(line, quoted(op.name) + " (" + op.type + ") has no dimension " +
                 quoted(dim) + ", expected one of: " + joined(known));
}

void Reader::add(int line, OpId id, Configuration config) {
  const Op &op = graph.op(id);
  if (lineOf[id])
    fail(line, quoted(op.name) + " is given twice, first on line " +
                   std::to_string(lineOf[id]));
  // Checked here because the product of degrees may leave int64.
  const auto numGiven = static_cast<int64_t>(config.devices.size());
  int64_t points = 1;
  for (const GridAxis &axis : config.axes)
    points = std::min(points * axis.degree, kMaxDegree + 1);
  if (points > kMaxDegree)
    fail(line, quoted(op.name) + ": expected at most " +
                   std::to_string(kMaxDegree) + " grid points, found more");
  if (points != numGiven)
    fail(line, quoted(op.name) + ": expected a device for each of " +
                   std::to_string(points) + " grid points, found " +
                   std::to_string(numGiven));
  if (auto reason = checkConfiguration(graph, id, config, numDevices))
    fail(line, *reason);
  lineOf[id] = line;
  strategy[id] = std::move(config);
}

//===----------------------------------------------------------------------===//
// Our own format
//===----------------------------------------------------------------------===//

void Reader::readHeader(const StrategyLine &line) const {
  std::string found;
  for (const std::string &token : line.tokens)
    found += (found.empty() ? "" : " ") + token;
  if (found != kHeader)
    fail(line.number, std::string("expected the version line '") + kHeader +
                          "', found " + quoted(found));
}

/// "rewrites merge-products", not an operator of that name.
static bool listsRewrites(const StrategyLine &line) {
  return line.tokens[0] == kRewrites &&
         (line.tokens.size() == 1 || line.tokens[1] != ":");
}

void Reader::readLine(const StrategyLine &line) {
  const std::vector<std::string> &tokens = line.tokens;
  if (listsRewrites(line))
    fail(line.number, std::string("expected '") + kRewrites +
                          "' right after the version line, found it behind "
                          "other lines");
  if (tokens.size() < 2 || tokens[1] != ":")
    fail(line.number, "expected an operator's name and ':' as in 'conv1: n=4 "
                      "on 0-3', found " +
                          quoted(tokens[0]));
  const OpId id = findOp(line.number, tokens[0]);
  Configuration config;
  size_t at = 2;
  for (; at < tokens.size() && tokens[at] != "on"; ++at) {
    auto axis = readAxis(line.number, graph.op(id), tokens[at]);
    if (!axis)
      fail(line.number, "expected a degree such as 'n=4' or 'on' and devices, "
                        "found " +
                            quoted(tokens[at]));
    config.axes.push_back(*std::move(axis));
  }
  if (at == tokens.size())
    fail(line.number, "expected 'on' and devices after " + quoted(tokens[0]) +
                          ", found the end of the line");
  StrategyLine devices = line;
  config.again = devices.tokens.back() == kAgain;
  if (config.again)
    devices.tokens.pop_back();
  config.devices = parseDevices(devices, at + 1);
  add(line.number, id, std::move(config));
}

//===----------------------------------------------------------------------===//
// The layer table
//===----------------------------------------------------------------------===//

void Reader::addTableAxes(int line, const Op &op, bool namesGroups,
                          const std::string &dim, int64_t degree,
                          std::vector<GridAxis> &axes) const {
  // The table always has four columns, whatever dimensions an operator has.
  if (degree == 1)
    return;
  const int number = findDim(line, op, dim);
  const int groups = op.rules.findDim("g");
  const int64_t numGroups = groups < 0 ? 1 : op.rules.dims[groups].extent;
  if (dim != "c" || numGroups == 1 || namesGroups) {
    axes.push_back({number, degree});
    return;
  }
  // There `c` is all output channels, here those of one group: groups are dealt
  // out first, and only whole ones are split further.
  const int64_t groupDegree = std::gcd(degree, numGroups);
  const int64_t rest = degree / groupDegree;
  if (groupDegree != numGroups && rest != 1)
    fail(line, quoted(op.name) + " has " + std::to_string(numGroups) +
                   " groups of channels: expected c to divide or be a multiple "
                   "of that, found c=" +
                   std::to_string(degree));
  if (groupDegree > 1)
    axes.push_back({groups, groupDegree});
  if (rest > 1)
    axes.push_back({number, rest});
}

void Reader::readTableRow(const StrategyLine &line) {
  const std::vector<std::string> &tokens = line.tokens;
  if (tokens.size() < 3)
    fail(line.number,
         "expected a row such as 'conv1 conv2d n=4 c=1 h=1 w=1 0 1 2 3', or "
         "the version line '" +
             std::string(kHeader) + "' before all others; found " +
             quoted(tokens[0]));
  const OpId id = findOp(line.number, tokens[0]);
  const Op &op = graph.op(id);
  if (tokens[1] != op.type && tokens[1] != shortFamily(op.type))
    fail(line.number, "expected the family '" + op.type + "' of " +
                          quoted(op.name) + ", found " + quoted(tokens[1]));
  std::vector<std::pair<std::string, int64_t>> degrees;
  bool namesGroups = false;
  size_t at = 2;
  for (; at < tokens.size(); ++at) {
    const auto degree = readDegree(line.number, tokens[at]);
    if (!degree)
      break;
    namesGroups |= degree->first == "g";
    degrees.push_back(*degree);
  }
  Configuration config;
  for (const auto &[dim, degree] : degrees)
    addTableAxes(line.number, op, namesGroups, dim, degree, config.axes);
  config.devices = parseDevices(line, at);
  add(line.number, id, std::move(config));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Is the text, of which these are the lines, in our own format?
static bool isOurs(const std::vector<StrategyLine> &lines) {
  const std::vector<std::string> &first = lines.front().tokens;
  return first[0] == "ffc" || (first.size() > 1 && first[1] == ":");
}

static bool isOfFlexFlow(const std::string &text) {
  return isFlexFlowProtobuf(text) || isFlexFlowText(text) ||
         isFlexFlowPrinted(text);
}

PartialStrategy Reader::read(const std::string &text) {
  const std::vector<StrategyLine> lines = splitStrategy(text);
  if (lines.empty())
    fail(1, "expected a strategy, found an empty file");
  const bool ours = isOurs(lines);
  if (ours)
    readHeader(lines.front());
  size_t i = ours ? 1 : 0;
  // Whoever made the graph has read it.
  if (ours && lines.size() > 1 && listsRewrites(lines[1]))
    ++i;
  for (; i < lines.size(); ++i) {
    if (ours)
      readLine(lines[i]);
    else
      readTableRow(lines[i]);
  }
  return std::move(strategy);
}

std::optional<PartialStrategy>
ffc::plan::parseStrategy(const std::string &text, const std::string &fileName,
                         const Graph &graph, int numDevices,
                         std::string &error) {
  const bool binary = isFlexFlowProtobuf(text);
  try {
    if (binary)
      return fromFlexFlow(graph, numDevices, readFlexFlowProtobuf(text));
    if (isFlexFlowText(text))
      return fromFlexFlow(graph, numDevices, readFlexFlowText(text));
    if (isFlexFlowPrinted(text))
      return fromFlexFlow(graph, numDevices, readFlexFlowPrinted(text));
    return Reader(graph, numDevices).read(text);
  } catch (const Malformed &malformed) {
    error = fileName + (binary ? ": byte " : ":") +
            std::to_string(malformed.line) + ": " + malformed.message;
    return std::nullopt;
  }
}

std::optional<PartialStrategy> ffc::plan::loadStrategy(const std::string &path,
                                                       const Graph &graph,
                                                       int numDevices,
                                                       std::string &error) {
  std::optional<std::string> text = readTextFile(path, kMaxFileBytes, error);
  if (!text)
    return std::nullopt;
  return parseStrategy(*text, path, graph, numDevices, error);
}

/// What the second line of `text` says, if it lists rules.
static std::vector<std::string>
readRewrites(const std::string &text, const std::vector<std::string> &known) {
  if (isOfFlexFlow(text))
    return {};
  const std::vector<StrategyLine> lines = splitStrategy(text);
  if (lines.size() < 2 || !isOurs(lines) || !listsRewrites(lines[1]))
    return {};
  const StrategyLine &line = lines[1];
  const std::vector<std::string> names(line.tokens.begin() + 1,
                                       line.tokens.end());
  if (names.empty())
    fail(line.number, std::string("expected names of rules after '") +
                          kRewrites + "' (" + joined(known) +
                          "), found the end of the line");
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(known.begin(), known.end(), names[i]) == known.end())
      fail(line.number, std::string("expected '") + kRewrites +
                            "' and rules among " + joined(known) + ", found " +
                            quoted(names[i]));
    if (std::find(names.begin(), names.begin() + i, names[i]) !=
        names.begin() + i)
      fail(line.number,
           "expected every rule once, found " + quoted(names[i]) + " twice");
  }
  return names;
}

std::optional<std::vector<std::string>>
ffc::plan::loadRewrites(const std::string &path,
                        const std::vector<std::string> &known,
                        std::string &error) {
  std::optional<std::string> text = readTextFile(path, kMaxFileBytes, error);
  if (!text)
    return std::nullopt;
  try {
    return readRewrites(*text, known);
  } catch (const Malformed &malformed) {
    error =
        path + ":" + std::to_string(malformed.line) + ": " + malformed.message;
    return std::nullopt;
  }
}

std::string ffc::plan::printStrategy(const Graph &graph,
                                     const PartialStrategy &strategy,
                                     const std::vector<std::string> &rewrites) {
  std::string text = std::string(kHeader) + "\n";
  if (!rewrites.empty())
    text += kRewrites;
  for (const std::string &rule : rewrites)
    text += " " + rule;
  if (!rewrites.empty())
    text += "\n";
  for (size_t id = 0; id < strategy.size(); ++id) {
    if (!strategy[id])
      continue;
    const Op &op = graph.op(static_cast<OpId>(id));
    text += printName(op.name) + ":";
    for (const GridAxis &axis : strategy[id]->axes)
      text +=
          " " +
          (axis.dim == kReplica ? "replica" : op.rules.dims[axis.dim].name) +
          "=" + axis.str();
    text += " on" + str(strategy[id]->devices) +
            (strategy[id]->again ? std::string(" ") + kAgain : "") + "\n";
  }
  return text;
}

std::string ffc::plan::printStrategy(const Graph &graph,
                                     const Strategy &strategy,
                                     const std::vector<std::string> &rewrites) {
  return printStrategy(graph, PartialStrategy(strategy.begin(), strategy.end()),
                       rewrites);
}
