//===- layout.cpp - the files that hold the state -------------------------===//
#include "common/checkpoint/layout.h"

#include "common/checkpoint/safetensors.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace ffrt {

namespace {

std::string file_name(const std::string &name, std::size_t i, std::size_t n) {
  if (n == 1)
    return name + ".safetensors";
  char number[64];
  std::snprintf(number, sizeof number, "-%05zu-of-%05zu", i + 1, n);
  return name + number + ".safetensors";
}

/// Adds the files of some of the values.
void add_files(Layout &layout, const std::vector<GlobalValue> &values,
               const std::vector<std::size_t> &chosen, const std::string &name,
               std::size_t most) {
  std::vector<std::map<std::string, StoredTensor>> heads;
  std::vector<std::size_t> sizes;
  std::size_t total = 0;
  for (std::size_t v : chosen) {
    const GlobalValue &value = values[v];
    const std::size_t bytes = value.bytes();
    if (heads.empty() || (sizes.back() > 0 && sizes.back() + bytes > most)) {
      heads.emplace_back();
      sizes.push_back(0);
    }
    StoredTensor &tensor =
        heads.back()[stored_name(value.name, value.parameter)];
    tensor.type = stored_type(value.type);
    tensor.shape = {value.shape.v, value.shape.v + value.rank};
    tensor.begin = sizes.back();
    tensor.end = tensor.begin + bytes;
    layout.places[v] = {layout.files.size() + heads.size() - 1, tensor.begin};
    // Every tensor begins where the one before ends: the format wants no gaps.
    sizes.back() = tensor.end;
    total += bytes;
  }
  nlohmann::json index = {{"metadata", {{"total_size", total}}},
                          {"weight_map", nlohmann::json::object()}};
  const std::size_t first = layout.files.size();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string head = safetensors_head(heads[i]);
    layout.files.push_back(
        {file_name(name, i, heads.size()), head, head.size() + sizes[i]});
    for (const auto &[tensor, place] : heads[i])
      index["weight_map"][tensor] = layout.files.back().name;
  }
  for (std::size_t v : chosen)
    layout.places[v].offset += layout.files[layout.places[v].file].head.size();
  if (layout.files.size() > first + 1)
    layout.indices.emplace_back(
        name + ".safetensors.index.json",
        index.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
            "\n");
}

} // namespace

bool is_average(const std::string &name, bool parameter) {
  constexpr std::size_t kEnding = sizeof "/ema" - 1;
  return !parameter && name.size() > kEnding &&
         name.compare(name.size() - kEnding, kEnding, "/ema") == 0;
}

std::string stored_name(const std::string &name, bool parameter) {
  return is_average(name, parameter) ? name.substr(0, name.rfind('/')) : name;
}

Layout make_layout(const std::vector<GlobalValue> &values, std::size_t most) {
  Layout layout;
  layout.places.resize(values.size());
  std::vector<std::size_t> parameters, averages, others;
  // Wide elements first: all lie at multiples of their size.
  for (std::size_t size : {8, 4, 2, 1})
    for (std::size_t v = 0; v < values.size(); ++v)
      if (size_of(values[v].type) == size)
        (values[v].parameter                               ? parameters
         : is_average(values[v].name, values[v].parameter) ? averages
                                                           : others)
            .push_back(v);
  add_files(layout, values, parameters, "model", most);
  add_files(layout, values, averages, "ema", most);
  add_files(layout, values, others, "optimizer", most);
  return layout;
}

} // namespace ffrt
