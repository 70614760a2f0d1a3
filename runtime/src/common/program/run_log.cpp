//===- run_log.cpp - what a run says to other programs --------------------===//
#include "common/program/run_log.h"

#include "common/data/file.h"
#include "common/program/validation.h"
#include "ffrt/error.h"
#include "ffrt/program.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>

namespace ffrt {

using Json = nlohmann::ordered_json;

RunLog::RunLog(const std::string &path) : path(path) {
  expect_writable(path);
  file = std::fopen(path.c_str(), "ae");
  if (!file)
    throw Error("cannot write '" + path + "': " + std::strerror(errno));
}

RunLog::~RunLog() { std::fclose(file); }

void RunLog::write(const std::string &line) {
  if (std::fputs((line + "\n").c_str(), file) < 0 || std::fflush(file) != 0)
    throw Error("cannot write '" + path + "': " + std::strerror(errno));
}

void RunLog::begin(const ProgramInfo &info, int64_t first, int64_t steps,
                   uint64_t seed) {
  const Json run = {{"model", info.model},
                    {"model_hash", info.model_hash},
                    {"strategy_hash", info.strategy_hash},
                    {"topology_hash", info.topology_hash},
                    {"trained", info.trained},
                    {"ranks", info.ranks},
                    {"batch", info.batch},
                    {"micro_batches", info.micro_batches},
                    {"predicted_seconds", info.predicted_step_seconds},
                    {"seed", seed},
                    {"first_step", first + 1},
                    {"steps", steps}};
  write(
      Json{{"run", run}}.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void RunLog::step(const Step &s) {
  Json line = {{"step", s.step}, {"epoch", s.epoch}};
  if (s.training) { // a loss that is not finite is null
    line["loss"] = s.training->loss;
    line["learning_rate"] = s.training->learning_rate;
  }
  line["seconds"] = s.seconds;
  line["samples_per_second"] = s.samples_per_second;
  if (s.tokens_per_second > 0)
    line["tokens_per_second"] = s.tokens_per_second;
  if (s.flops_per_second > 0)
    line["flops_per_second"] = s.flops_per_second;
  if (s.share_of_peak > 0)
    line["share_of_peak"] = s.share_of_peak;
  line["waiting_for_data"] = s.waiting_for_data;
  write(line.dump());
}

void RunLog::validation(const Validated &v) {
  Json line = {{"step", v.step},
               {"epoch", v.epoch},
               {"samples", v.samples},
               {"seconds", v.seconds},
               {"best", v.is_best}};
  for (const auto &[metric, value] : v.metrics)
    line[metric] = value;
  write(Json{{"validation", line}}.dump());
}

void RunLog::end(int64_t steps, double seconds) {
  write(Json{{"end", {{"steps", steps}, {"seconds", seconds}}}}.dump());
}

} // namespace ffrt
