//===- rate_schedule.cpp - the learning rate over the steps ---------------===//
#include "common/optimizer/rate_schedule.h"

#include "ffrt/error.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ffrt {

namespace {

/// What stands between the colons of a form.
enum class Numbers { none, maybe_steps, factor, steps_and_factor };

struct Word {
  RateForm::Kind kind;
  const char *name, *shown;
  Numbers numbers;
};
constexpr Word kWords[] = {
    {RateForm::constant, "constant", "constant", Numbers::none},
    {RateForm::linear, "linear", "linear", Numbers::none},
    {RateForm::cosine, "cosine", "cosine, cosine:N", Numbers::maybe_steps},
    {RateForm::polynomial, "polynomial", "polynomial:P", Numbers::factor},
    {RateForm::stepwise, "step", "step:N:F", Numbers::steps_and_factor},
    {RateForm::multi_step, "multi-step", "multi-step:N,N,...:F",
     Numbers::steps_and_factor},
    {RateForm::exponential, "exponential", "exponential:F", Numbers::factor},
    {RateForm::one_cycle, "one-cycle", "one-cycle", Numbers::none},
    {RateForm::stable_decay, "wsd", "wsd:F", Numbers::factor},
};

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts = {""};
  for (char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Numbers of steps that ascend; false: they are none.
bool read_steps(const std::string &text, std::vector<int64_t> &steps) {
  for (const std::string &word : split(text, ',')) {
    char *end = nullptr;
    errno = 0;
    const long long n = std::strtoll(word.c_str(), &end, 10);
    if (word.empty() || *end || errno ||
        n <= (steps.empty() ? 0 : steps.back()))
      return false;
    steps.push_back(n);
  }
  return true;
}

bool read_factor(const std::string &text, double &factor) {
  char *end = nullptr;
  factor = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(factor) && factor > 0;
}

bool read_numbers(const Word &word, const std::vector<std::string> &parts,
                  RateForm &form) {
  switch (word.numbers) {
  case Numbers::none:
    return parts.size() == 1;
  case Numbers::maybe_steps:
    return parts.size() == 1 ||
           (parts.size() == 2 && read_steps(parts[1], form.steps) &&
            form.steps.size() == 1);
  case Numbers::factor:
    return parts.size() == 2 && read_factor(parts[1], form.factor) &&
           (form.factor <= 1 || form.kind != RateForm::stable_decay);
  case Numbers::steps_and_factor:
    return parts.size() == 3 && read_steps(parts[1], form.steps) &&
           (form.steps.size() == 1 || form.kind == RateForm::multi_step) &&
           read_factor(parts[2], form.factor);
  }
  return false;
}

/// From 1 at 0 to 0 at 1, as a half wave.
double half_wave(double share) {
  return 0.5 * (1.0 + std::cos(M_PI * std::min(share, 1.0)));
}

} // namespace

RateForm parse_rate_form(const std::string &text) {
  const std::vector<std::string> parts = split(text, ':');
  std::string shown;
  for (const Word &word : kWords) {
    RateForm form;
    form.kind = word.kind;
    if (parts[0] == word.name && read_numbers(word, parts, form))
      return form;
    shown += (shown.empty() ? "" : ", ") + std::string(word.shown);
  }
  throw Error("expected one of " + shown + ", found '" + text + "'");
}

std::string to_string(const RateForm &form) {
  std::string text;
  for (const Word &word : kWords)
    if (word.kind == form.kind)
      text = word.name;
  for (std::size_t i = 0; i < form.steps.size(); ++i)
    text += (i == 0 ? ":" : ",") + std::to_string(form.steps[i]);
  if (form.factor > 0) {
    char number[32];
    std::snprintf(number, sizeof number, ":%.17g", form.factor);
    text += number;
  }
  return text;
}

/// Step n of `all`.
double RateSchedule::one_cycle(double n, double all) const {
  constexpr double kShare = 0.3, kFirst = 25;
  const double top = kShare * all - 1, first = rate / kFirst;
  if (n <= top)
    return rate + (first - rate) * half_wave(top > 0 ? n / top : 1);
  return last + (rate - last) * half_wave((n - top) / (all - 1 - top));
}

double RateSchedule::at(int64_t step) const {
  if (step < warmup)
    return rate * double(step) / double(warmup);
  const double n = double(step - warmup),
               all = double(std::max<int64_t>(steps - warmup, 1)),
               left = 1.0 - std::min(1.0, n / all);
  const auto between = [this](double share) {
    return last + (rate - last) * share;
  };
  switch (form.kind) {
  case RateForm::constant:
    return rate;
  case RateForm::linear:
    return between(left);
  case RateForm::cosine:
    return between(half_wave(form.steps.empty()
                                 ? 1.0 - left
                                 : std::fmod(n, double(form.steps[0])) /
                                       double(form.steps[0])));
  case RateForm::polynomial:
    return between(std::pow(left, form.factor));
  case RateForm::stepwise:
    return rate * std::pow(form.factor, std::floor(n / double(form.steps[0])));
  case RateForm::multi_step:
    return rate *
           std::pow(form.factor,
                    double(std::upper_bound(form.steps.begin(),
                                            form.steps.end(), int64_t(n)) -
                           form.steps.begin()));
  case RateForm::exponential:
    return rate * std::pow(form.factor, n);
  case RateForm::one_cycle:
    return one_cycle(n, all);
  case RateForm::stable_decay:
    return between(std::min(1.0, left / form.factor));
  }
  return rate;
}

} // namespace ffrt
