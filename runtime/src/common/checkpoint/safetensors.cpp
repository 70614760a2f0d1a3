//===- safetensors.cpp - files of named tensors ---------------------------===//
#include "common/checkpoint/safetensors.h"

#include "ffrt/error.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace ffrt {

namespace {

using Json = nlohmann::json;

/// Of the head; the format allows no more.
constexpr uint64_t kMostBytes = 100'000'000;

struct TypeName {
  DType type;
  const char *name;
};
constexpr TypeName kTypes[] = {{DType::f32, "F32"},   {DType::f64, "F64"},
                               {DType::i32, "I32"},   {DType::i64, "I64"},
                               {DType::u8, "U8"},     {DType::boolean, "BOOL"},
                               {DType::bf16, "BF16"}, {DType::f16, "F16"}};

const TypeName *find_type(const std::string &name) {
  for (const TypeName &type : kTypes)
    if (name == type.name)
      return &type;
  return nullptr;
}

/// Throws Error unless the tensor lies in `bytes` and is as large as its shape
/// says. Of types that programs do not have the size is not known.
void check(const StoredTensor &tensor, std::size_t bytes) {
  if (tensor.begin > tensor.end || tensor.end > bytes)
    throw Error("expected bytes up to " + std::to_string(bytes) + ", found " +
                std::to_string(tensor.begin) + " to " +
                std::to_string(tensor.end));
  const TypeName *type = find_type(tensor.type);
  if (!type)
    return;
  const std::size_t given = tensor.end - tensor.begin;
  std::size_t expected = size_of(type->type);
  for (int64_t extent : tensor.shape) {
    if (extent < 0 ||
        __builtin_mul_overflow(expected, std::size_t(extent), &expected))
      throw Error("expected a shape of " + std::to_string(given) +
                  " bytes, found one that no file can hold");
  }
  if (expected != given)
    throw Error("expected " + std::to_string(expected) + " bytes, found " +
                std::to_string(given));
}

StoredTensor read_tensor(const Json &entry) {
  StoredTensor tensor;
  entry.at("dtype").get_to(tensor.type);
  entry.at("shape").get_to(tensor.shape);
  const auto [begin, end] =
      entry.at("data_offsets").get<std::pair<std::size_t, std::size_t>>();
  tensor.begin = begin;
  tensor.end = end;
  return tensor;
}

} // namespace

const char *stored_type(DType type) {
  for (const TypeName &known : kTypes)
    if (type == known.type)
      return known.name;
  return "";
}

DType type_of(const StoredTensor &tensor, const std::string &what) {
  if (const TypeName *type = find_type(tensor.type))
    return type->type;
  throw Error(what +
              ": expected type F32, F64, BF16, F16, I32, I64, U8 or "
              "BOOL, found " +
              tensor.type);
}

SafetensorsFile::SafetensorsFile(const std::string &path) : file(path) {
  const auto bad = [&](const std::string &what) {
    return Error("'" + path + "': " + what);
  };
  uint64_t length = 0;
  if (file.size() >= sizeof length)
    std::memcpy(&length, file.data(), sizeof length);
  if (length == 0 || length > kMostBytes ||
      length > file.size() - sizeof length)
    throw bad("expected a safetensors file, found other data");
  head = sizeof length + std::size_t(length);
  const char *text = reinterpret_cast<const char *>(file.data());
  std::string name;
  try {
    const Json json = Json::parse(text + sizeof length, text + head);
    for (const auto &[key, entry] : json.items()) {
      name = key;
      if (key == "__metadata__")
        continue;
      const StoredTensor tensor = read_tensor(entry);
      check(tensor, file.size() - head);
      index.emplace(key, tensor);
    }
  } catch (const Json::exception &error) {
    throw bad("expected the head of a safetensors file, found " +
              std::string(error.what()));
  } catch (const Error &error) {
    throw bad("tensor '" + name + "': " + error.what());
  }
}

std::string
safetensors_head(const std::map<std::string, StoredTensor> &tensors) {
  Json json = {{"__metadata__", {{"format", "pt"}}}};
  for (const auto &[name, tensor] : tensors)
    json[name] = {{"dtype", tensor.type},
                  {"shape", tensor.shape},
                  {"data_offsets", {tensor.begin, tensor.end}}};
  // Names are bytes; those that are no UTF-8 would make the file unreadable.
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string result(sizeof length, '\0');
  std::memcpy(result.data(), &length, sizeof length);
  return result + text;
}

} // namespace ffrt
