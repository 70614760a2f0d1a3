//===- live_line.cpp - a line that says where a run stands ----------------===//
#include "common/program/live_line.h"

#include "common/program/say.h"

#include <algorithm>
#include <cinttypes>
#include <fstream>
#include <unistd.h>

namespace ffrt {

namespace {

constexpr double kKept = 0.99; ///< of the losses before, with every step

struct Item {
  int rank; ///< the highest goes first
  std::string text;
};

std::size_t width_of(const std::vector<Item> &items) {
  std::size_t width = 0;
  for (const Item &item : items)
    width += item.text.size() + 2;
  return width > 0 ? width - 2 : 0;
}

/// "650 samples/s", "1.2 k samples/s".
std::string counted(double value, const char *what) {
  std::string text = with_prefix(value);
  return (text.back() == ' ' ? text : text + " ") + what;
}

} // namespace

std::string live_text(const LiveStatus &s, int width) {
  std::vector<Item> items;
  if (s.epoch > 0)
    items.push_back({5, format("epoch %.2f", s.epoch)});
  items.push_back({0, format("step %" PRId64 "/%" PRId64, s.step, s.steps)});
  if (s.loss)
    items.push_back({2, format("loss %.4g", *s.loss)});
  for (const auto &[name, value] : s.metrics)
    items.push_back({3, format("%s %.4g", name.c_str(), value)});
  if (s.tokens > 0)
    items.push_back({4, counted(s.tokens, "tokens/s")});
  else if (s.samples > 0)
    items.push_back({4, counted(s.samples, "samples/s")});
  if (s.flops > 0) {
    std::string text = with_prefix(s.flops) + "FLOP/s";
    if (s.peak_flops > 0)
      text += format(" (%.0f %% of peak)", 100 * s.flops / s.peak_flops);
    items.push_back({6, text});
  }
  if (s.rate)
    items.push_back({7, format("lr %.3g", *s.rate)});
  if (s.resident_bytes > 0)
    items.push_back({8, "RSS " + with_prefix(double(s.resident_bytes)) + "B"});
  items.push_back({1, "left " + clock_text(s.seconds_left)});
  const auto most = static_cast<std::size_t>(std::max(width, 1));
  while (items.size() > 1 && width_of(items) > most)
    items.erase(std::max_element(
        items.begin(), items.end(),
        [](const Item &a, const Item &b) { return a.rank < b.rank; }));
  std::string text;
  for (const Item &item : items)
    text += (text.empty() ? "" : "  ") + item.text;
  return text.substr(0, most);
}

void Smoothed::follow(const std::vector<double> &all) {
  for (; followed < all.size(); ++followed) {
    sum = kKept * sum + all[followed];
    weight = kKept * weight + 1;
  }
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t whole = 0, resident = 0;
  return file >> whole >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

} // namespace ffrt
