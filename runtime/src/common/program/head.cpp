//===- head.cpp - what a run says before its first step -------------------===//
#include "common/program/head.h"

#include "common/program/say.h"

#include <algorithm>
#include <cinttypes>

namespace ffrt {

namespace {

std::string batch_text(const ProgramInfo &info) {
  std::string text = format("%" PRId64, info.batch * info.micro_batches);
  if (info.micro_batches > 1)
    text += format(" (%d micro-batches of %" PRId64 ")", info.micro_batches,
                   info.batch);
  if (const double flops = flops_of_step(info); flops > 0)
    text += ", " + with_prefix(flops) + "FLOP a step";
  return text;
}

std::string prediction(const ProgramInfo &info) {
  std::string text =
      format("%.4g ms a step", info.predicted_step_seconds * 1e3);
  const double rate = flops_of_step(info) / info.predicted_step_seconds;
  if (rate > 0)
    text += ", " + with_prefix(rate) + "FLOP/s";
  if (rate > 0 && info.peak_flops > 0)
    text += format(" (%.0f %% of the peak, ", 100 * rate / info.peak_flops) +
            with_prefix(info.peak_flops) + "FLOP/s)";
  return text;
}

std::string memory_text(const ProgramInfo &info) {
  int64_t least = INT64_MAX, most = 0;
  for (const RankInfo &rank : info.rank_info) {
    const int64_t bytes = rank.state_bytes + rank.arena_bytes;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  std::string text = with_prefix(double(most)) + "B";
  if (least != most)
    text = with_prefix(double(least)) + "B to " + text;
  return text + " planned for a rank";
}

} // namespace

double flops_of_step(const ProgramInfo &info) {
  double flops = 0;
  for (const RankInfo &rank : info.rank_info)
    flops += rank.flops;
  return flops;
}

std::string head_text(const ProgramInfo &info,
                      const std::vector<RankPlace> &places) {
  std::string text;
  const auto line = [&](const char *name, const std::string &what) {
    text += (text.empty() ? "" : "\n") + format("%-10s  ", name) + what;
  };
  line("model", std::string(info.model) +
                    (info.training ? ", training" : ", evaluation"));
  if (*info.trained)
    line("parameters", info.trained);
  if (*info.strategy)
    line("strategy", info.strategy);
  line("batch", batch_text(info));
  if (info.predicted_step_seconds > 0)
    line("predicted", prediction(info));
  line("ranks", describe_hosts(places));
  line("memory", memory_text(info));
  return text;
}

} // namespace ffrt
