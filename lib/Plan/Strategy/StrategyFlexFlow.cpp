//===- StrategyFlexFlow.cpp - FlexFlow's text and printed strategies ------===//

#include "StrategyFlexFlow.h"

#include "Text/Text.h"

#include <algorithm>
#include <limits>

using namespace ffc::plan;

static constexpr auto kMaxDevice = std::numeric_limits<DeviceId>::max();

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

//===----------------------------------------------------------------------===//
// Lines and words
//===----------------------------------------------------------------------===//

namespace {

struct Line {
  int number = 0; ///< from 1
  std::string text;
};

/// The lines of a text that hold something. Comments and the rulers around what
/// FlexFlow prints ("===== Best Discovered Strategy =====") hold nothing.
class Lines {
public:
  explicit Lines(const std::string &text) : text(text) {}

  bool next(Line &line) {
    while (begin < text.size()) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const size_t first = text.find_first_not_of(" \t\r", begin);
      begin = end + 1;
      ++number;
      if (first >= end || text[first] == '#' || text[first] == '=')
        continue;
      const size_t last = text.find_last_not_of(" \t\r", end - 1);
      line = {number, text.substr(first, last + 1 - first)};
      return true;
    }
    return false;
  }

private:
  const std::string &text;
  size_t begin = 0;
  int number = 0;
};

/// The words of a text, whatever lines they stand on.
class Words {
public:
  explicit Words(const std::string &text) : lines(text) {}

  bool next(std::string &word) {
    const size_t first = line.text.find_first_not_of(" \t", at);
    if (first == std::string::npos) {
      at = 0;
      return lines.next(line) && next(word);
    }
    at = std::min(line.text.find_first_of(" \t", first), line.text.size());
    word = line.text.substr(first, at - first);
    return true;
  }
  std::string word(const std::string &what) {
    std::string word;
    if (!next(word))
      fail(number(), "expected " + what + ", found the end of the file");
    return word;
  }
  int64_t count(const std::string &what, int64_t least, int64_t most) {
    const std::string text = word(what);
    const auto value = parseCount(text, most);
    if (!value || *value < least)
      fail(number(), "expected " + what + ", " + std::to_string(least) +
                         " to " + std::to_string(most) + ", found " +
                         quoted(text));
    return *value;
  }
  /// The line of the last word.
  int number() const { return std::max(line.number, 1); }

private:
  Lines lines;
  Line line;
  size_t at = 0;
};

