//===- stored_tensors.cpp - the tensors of several files ------------------===//
#include "common/checkpoint/stored_tensors.h"

#include "common/data/load.h"
#include "common/data/npy.h"
#include "common/kernels/check.h"
#include "ffrt/error.h"

namespace ffrt {

namespace {

bool is_float(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::bf16 ||
         type == DType::f16;
}

} // namespace

void expect_stored_shape(const Tensor &t, const std::vector<int64_t> &stored,
                         const std::string &where) {
  bool same = int(stored.size()) == t.rank;
  for (int d = 0; same && d < t.rank; ++d)
    same = stored[std::size_t(d)] == t.global[d];
  if (!same)
    throw Error("expected shape " + to_string(t.rank, t.global) + " in '" +
                where + "', found " + to_string(stored));
}

void load_stored(const Tensor &t, const unsigned char *data, DType type,
                 const std::string &where) {
  if (type != t.type && !(is_float(type) && is_float(t.type)))
    throw Error(std::string("expected type ") + name_of(t.type) + " in '" +
                where + "', found " + name_of(type));
  load_box(t, data, type);
}

StoredTensors::StoredTensors(const std::vector<std::string> &paths)
    : paths(paths) {
  for (const std::string &path : paths) {
    files.emplace_back(path);
    for (const auto &[name, tensor] : files.back().tensors()) {
      const auto [at, fresh] =
          places.emplace(name, Place{files.size() - 1, tensor});
      if (!fresh)
        throw Error("'" + path +
                    "': expected tensors that no other file has, "
                    "found '" +
                    name + "', which '" + paths[at->second.file] +
                    "' has, too");
    }
  }
}

const unsigned char *StoredTensors::find(const std::string &name,
                                         StoredTensor *tensor) const {
  const auto at = places.find(name);
  if (at == places.end())
    return nullptr;
  *tensor = at->second.tensor;
  return files[at->second.file].data(*tensor);
}

void StoredTensors::load(const std::string &name, const Tensor &t) const {
  const auto at = places.find(name);
  if (at == places.end())
    throw Error("expected tensor '" + name + "' in '" + paths.front() +
                (paths.size() == 1 ? "'" : "' and others") + ", found none");
  const auto &[file, tensor] = at->second;
  const std::string &path = paths[file];
  expect_stored_shape(t, tensor.shape, path);
  load_stored(t, files[file].data(tensor), type_of(tensor, "'" + path + "'"),
              path);
}

} // namespace ffrt
