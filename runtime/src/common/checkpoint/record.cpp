//===- record.cpp - where a run stands ------------------------------------===//
#include "common/checkpoint/record.h"

#include "common/data/file.h"
#include "ffrt/error.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

namespace ffrt {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kFormat = "ffc checkpoint";
constexpr int kVersion = 2;

/// JSON has no integers of 64 bits that all readers keep.
std::string hexadecimal(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", (unsigned long long)number);
  return text;
}

uint64_t read_hexadecimal(const Json &json) {
  const std::string text = json.get<std::string>();
  char *end = nullptr;
  const uint64_t number = std::strtoull(text.c_str(), &end, 16);
  if (text.size() != 16 || *end)
    throw Error("expected a check sum of 16 digits, found '" + text + "'");
  return number;
}

Json groups_json(const std::vector<ParameterGroup> &groups) {
  Json list = Json::array();
  for (const ParameterGroup &group : groups)
    list.push_back(to_string(group));
  return list;
}

Json values_json(const std::vector<Record::Value> &values) {
  Json list = Json::array();
  for (const Record::Value &v : values)
    list.push_back({{"name", v.name},
                    {"parameter", v.parameter},
                    {"file", v.file},
                    {"type", v.type},
                    {"shape", v.shape},
                    {"sum", hexadecimal(v.sum)}});
  return list;
}

Record::Value read_value(const Json &json) {
  Record::Value v;
  json.at("name").get_to(v.name);
  json.at("parameter").get_to(v.parameter);
  json.at("file").get_to(v.file);
  json.at("type").get_to(v.type);
  json.at("shape").get_to(v.shape);
  v.sum = read_hexadecimal(json.at("sum"));
  // A file of the checkpoint, not any file.
  if (v.file.empty() || v.file.find('/') != std::string::npos)
    throw Error("expected the name of a file beside it, found '" + v.file +
                "'");
  return v;
}

Record from_json(const Json &json) {
  if (json.at("format") != kFormat)
    throw Error("expected \"format\": \"" + std::string(kFormat) +
                "\", found " + json.at("format").dump());
  if (json.at("version") != kVersion)
    throw Error("expected version " + std::to_string(kVersion) + ", found " +
                json.at("version").dump() + "; another ffc has written it");
  Record r;
  json.at("step").get_to(r.step);
  json.at("samples").get_to(r.samples);
  json.at("samples_per_epoch").get_to(r.samples_per_epoch);
  json.at("epoch").get_to(r.epoch);
  // One that is not finite is null.
  if (json.at("loss").is_number())
    json.at("loss").get_to(r.loss);
  json.at("seed").get_to(r.seed);
  json.at("shuffled").get_to(r.shuffled);
  json.at("weight_decay").get_to(r.weight_decay);
  for (const Json &group : json.value("groups", Json::array()))
    r.groups.push_back(parse_group(group.get<std::string>()));
  r.clip_value = json.value("clip_value", 0.0);
  const Json &rate = json.at("learning_rate");
  r.rate.form = parse_rate_form(rate.at("schedule").get<std::string>());
  rate.at("rate").get_to(r.rate.rate);
  rate.at("last").get_to(r.rate.last);
  rate.at("warmup").get_to(r.rate.warmup);
  rate.at("steps").get_to(r.rate.steps);
  if (const auto best = json.find("best"); best != json.end()) {
    best->at("metric").get_to(r.best.metric);
    best->at("value").get_to(r.best.value);
    best->at("step").get_to(r.best.step);
    best->at("since").get_to(r.best.since);
  }
  json.at("model").get_to(r.model);
  json.at("model_hash").get_to(r.model_hash);
  json.at("topology_hash").get_to(r.topology_hash);
  json.at("strategy_hash").get_to(r.strategy_hash);
  json.at("ranks").get_to(r.ranks);
  json.at("micro_batches").get_to(r.micro_batches);
  json.at("batch").get_to(r.batch);
  if (r.step < 1 || r.samples < 1 || r.rate.steps < r.step)
    throw Error("expected at least one step, and no more than " +
                std::to_string(r.rate.steps) + " of them, found " +
                std::to_string(r.step));
  for (const Json &value : json.at("values"))
    r.values.push_back(read_value(value));
  return r;
}

} // namespace

std::string to_json(const Record &r) {
  Json json = {{"format", kFormat},
               {"version", kVersion},
               {"step", r.step},
               {"epoch", r.epoch},
               {"samples", r.samples},
               {"samples_per_epoch", r.samples_per_epoch},
               {"loss", r.loss},
               {"seed", r.seed},
               {"shuffled", r.shuffled},
               {"learning_rate",
                {{"schedule", to_string(r.rate.form)},
                 {"rate", r.rate.rate},
                 {"last", r.rate.last},
                 {"warmup", r.rate.warmup},
                 {"steps", r.rate.steps}}},
               {"weight_decay", r.weight_decay},
               {"groups", groups_json(r.groups)},
               {"clip_value", r.clip_value},
               {"model", r.model},
               {"model_hash", r.model_hash},
               {"topology_hash", r.topology_hash},
               {"strategy_hash", r.strategy_hash},
               {"ranks", r.ranks},
               {"micro_batches", r.micro_batches},
               {"batch", r.batch},
               {"values", values_json(r.values)}};
  if (r.best.step > 0)
    json["best"] = {{"metric", r.best.metric},
                    {"value", r.best.value},
                    {"step", r.best.step},
                    {"since", r.best.since}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Record read_record(const std::string &path) {
  const MappedFile file(path);
  const char *text = reinterpret_cast<const char *>(file.data());
  try {
    return from_json(Json::parse(text, text + file.size()));
  } catch (const Json::exception &error) {
    throw Error("'" + path + "': expected the record of a checkpoint, found " +
                error.what());
  } catch (const Error &error) {
    throw Error("'" + path + "': " + error.what());
  }
}

} // namespace ffrt
