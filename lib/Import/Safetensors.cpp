//===- Safetensors.cpp - reading safetensors files ------------------------===//

#include "Safetensors.h"

#include "TensorData.h"

#include "ffc/Import/Json.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace ffc::importer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;

/// Bytes of an element; 0: an unknown type.
static int64_t bytesOf(StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"F64", "I64", "U64"}, 8)
      .Cases({"F32", "I32", "U32"}, 4)
      .Cases({"F16", "BF16", "I16", "U16"}, 2)
      .Cases({"I8", "U8", "BOOL"}, 1)
      .Default(0);
}

/// The entry of a tensor; `data`: all bytes after the head.
static Error readTensor(const llvm::json::Value &value, StringRef data,
                        Safetensors::Tensor &tensor) {
  const llvm::json::Object *entry = value.getAsObject();
  const llvm::json::Array *shape = entry ? entry->getArray("shape") : nullptr,
                          *offsets =
                              entry ? entry->getArray("data_offsets") : nullptr;
  std::optional<StringRef> type =
      entry ? entry->getString("dtype") : std::nullopt;
  if (!shape || !type || !offsets || offsets->size() != 2)
    return makeError("expected dtype, shape and data_offsets");
  tensor.type = type->str();
  for (const llvm::json::Value &extent : *shape) {
    if (!extent.getAsInteger())
      return makeError("expected integers as shape");
    tensor.shape.push_back(*extent.getAsInteger());
  }
  std::optional<int64_t> begin = (*offsets)[0].getAsInteger(),
                         end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *begin > *end ||
      uint64_t(*end) > data.size())
    return makeError("expected bytes within the " + Twine(data.size()) +
                     " of the file");
  std::optional<int64_t> count = elementCount(tensor.shape);
  const int64_t size = bytesOf(tensor.type);
  if (!count || (size > 0 && *count * size != *end - *begin))
    return makeError("expected " + Twine(*end - *begin) + " bytes for shape " +
                     shapeText(tensor.shape) + " of " + tensor.type);
  tensor.bytes = data.slice(*begin, *end);
  return Error::success();
}

Error Safetensors::add(const std::string &path,
                       const std::set<std::string> &except) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  const uint64_t length =
      bytes.size() < 8 ? 0 : llvm::support::endian::read64le(bytes.data());
  if (length == 0 || length > bytes.size() - 8)
    return makeError("'" + path +
                     "': expected a safetensors file, found other data");
  const StringRef data = bytes.drop_front(8 + length);
  Expected<llvm::json::Value> head = ffc::parseJson(bytes.substr(8, length));
  if (!head)
    return makeError("'" + path +
                     "': expected the head of a safetensors "
                     "file, found " +
                     llvm::toString(head.takeError()));
  if (!head->getAsObject())
    return makeError("'" + path +
                     "': expected the head of a safetensors "
                     "file, found other JSON");
  for (const auto &[key, value] : *head->getAsObject()) {
    if (key == "__metadata__" || except.count(StringRef(key).str()))
      continue;
    Tensor tensor;
    if (Error error = readTensor(value, data, tensor))
      return makeError("'" + path + "': tensor '" + StringRef(key) +
                       "': " + llvm::toString(std::move(error)));
    if (!index.emplace(StringRef(key).str(), std::move(tensor)).second)
      return makeError("'" + path + "': tensor '" + StringRef(key) +
                       "': expected a name that no other file has");
  }
  files.push_back(std::move(*buffer));
  return Error::success();
}

bool Safetensors::isOfFloats(const Tensor &tensor) {
  return tensor.type == "F32" || tensor.type == "F64" || tensor.type == "F16" ||
         tensor.type == "BF16";
}

double Safetensors::elementOf(const Tensor &tensor, int64_t i) {
  const char *at = tensor.bytes.data() + i * bytesOf(tensor.type);
  using namespace llvm::support;
  if (tensor.type == "F32")
    return llvm::bit_cast<float>(endian::read32le(at));
  if (tensor.type == "F64")
    return llvm::bit_cast<double>(endian::read64le(at));
  return decodeHalf(endian::read16le(at), tensor.type == "F16"
                                              ? onnx::TensorProto::FLOAT16
                                              : onnx::TensorProto::BFLOAT16);
}

/// The names in a folder, sorted.
static Expected<std::vector<std::string>> namesIn(StringRef folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; at != end && !code;
       at.increment(code))
    names.push_back(llvm::sys::path::filename(at->path()).str());
  if (code)
    return makeError("cannot open '" + folder + "': " + code.message());
  llvm::sort(names);
  return names;
}

/// "ema.safetensors", or a part of it.
static bool isOfAverages(StringRef name) {
  return name == "ema.safetensors" || name.starts_with("ema-");
}

Expected<std::vector<std::string>>
ffc::importer::parameterFiles(StringRef path, std::string &found) {
  found = path.str();
  if (!fs::is_directory(path))
    return std::vector<std::string>{path.str()};
  Expected<std::vector<std::string>> names = namesIn(path);
  if (!names)
    return names.takeError();
  // The numbers of steps have as many digits, so that names are in their order.
  for (const std::string &name : llvm::reverse(*names)) {
    StringRef digits = name;
    if (digits.consume_front("step-") && !digits.empty() &&
        digits.find_first_not_of("0123456789") == StringRef::npos &&
        fs::exists(path + "/" + name + "/checkpoint.json"))
      return parameterFiles((path + "/" + name).str(), found);
  }
  std::vector<std::string> files;
  for (StringRef name : *names)
    if (name.ends_with(".safetensors") && !name.starts_with("optimizer") &&
        !isOfAverages(name))
      files.push_back((path + "/" + name).str());
  if (files.empty())
    return makeError("expected a checkpoint or *.safetensors in '" + path +
                     "', found none");
  return files;
}

Expected<std::vector<std::string>> ffc::importer::averageFiles(StringRef path) {
  std::vector<std::string> files;
  if (fs::is_directory(path)) {
    Expected<std::vector<std::string>> names = namesIn(path);
    if (!names)
      return names.takeError();
    for (StringRef name : *names)
      if (name.ends_with(".safetensors") && isOfAverages(name))
        files.push_back((path + "/" + name).str());
  }
  if (files.empty())
    return makeError("--ema: expected ema.safetensors in '" + path +
                     "', found none; ffc --ema=DECAY makes programs that write "
                     "it");
  return files;
}
