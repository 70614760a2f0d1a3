//===- saved_values.cpp - values that somebody has left in files ----------===//
#include "common/checkpoint/saved_values.h"

#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/stored_tensors.h"
#include "common/data/file.h"
#include "common/data/load.h"
#include "common/data/names.h"
#include "common/data/npy.h"
#include "ffrt/error.h"

#include <nlohmann/json.hpp>

#include <map>
#include <vector>

namespace ffrt {

namespace {

constexpr const char *kEnding = ".safetensors";

bool ends_with(const std::string &text, const std::string &ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

/// What a program has dumped.
class DumpFolder final : public SavedValues {
public:
  explicit DumpFolder(const std::string &folder) : folder(folder) {
    const std::string path = folder + "/" + kNamesFile;
    if (!exists(path))
      return;
    try {
      const auto json = nlohmann::json::parse(read_file(path));
      for (const auto &[file, name] : json.items())
        if (file.rfind("param/", 0) == 0)
          unusual[name.get<std::string>()] = file;
    } catch (const nlohmann::json::exception &error) {
      throw Error("'" + path + "': expected names by path, found " +
                  error.what());
    }
  }

  void load(const std::string &name, bool, const Tensor &t) const override {
    const auto other = unusual.find(name);
    const std::string path =
        folder + "/" +
        (other == unusual.end() ? "param/" + file_name(name) : other->second) +
        ".npy";
    if (!exists(path))
      throw Error("expected file '" + path + "', found none");
    const NpyFile file(path);
    expect_stored_shape(t, file.shape, path);
    load_stored(t, file.data(), file.type, path);
  }

private:
  const std::string folder;
  std::map<std::string, std::string> unusual; ///< paths of parameters
};

/// Safetensors files whose names say nothing of an optimizer.
class SafetensorsFiles final : public SavedValues {
public:
  explicit SafetensorsFiles(const std::vector<std::string> &paths)
      : tensors(paths) {}

  void load(const std::string &name, bool, const Tensor &t) const override {
    tensors.load(name, t);
  }

private:
  const StoredTensors tensors;
};

/// Running means, and of what has none the parameter.
class Averages final : public SavedValues {
public:
  Averages(const std::vector<std::string> &means,
           std::unique_ptr<SavedValues> parameters)
      : means(means), parameters(std::move(parameters)) {}

  void load(const std::string &name, bool parameter,
            const Tensor &t) const override {
    StoredTensor tensor;
    if (means.find(name, &tensor))
      means.load(name, t);
    else
      parameters->load(name, parameter, t);
  }

private:
  const StoredTensors means;
  const std::unique_ptr<SavedValues> parameters;
};

/// "ema.safetensors", or a part of it.
bool is_of_averages(const std::string &name) {
  return name == "ema.safetensors" || name.rfind("ema-", 0) == 0;
}

/// Files with parameters, or with running means of them.
std::vector<std::string> model_files(const std::string &folder, bool averages) {
  std::vector<std::string> paths;
  for (const std::string &name : list_folder(folder))
    if (ends_with(name, kEnding) && name.rfind("optimizer", 0) != 0 &&
        is_of_averages(name) == averages)
      paths.push_back(folder + "/" + name);
  return paths;
}

} // namespace

std::unique_ptr<SavedValues> open_parameters(const std::string &path,
                                             bool averages) {
  if (averages) {
    const std::string newest = newest_checkpoint(path),
                      folder = newest.empty() ? path : newest;
    const std::vector<std::string> means = model_files(folder, true);
    if (means.empty())
      throw Error(
          "--ema: expected ema.safetensors in '" + folder +
          "', found none; ffc --ema=DECAY makes programs that write it");
    return std::make_unique<Averages>(means, open_parameters(folder, false));
  }
  if (ends_with(path, kEnding))
    return std::make_unique<SafetensorsFiles>(std::vector<std::string>{path});
  if (exists(path + "/param"))
    return std::make_unique<DumpFolder>(path);
  const std::string newest = newest_checkpoint(path);
  const std::vector<std::string> files =
      model_files(newest.empty() ? path : newest, false);
  if (files.empty())
    throw Error("expected param/*.npy of a dump, a checkpoint or *" +
                std::string(kEnding) + " in '" + path + "', found none");
  return std::make_unique<SafetensorsFiles>(files);
}

} // namespace ffrt