bool isNumber(const std::string &text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

//===----------------------------------------------------------------------===//
// Text form
//===----------------------------------------------------------------------===//

bool ffc::plan::isFlexFlowText(const std::string &text) {
  Line line;
  return Lines(text).next(line) && isNumber(line.text);
}

std::vector<FlexFlowConfig>
ffc::plan::readFlexFlowText(const std::string &text) {
  Words words(text);
  const int64_t numOps =
      words.count("the number of operators", 0, kMaxFlexFlowOps);
  std::vector<FlexFlowConfig> configs;
  for (int64_t i = 0; i < numOps; ++i) {
    FlexFlowConfig config;
    config.name = words.word("the name of operator " + std::to_string(i + 1) +
                             " of " + std::to_string(numOps));
    config.at = words.number();
    const std::string of = " of " + quoted(config.name);
    config.onCpu = words.count("the device type" + of, 0, 1) == 1;
    const int64_t numDims =
        words.count("the number of dimensions" + of, 0, kMaxFlexFlowDegree);
    for (int64_t d = 0; d < numDims; ++d)
      config.dims.push_back(
          words.count("a degree" + of, 1, kMaxFlexFlowDegree));
    const int64_t numDevices =
        words.count("the number of devices" + of, 0, kMaxFlexFlowDegree);
    for (int64_t d = 0; d < numDevices; ++d)
      config.devices.push_back(
          static_cast<DeviceId>(words.count("a device" + of, 0, kMaxDevice)));
    configs.push_back(std::move(config));
  }
  std::string rest;
  if (words.next(rest))
    fail(words.number(), "expected the end of the file after " +
                             std::to_string(numOps) + " operators, found " +
                             quoted(rest));
  return configs;
}

static std::string printText(const std::vector<FlexFlowConfig> &configs) {
  auto list = [](const auto &items) {
    std::string text;
    for (auto item : items)
      text += (text.empty() ? "" : "\t") + std::to_string(item);
    return std::to_string(items.size()) + "\n" + text + "\n";
  };
  std::string text = std::to_string(configs.size()) + "\n";
  for (const FlexFlowConfig &config : configs)
    text += config.name + "\n0\n" + list(config.dims) + list(config.devices);
  return text;
}

//===----------------------------------------------------------------------===//
// Printed form
//===----------------------------------------------------------------------===//

namespace {

/// Reads one line of the printed form from left to right.
class PrintedLine {
public:
  explicit PrintedLine(const Line &line) : line(line) {}

  FlexFlowConfig read() {
    FlexFlowConfig config;
    config.at = line.number;
    expect("[");
    config.name = upTo("]");
    expect("num_dims(");
    const std::string numDims = upTo(")");
    expect("dims[");
    for (const std::string &degree : list())
      config.dims.push_back(number(degree, "a degree", 1, kMaxFlexFlowDegree));
    if (numDims != std::to_string(config.dims.size()))
      fail(line.number, "num_dims(" + quoted(numDims) + "): expected " +
                            std::to_string(config.dims.size()) +
                            ", the number of dims");
    expect("device_ids[");
    for (const std::string &device : list())
      config.devices.push_back(
          static_cast<DeviceId>(number(device, "a device", 0, kMaxDevice)));
    skipSpace();
    if (at < line.text.size())
      fail(line.number, "expected the end of the line, found " +
                            quoted(line.text.substr(at)));
    return config;
  }

private:
  void skipSpace() {
    at = std::min(line.text.find_first_not_of(" \t", at), line.text.size());
  }
  void expect(const std::string &word) {
    skipSpace();
    if (line.text.compare(at, word.size(), word) != 0)
      fail(line.number, "expected '" + word +
                            "' as in '[Dense_100] num_dims(2) dims[1,4] "
                            "device_ids[0,1,2,3]', found " +
                            quoted(line.text.substr(at)));
    at += word.size();
  }
  std::string upTo(const std::string &close) {
    const size_t end = line.text.find(close, at);
    if (end == std::string::npos)
      fail(line.number, "expected '" + close + "' after " +
                            quoted(line.text.substr(at)) +
                            ", found the end of the line");
    const std::string result = line.text.substr(at, end - at);
    at = end + close.size();
    return result;
  }
  /// "1,4]".
  std::vector<std::string> list() {
    const std::string text = upTo("]");
    std::vector<std::string> items;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      std::string item = text.substr(begin, end - begin);
      item.erase(std::remove(item.begin(), item.end(), ' '), item.end());
      items.push_back(std::move(item));
      begin = end + 1;
    }
    return items;
  }
  int64_t number(const std::string &text, const char *what, int64_t least,
                 int64_t most) const {
    const auto value = parseCount(text, most);
    if (!value || *value < least)
      fail(line.number, std::string("expected ") + what + ", " +
                            std::to_string(least) + " to " +
                            std::to_string(most) + ", found " + quoted(text));
    return *value;
  }

  const Line &line;
  size_t at = 0;
};

} // namespace

bool ffc::plan::isFlexFlowPrinted(const std::string &text) {
  Line line;
  return Lines(text).next(line) && line.text[0] == '[';
}

std::vector<FlexFlowConfig>
ffc::plan::readFlexFlowPrinted(const std::string &text) {
  std::vector<FlexFlowConfig> configs;
  Lines lines(text);
  for (Line line; lines.next(line);)
    configs.push_back(PrintedLine(line).read());
  return configs;
}

static std::string printPrinted(const std::vector<FlexFlowConfig> &configs) {
  auto list = [](const auto &items) {
    std::string text;
    for (auto item : items)
      text += (text.empty() ? "[" : ",") + std::to_string(item);
    return text + "]";
  };
  std::string text;
  for (const FlexFlowConfig &config : configs)
    text += "[" + config.name + "] num_dims(" +
            std::to_string(config.dims.size()) + ") dims" + list(config.dims) +
            " device_ids" + list(config.devices) + "\n";
  return text;
}

std::string ffc::plan::printFlexFlowStrategy(const Graph &graph,
                                             const Strategy &strategy,
                                             FlexFlowForm form,
                                             std::vector<OpId> &leftOut) {
  const std::vector<FlexFlowConfig> configs =
      toFlexFlow(graph, strategy, leftOut);
  return form == FlexFlowForm::Text ? printText(configs)
                                    : printPrinted(configs);
}
