//===- FlexFlowMachine.cpp - the text of a machine model ------------------===//

#include "FlexFlowMachine.h"

#include "Text/Text.h"
#include "TopologyReaders.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

using namespace ffc::plan;

/// FlexFlow multiplies its figures by 1024 * 1024 to get bytes per millisecond.
static constexpr double kGigabytePerSecond = 1024.0 * 1024 * 1000;
static constexpr double kMillisecond = 1e9; // in picoseconds

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

static const std::vector<std::string> &components() {
  static const std::vector<std::string> names = {"membus", "upi", "nic", "pci",
                                                 "nvlink"};
  return names;
}

static std::vector<std::string> pathKeys() {
  std::vector<std::string> keys;
  for (const char *distance : {"intra_socket", "inter_socket", "inter_node"})
    for (const char *from : {"sys_mem", "gpu_fb_mem"})
      for (const char *to : {"sys_mem", "gpu_fb_mem"})
        keys.push_back(std::string(distance) + "_" + from + "_to_" + to);
  return keys;
}

static const std::vector<std::string> &allKeys() {
  static const std::vector<std::string> keys = [] {
    // gpu_kind is ours; FlexFlow passes over keys it does not know.
    std::vector<std::string> keys = {"num_nodes",
                                     "num_sockets_per_node",
                                     "num_cpus_per_socket",
                                     "num_gpus_per_socket",
                                     "nic_distribution",
                                     "nic_persocket",
                                     "gpu_kind"};
    for (const std::string &component : components()) {
      keys.push_back(component + "_latency");
      keys.push_back(component + "_bandwidth");
    }
    for (const std::string &key : pathKeys())
      keys.push_back(key);
    return keys;
  }();
  return keys;
}

static std::vector<std::string> wordsOf(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

bool ffc::plan::isFlexFlowMachine(const std::string &text) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> words =
        wordsOf(line.substr(0, line.find('#')));
    if (words.empty())
      continue;
    // No line of YAML that a topology may begin with has '=' after one word.
    const size_t equals = line.find('=');
    return equals != std::string::npos &&
           wordsOf(line.substr(0, equals)).size() == 1 &&
           line.find_first_of(":\"'{[") > equals;
  }
  return false;
}

FlexFlowMachine::FlexFlowMachine(const std::string &text) {
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (wordsOf(line).empty())
      continue;
    const size_t equals = line.find('=');
    const std::vector<std::string> left = wordsOf(line.substr(0, equals));
    if (equals == std::string::npos || left.size() != 1)
      fail(number, "expected KEY = VALUE, found " + quoted(line));
    const std::string &key = left[0];
    if (std::find(allKeys().begin(), allKeys().end(), key) == allKeys().end())
      fail(number, "expected a key of FlexFlow's machine models, found " +
                       quoted(key) + suggestion(key, allKeys()));
    Entry entry{wordsOf(line.substr(equals + 1)), number};
    if (entry.words.empty())
      fail(number,
           "expected a value after " + quoted(key + " =") + ", found nothing");
    auto [other, inserted] = entries.emplace(key, std::move(entry));
    if (!inserted)
      fail(number, "key " + quoted(key) + " is given twice, first on line " +
                       std::to_string(other->second.line));
  }
  lastLine = std::max(number, 1);
  // Whatever is given has to be right, used or not.
  for (const std::string &component : components())
    if (has(component + "_latency") || has(component + "_bandwidth"))
      figures(component);
  for (const std::string &key : pathKeys())
    checkPath(key);
}

const FlexFlowMachine::Entry &
FlexFlowMachine::entry(const std::string &key) const {
  auto found = entries.find(key);
  if (found == entries.end())
    fail(lastLine, "the machine model lacks the key '" + key + "'");
  return found->second;
}

const std::string &FlexFlowMachine::value(const std::string &key) const {
  const Entry &given = entry(key);
  if (given.words.size() != 1)
    fail(given.line, key + ": expected one value, found " +
                         std::to_string(given.words.size()));
  return given.words[0];
}

int FlexFlowMachine::number(const std::string &key, int least, int most) const {
  const std::string &text = value(key);
  const auto number = parseCount(text, most);
  if (!number || *number < least)
    fail(entries.at(key).line,
         key + ": expected a whole number from " + std::to_string(least) +
             " to " + std::to_string(most) + ", found " + quoted(text));
  return static_cast<int>(*number);
}

/// A number from 0 to `most`.
double FlexFlowMachine::decimal(const std::string &key, double most) const {
  const std::string &text = value(key);
  double number = 0;
  const char *end = text.data() + text.size();
  auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || rest != end || !(number >= 0 && number <= most))
    fail(entries.at(key).line,
         key + ": expected a number from 0 to " +
             std::to_string(static_cast<long long>(most)) + ", found " +
             quoted(text));
  return number;
}

LinkFigures FlexFlowMachine::figures(const std::string &component) const {
  constexpr double kMaxMilliseconds = 1000, kMaxGigabytes = 1e6;
  const std::string key = component + "_bandwidth";
  LinkFigures figures;
  figures.latency = std::llround(
      decimal(component + "_latency", kMaxMilliseconds) * kMillisecond);
  figures.bandwidth = decimal(key, kMaxGigabytes) * kGigabytePerSecond;
  if (figures.bandwidth < 1)
    fail(entries.at(key).line,
         key + ": expected more than zero, found " + quoted(value(key)));
  return figures;
}

/// The paths of host memory as well, though no device is there.
void FlexFlowMachine::checkPath(const std::string &key) const {
  static const std::vector<std::string> steps = {
      "membus", "upi", "nic", "pci_to_host", "pci_to_dev", "nvlink"};
  auto found = entries.find(key);
  if (found == entries.end())
    return;
  const Entry &path = found->second;
  if (path.words.size() == 1 && path.words[0] == "null")
    return;
  for (const std::string &word : path.words)
    if (std::find(steps.begin(), steps.end(), word) == steps.end())
      fail(path.line, key + ": expected null or some of " + joined(steps) +
                          ", found " + quoted(word));
}
