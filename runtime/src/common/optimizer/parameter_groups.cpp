//===- parameter_groups.cpp - rates by the names of parameters ------------===//
#include "common/optimizer/parameter_groups.h"

#include "ffrt/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ffrt {

namespace {

/// The least number of letters to be changed, added or left out in `name` so
/// that it matches (Levenshtein, with free letters for `*`).
std::size_t distance(const std::string &pattern, const std::string &name) {
  // of[j]: between what was read of the pattern and the first j letters.
  std::vector<std::size_t> of(name.size() + 1);
  for (std::size_t j = 0; j < of.size(); ++j)
    of[j] = j;
  for (const char letter : pattern) {
    const bool is_any = letter == '*';
    std::size_t before = of[0];
    of[0] += is_any ? 0 : 1;
    for (std::size_t j = 1; j < of.size(); ++j) {
      const std::size_t changed =
          before + (letter == '?' || letter == name[j - 1] ? 0 : 1);
      before = of[j];
      of[j] = is_any ? std::min(of[j], of[j - 1])
                     : std::min({changed, of[j] + 1, of[j - 1] + 1});
    }
  }
  return of.back();
}

bool matches(const ParameterGroup &group, const std::string &name) {
  return std::any_of(
      group.patterns.begin(), group.patterns.end(),
      [&](const std::string &pattern) { return distance(pattern, name) == 0; });
}

/// Without the spaces around it.
std::string trimmed(const std::string &text) {
  const std::size_t begin = text.find_first_not_of(' '),
                    end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

double read_number(const std::string &setting, const std::string &text) {
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(number) || number < 0)
    throw Error("expected a non-negative number, found '" + setting + "'");
  return number;
}

void read_setting(const std::string &text, ParameterGroup &group) {
  const std::size_t equals = text.find('=');
  const std::string key = trimmed(text.substr(0, equals));
  std::string value =
      equals == std::string::npos ? "" : trimmed(text.substr(equals + 1));
  const bool is_factor = key == "lr" && !value.empty() && value.back() == 'x';
  if (is_factor)
    value.pop_back();
  std::optional<double> &number = key == "wd" ? group.weight_decay
                                  : is_factor ? group.factor
                                              : group.rate;
  if (equals == std::string::npos || (key != "lr" && key != "wd"))
    throw Error("expected lr=RATE, lr=FACTORx or wd=DECAY, found '" + text +
                "'");
  if (key == "wd" ? group.weight_decay.has_value()
                  : group.rate.has_value() || group.factor.has_value())
    throw Error("expected one " + key + ", found '" + text + "' as well");
  number = read_number(text, value);
}

/// The shortest text that is read as the same number.
std::string shown(double number) {
  char text[32] = "";
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number)
      break;
  }
  return text;
}

} // namespace

ParameterGroup parse_group(const std::string &text) {
  // Names may have colons, settings have none.
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    throw Error("expected PATTERN|PATTERN...: SETTING, SETTING..., found '" +
                text + "'");
  ParameterGroup group;
  group.patterns = split(text.substr(0, colon), '|');
  for (const std::string &pattern : group.patterns)
    if (pattern.empty())
      throw Error("expected a pattern before and after every '|', found '" +
                  text + "'");
  for (const std::string &setting : split(text.substr(colon + 1), ','))
    read_setting(setting, group);
  return group;
}

std::string to_string(const ParameterGroup &group) {
  std::string text;
  for (const std::string &pattern : group.patterns)
    text += (text.empty() ? "" : "|") + pattern;
  const char *before = ": ";
  const auto add = [&](const char *key, const std::optional<double> &number,
                       const char *unit) {
    if (number)
      text += before + (key + shown(*number)) + unit;
    if (number)
      before = ", ";
  };
  add("lr=", group.rate, "");
  add("lr=", group.factor, "x");
  add("wd=", group.weight_decay, "");
  return text;
}

void expect_matches(const std::vector<ParameterGroup> &groups,
                    const std::vector<const char *> &parameters) {
  constexpr std::size_t kNear = 3;
  for (const ParameterGroup &group : groups)
    for (const std::string &pattern : group.patterns) {
      std::vector<std::pair<std::size_t, std::string>> near;
      for (const char *name : parameters)
        near.emplace_back(distance(pattern, name), name);
      std::stable_sort(
          near.begin(), near.end(),
          [](const auto &a, const auto &b) { return a.first < b.first; });
      if (!near.empty() && near.front().first == 0)
        continue;
      std::string text = "expected the name of a parameter that is trained, or "
                         "a pattern of some with * and ?, found '" +
                         pattern + "'";
      for (std::size_t i = 0; i < std::min(kNear, near.size()); ++i)
        text += (i == 0 ? "; near it are '" : ", '") + near[i].second + "'";
      throw Error(text);
    }
}

UpdateRates rates_of(const std::string &parameter,
                     const std::vector<ParameterGroup> &groups,
                     double learning_rate, double weight_decay) {
  UpdateRates rates{1, weight_decay};
  for (const ParameterGroup &group : groups) {
    if (!matches(group, parameter))
      continue;
    if (group.rate && learning_rate == 0)
      throw Error("--group: expected a factor of the rate, as lr=1x, with --lr "
                  "0, found '" +
                  to_string(group) + "'");
    if (group.rate)
      rates.share = *group.rate / learning_rate;
    if (group.factor)
      rates.share = *group.factor;
    if (group.weight_decay)
      rates.weight_decay = *group.weight_decay;
  }
  return rates;
}

std::string describe_rates(const std::vector<const char *> &parameters,
                           const std::vector<ParameterGroup> &groups,
                           double learning_rate, double weight_decay) {
  std::string text = "learning rate  weight decay  parameter\n";
  for (const char *name : parameters) {
    const UpdateRates own = rates_of(name, groups, learning_rate, weight_decay);
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%13g  %12g  ",
                  learning_rate * own.share, own.weight_decay);
    text += numbers + std::string(name) + "\n";
  }
  return text;
}

} // namespace ffrt
