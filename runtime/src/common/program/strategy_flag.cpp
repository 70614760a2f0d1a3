//===- strategy_flag.cpp - is a strategy the one compiled in? -------------===//
#include "common/program/strategy_flag.h"

#include "ffrt/error.h"
#include "ffrt/hash.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

namespace ffrt {

namespace {

constexpr const char *kHeader = "ffc strategy";
constexpr int64_t kMostDevices = 1 << 20; ///< of a line

/// What a line says of an operator.
struct Line {
  std::string name;
  std::vector<std::string> degrees; ///< without those of 1
  std::vector<int64_t> devices;
  std::vector<std::string> rest; ///< words behind the devices
  std::string text;              ///< behind the name, as it stands

  bool operator==(const Line &o) const {
    return degrees == o.degrees && devices == o.devices && rest == o.rest;
  }
};

/// A number from the front of `text`, which is moved behind it; -1: none.
int64_t take_number(const char *&text) {
  if (*text < '0' || *text > '9')
    return -1;
  char *end = nullptr;
  const int64_t number = std::strtoll(text, &end, 10);
  text = end;
  return number;
}

/// "3", "0-3", "3-0", and any of them with "*K"; false if `word` is none.
bool read_devices(const std::string &word, std::vector<int64_t> &devices) {
  const char *at = word.c_str();
  const int64_t first = take_number(at);
  int64_t last = first, times = 1;
  if (first >= 0 && *at == '-')
    last = take_number(++at);
  if (last >= 0 && *at == '*')
    times = take_number(++at);
  if (first < 0 || last < 0 || times < 0 || *at ||
      std::max(std::abs(last - first), times) > kMostDevices)
    return false;
  for (; times > 0 && int64_t(devices.size()) < kMostDevices; --times)
    for (int64_t device = first;; device += first <= last ? 1 : -1) {
      devices.push_back(device);
      if (device == last)
        break;
    }
  return true;
}

/// The name in front of a line, which is moved behind it and its colon; quotes
/// stay, since files quote the same names in the same way.
std::string take_name(std::string &line) {
  std::size_t end = 0;
  if (line[0] == '"')
    for (++end; end < line.size() && line[end] != '"'; ++end)
      end += line[end] == '\\';
  end = std::min(line.find_first_of(": \t", end), line.size());
  std::string name = line.substr(0, end);
  const std::size_t colon = line.find_first_not_of(" \t", end);
  line.erase(0, colon != std::string::npos && line[colon] == ':' ? colon + 1
                                                                 : end);
  if (name.size() > 1 && name.front() == '"' && name.back() == '"' &&
      name.find_first_of(" :#\\", 1) == std::string::npos)
    name = name.substr(1, name.size() - 2); // quotes that nothing asks for
  return name;
}

/// From '#' on, outside of quotes, is a comment.
std::string without_comment(const std::string &line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && quoted)
      ++i;
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == '#' && !quoted)
      return line.substr(0, i);
  }
  return line;
}

/// False if the line is empty.
bool read_line(std::string line, Line &result) {
  line = without_comment(line);
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos)
    return false;
  line.erase(0, first);
  result.name = take_name(line);
  std::istringstream words(line);
  bool behind = false;
  for (std::string word; words >> word;) {
    result.text += (result.text.empty() ? "" : " ") + word;
    if (!behind && word == "on")
      behind = true;
    else if (!behind) {
      if (word.size() < 3 || word.compare(word.size() - 2, 2, "=1") != 0)
        result.degrees.push_back(word);
    } else if (!result.rest.empty() || !read_devices(word, result.devices))
      result.rest.push_back(word);
  }
  return true;
}

/// What ffc takes to make a program of the file.
std::string advice(const std::string &path) {
  return "; ffc MODEL --strategy " + path +
         " compiles a program with it (--print-strategy: what a program has)";
}

void compare(const std::string &flag, const std::string &path,
             std::istream &file, const ProgramInfo &info) {
  std::map<std::string, Line> compiled;
  for (const char *text : info.strategy_lines) {
    Line line;
    if (read_line(text, line))
      compiled[line.name] = line;
  }
  int number = 1;
  std::string text;
  std::getline(file, text); // the head
  while (std::getline(file, text)) {
    ++number;
    Line line;
    if (!read_line(text, line))
      continue;
    const std::string where = flag + ": " + path + ":" +
                              std::to_string(number) + ": '" + line.name +
                              "': expected ";
    const auto known = compiled.find(line.name);
    if (known == compiled.end())
      throw Error(where +
                  "an operator of the strategy compiled in, found none "
                  "of that name" +
                  advice(path));
    if (!(known->second == line))
      throw Error(where + "'" + known->second.text +
                  "', which is compiled in, found '" + line.text + "'" +
                  advice(path));
  }
}

} // namespace

void expect_strategy(const std::string &flag, const std::string &path,
                     const ProgramInfo &info) {
  std::ifstream file(path, std::ios::binary);
  std::string contents{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    throw Error(flag + ": cannot read '" + path + "'");
  const std::vector<uint64_t> &same = info.strategy_files;
  if (std::find(same.begin(), same.end(), hash_name(contents)) != same.end())
    return;
  if (contents.rfind(kHeader, 0) != 0)
    throw Error(flag + ": " + path +
                ": expected the file that ffc has read or "
                "written, since the program reads ffc's own format only, "
                "found another" +
                advice(path));
  std::istringstream lines(contents);
  compare(flag, path, lines, info);
}

} // namespace ffrt
