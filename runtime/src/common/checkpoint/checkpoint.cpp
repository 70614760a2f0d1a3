//===- checkpoint.cpp - what a run goes on from ---------------------------===//
#include "common/checkpoint/checkpoint.h"

#include "common/checkpoint/box_rows.h"
#include "common/checkpoint/checksum.h"
#include "common/checkpoint/layout.h"
#include "common/data/npy.h"
#include "common/kernels/check.h"
#include "ffrt/error.h"

#include <cstring>
#include <map>
#include <set>

namespace ffrt {

namespace {

/// Of the values that are parameters, averages, or neither.
std::vector<std::string> files_of(const Record &record,
                                  const std::string &folder, bool parameters,
                                  bool averages) {
  std::set<std::string> paths;
  for (const Record::Value &value : record.values)
    if (value.parameter == parameters &&
        is_average(value.name, value.parameter) == averages)
      paths.insert(folder + "/" + value.file);
  return {paths.begin(), paths.end()};
}

std::string kind_of(bool parameter) {
  return parameter ? "parameter" : "value of the optimizer";
}

} // namespace

Checkpoint::Checkpoint(const std::string &path)
    : folder(path), read(read_record(path + "/" + kRecordName)),
      parameters(files_of(read, path, true, false)),
      averages(files_of(read, path, false, true)),
      others(files_of(read, path, false, false)) {}

const StoredTensors &Checkpoint::tensors_of(const std::string &name,
                                            bool parameter) const {
  return parameter                     ? parameters
         : is_average(name, parameter) ? averages
                                       : others;
}

std::vector<double> Checkpoint::losses() const {
  const std::string path = folder + "/loss.npy";
  const NpyFile file(path);
  if (file.type != DType::f64 || file.shape.size() != 1 ||
      file.shape[0] != read.step)
    throw Error("'" + path + "': expected " + std::to_string(read.step) +
                " losses of type f64, found shape " + to_string(file.shape) +
                " of type " + name_of(file.type));
  std::vector<double> values(std::size_t(read.step));
  std::memcpy(values.data(), file.data(), values.size() * sizeof(double));
  return values;
}

void Checkpoint::expect_values(const std::vector<GlobalValue> &values) const {
  const std::string what = "'" + folder + "': expected ",
                    why = "; it is of another model or optimizer";
  std::map<std::pair<bool, std::string>, const Record::Value *> stored;
  for (const Record::Value &value : read.values)
    stored[{value.parameter, value.name}] = &value;
  for (const GlobalValue &value : values) {
    const std::string name = kind_of(value.parameter) + " '" + value.name + "'";
    const auto at = stored.find({value.parameter, value.name});
    if (at == stored.end())
      throw Error(what + name + ", found none" + why);
    const std::vector<int64_t> shape = {value.shape.v,
                                        value.shape.v + value.rank};
    if (at->second->shape != shape)
      throw Error(what + name + " of shape " + to_string(shape) +
                  ", found shape " + to_string(at->second->shape) + why);
    stored.erase(at);
  }
  if (!stored.empty()) {
    const auto &[parameter, name] = stored.begin()->first;
    throw Error(what + "no " + kind_of(parameter) + " '" + name +
                "', found one" + why);
  }
}

void Checkpoint::verify(int rank, int ranks) const {
  for (std::size_t v = std::size_t(rank); v < read.values.size();
       v += std::size_t(ranks)) {
    const Record::Value &value = read.values[v];
    const std::string what =
        "'" + folder + "/" + value.file + "': '" + value.name + "': ";
    StoredTensor tensor;
    const unsigned char *data =
        tensors_of(value.name, value.parameter)
            .find(stored_name(value.name, value.parameter), &tensor);
    if (!data || tensor.shape != value.shape || tensor.type != value.type)
      throw Error(what + "expected it as " + kRecordName +
                  " has it, found another");
    const int dimensions = int(tensor.shape.size());
    if (dimensions > kMaxRank)
      throw Error(what + "expected at most " + std::to_string(kMaxRank) +
                  " dimensions, found " + std::to_string(dimensions));
    Index shape;
    for (int d = 0; d < dimensions; ++d)
      shape[d] = tensor.shape[std::size_t(d)];
    const Tensor whole =
        box_tensor(type_of(tensor, what), dimensions, {}, shape, shape, data);
    if (checksum(whole) != value.sum)
      throw Error(what + "expected the values that were written, found others; "
                         "the file is damaged");
  }
}

void Checkpoint::load(const std::string &name, bool parameter,
                      const Tensor &t) const {
  tensors_of(name, parameter).load(stored_name(name, parameter), t);
}

} // namespace ffrt
