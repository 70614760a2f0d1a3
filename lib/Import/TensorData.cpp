//===- TensorData.cpp - reading the data of ONNX tensors ------------------===//

#include "TensorData.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace ffc::importer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using onnx::TensorProto;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static Shape shapeOf(const TensorProto &tensor) {
  return Shape(tensor.dims().begin(), tensor.dims().end());
}

TensorData::TensorData(StringRef modelPath) : modelPath(modelPath) {}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Error findFile(StringRef name, llvm::SmallVectorImpl<char> &real) {
  if (std::error_code code = fs::real_path(name, real))
    return makeError("cannot read external data '" + name +
                     "': " + code.message());
  return Error::success();
}

/// Finds the file `location` in the folder of the model, or below it.
static Error findBeside(StringRef modelPath, StringRef location,
                        llvm::SmallVectorImpl<char> &real) {
  StringRef parent = path::parent_path(modelPath);
  llvm::SmallString<128> folder, file(parent);
  path::append(file, location);
  if (!path::is_absolute(location)) {
    if (Error error = findFile(file, real))
      return error;
    if (!fs::real_path(parent.empty() ? "." : parent, folder) &&
        StringRef(real.data(), real.size()).starts_with((folder + "/").str()))
      return Error::success();
  }
  return makeError("external data '" + location +
                   "' is not in the model's folder");
}

/// Finds the file range of external data, and checks that it exists and is in
/// the model's folder. An empty location is the model itself (Skeleton.h).
Expected<TensorData::Range>
TensorData::externalRange(const TensorProto &tensor) const {
  Range range;
  std::string location;
  bool hasLength = false;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    uint64_t *number = entry.key() == "offset"   ? &range.offset
                       : entry.key() == "length" ? &range.length
                                                 : nullptr;
    if (number && StringRef(entry.value()).getAsInteger(10, *number))
      return makeError("external data has " + entry.key() + " '" +
                       entry.value() + "', expected a number");
    hasLength |= number == &range.length;
  }
  llvm::SmallString<128> real;
  if (Error error = location.empty() ? findFile(modelPath, real)
                                     : findBeside(modelPath, location, real))
    return error;
  fs::file_status status;
  if (std::error_code code = fs::status(real, status))
    return makeError("cannot read '" + real + "': " + code.message());
  if (status.type() != fs::file_type::regular_file)
    return makeError("external data '" + location + "' is not a regular file");
  uint64_t size = status.getSize();
  if (!hasLength)
    range.length = size - std::min(size, range.offset);
  if (range.offset > size || range.length > size - range.offset)
    return makeError("external data '" + location + "' has " + Twine(size) +
                     " bytes, expected " + Twine(range.length) +
                     " from offset " + Twine(range.offset));
  range.path = real.str().str();
  return range;
}

/// Numbers in the field of the message where this type's values belong.
static int typedCount(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return tensor.float_data_size();
  case TensorProto::DOUBLE:
    return tensor.double_data_size();
  case TensorProto::INT64:
    return tensor.int64_data_size();
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return tensor.uint64_data_size();
  default:
    return tensor.int32_data_size();
  }
}

Error TensorData::checkInline(const TensorProto &tensor, int64_t count) const {
  if (!tensor.has_raw_data()) {
    if (typedCount(tensor) != count)
      return makeError("expected " + Twine(count) + " elements for shape " +
                       shapeText(shapeOf(tensor)) + ", found " +
                       Twine(typedCount(tensor)));
    return Error::success();
  }
  int64_t expected = count * elementBytes(tensor.data_type());
  int64_t found = static_cast<int64_t>(tensor.raw_data().size());
  if (found != expected)
    return makeError("expected " + Twine(expected) + " bytes for shape " +
                     shapeText(shapeOf(tensor)) + ", found " + Twine(found));
  return Error::success();
}

Error TensorData::check(const TensorProto &tensor) const {
  Shape shape = shapeOf(tensor);
  if (elementBytes(tensor.data_type()) == 0)
    return makeError("element type " + elementTypeName(tensor.data_type()) +
                     " is not supported");
  std::optional<int64_t> count = elementCount(shape);
  if (!count)
    return makeError("shape " + shapeText(shape) +
                     " has a negative extent or too many elements");
  if (tensor.has_segment())
    return makeError("segmented tensors are not supported");
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return checkInline(tensor, *count);
  Expected<Range> range = externalRange(tensor);
  if (!range)
    return range.takeError();
  uint64_t expected = *count * elementBytes(tensor.data_type());
  if (range->length != expected)
    return makeError("expected " + Twine(expected) + " bytes for shape " +
                     shapeText(shape) + ", found " + Twine(range->length));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Error TensorData::readRange(
    const Range &range,
    llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const {
  Expected<fs::file_t> file = fs::openNativeFileForRead(range.path);
  if (!file)
    return file.takeError();
  std::vector<char> chunk(std::min<uint64_t>(range.length, 1 << 20));
  Error result = Error::success();
  for (uint64_t done = 0; done < range.length;) {
    size_t wanted = std::min<uint64_t>(chunk.size(), range.length - done);
    Expected<size_t> got = fs::readNativeFileSlice(
        *file, {chunk.data(), wanted}, range.offset + done);
    if (!got || *got == 0) {
      result = llvm::joinErrors(
          std::move(result),
          got ? makeError("'" + range.path + "' ends early") : got.takeError());
      break;
    }
    sink({chunk.data(), *got});
    done += *got;
  }
  fs::closeFile(*file);
  return result;
}

/// The elements of a tensor of floats that are in the field of their type.
static std::unique_ptr<llvm::MemoryBuffer>
typedBytes(const TensorProto &tensor) {
  auto of = [](const auto &field) {
    return llvm::MemoryBuffer::getMemBuffer(
        StringRef(reinterpret_cast<const char *>(field.data()),
                  field.size() * sizeof(*field.data())),
        "", /*RequiresNullTerminator=*/false);
  };
  if (tensor.data_type() == TensorProto::FLOAT)
    return of(tensor.float_data());
  if (tensor.data_type() == TensorProto::DOUBLE)
    return of(tensor.double_data());
  // Each 16 bits have 32.
  std::vector<uint16_t> halves(tensor.int32_data().begin(),
                               tensor.int32_data().end());
  return llvm::MemoryBuffer::getMemBufferCopy(
      StringRef(reinterpret_cast<const char *>(halves.data()),
                halves.size() * sizeof(uint16_t)));
}

Expected<std::unique_ptr<llvm::MemoryBuffer>>
TensorData::bytes(const TensorProto &tensor) const {
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return tensor.has_raw_data()
               ? llvm::MemoryBuffer::getMemBuffer(
                     tensor.raw_data(), "", /*RequiresNullTerminator=*/false)
               : typedBytes(tensor);
  Expected<Range> range = externalRange(tensor);
  if (!range)
    return range.takeError();
  auto slice = llvm::MemoryBuffer::getFileSlice(range->path, range->length,
                                                range->offset);
  if (!slice)
    return makeError("cannot read '" + range->path +
                     "': " + slice.getError().message());
  return std::move(*slice);
}

/// Appends `bytes`, elements of C++ type T, to `values`.
template <class T, class Value>
static void decode(StringRef bytes, std::vector<Value> &values) {
  for (; bytes.size() >= sizeof(T); bytes = bytes.drop_front(sizeof(T))) {
    T element;
    std::memcpy(&element, bytes.data(), sizeof(T));
    values.push_back(static_cast<Value>(element));
  }
}

double ffc::importer::decodeHalf(uint16_t bits, int32_t type) {
  llvm::APFloat value(type == TensorProto::FLOAT16 ? llvm::APFloat::IEEEhalf()
                                                   : llvm::APFloat::BFloat(),
                      llvm::APInt(16, bits));
  bool loses;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &loses);
  return value.convertToDouble();
}

static void decodeRaw(StringRef bytes, Constant &result) {
  switch (result.type) {
  case TensorProto::FLOAT:
    return decode<float>(bytes, result.floats);
  case TensorProto::DOUBLE:
    return decode<double>(bytes, result.floats);
  case TensorProto::BOOL:
  case TensorProto::UINT8:
    return decode<uint8_t>(bytes, result.ints);
  case TensorProto::INT8:
    return decode<int8_t>(bytes, result.ints);
  case TensorProto::UINT16:
    return decode<uint16_t>(bytes, result.ints);
  case TensorProto::INT16:
    return decode<int16_t>(bytes, result.ints);
  case TensorProto::UINT32:
    return decode<uint32_t>(bytes, result.ints);
  case TensorProto::INT32:
    return decode<int32_t>(bytes, result.ints);
  case TensorProto::UINT64:
  case TensorProto::INT64:
    return decode<int64_t>(bytes, result.ints);
  default: {
    std::vector<uint16_t> halves;
    decode<uint16_t>(bytes, halves);
    for (uint16_t bits : halves)
      result.floats.push_back(decodeHalf(bits, result.type));
  }
  }
}

static void copyTyped(const TensorProto &tensor, Constant &result) {
  auto copy = [](const auto &from, auto &to) {
    to.assign(from.begin(), from.end());
  };
  switch (result.type) {
  case TensorProto::FLOAT:
    return copy(tensor.float_data(), result.floats);
  case TensorProto::DOUBLE:
    return copy(tensor.double_data(), result.floats);
  case TensorProto::INT64:
    return copy(tensor.int64_data(), result.ints);
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return copy(tensor.uint64_data(), result.ints);
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    for (int32_t bits : tensor.int32_data())
      result.floats.push_back(
          decodeHalf(static_cast<uint16_t>(bits), result.type));
    return;
  default:
    return copy(tensor.int32_data(), result.ints);
  }
}

namespace {

/// Writes floats of `type`, given in pieces of any size, as those of 32 bits.
class FloatWriter {
public:
  FloatWriter(int32_t type, llvm::raw_ostream &out) : type(type), out(out) {}

  void add(llvm::ArrayRef<char> bytes) {
    if (type == TensorProto::FLOAT) {
      out.write(bytes.data(), bytes.size());
      return;
    }
    pending.append(bytes.data(), bytes.size());
    Constant whole;
    whole.type = type;
    size_t size = elementBytes(type), end = pending.size() / size * size;
    decodeRaw(StringRef(pending).take_front(end), whole);
    pending.erase(0, end);
    add(whole);
  }

  void add(const Constant &numbers) {
    for (double number : numbers.floats) {
      auto element = static_cast<float>(number);
      out.write(reinterpret_cast<const char *>(&element), sizeof(element));
    }
  }

private:
  int32_t type;
  llvm::raw_ostream &out;
  std::string pending; ///< the first bytes of an element
};

} // namespace

Error TensorData::write(const TensorProto &tensor,
                        llvm::raw_ostream &out) const {
  FloatWriter writer(tensor.data_type(), out);
  auto addBytes = [&](llvm::ArrayRef<char> bytes) { writer.add(bytes); };
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Expected<Range> range = externalRange(tensor);
    return range ? readRange(*range, addBytes) : range.takeError();
  }
  if (tensor.has_raw_data()) {
    addBytes({tensor.raw_data().data(), tensor.raw_data().size()});
    return Error::success();
  }
  Constant numbers;
  numbers.type = tensor.data_type();
  copyTyped(tensor, numbers);
  writer.add(numbers);
  return Error::success();
}

Expected<Constant> TensorData::read(const TensorProto &tensor) const {
  Constant result;
  result.type = tensor.data_type();
  result.shape = shapeOf(tensor);
  int64_t count = *elementCount(result.shape);
  if (count > kMaxConstantElements)
    return makeError(
        "a constant of " + Twine(count) +
        " elements is too large to be evaluated, expected at most " +
        Twine(kMaxConstantElements));
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Expected<Range> range = externalRange(tensor);
    if (!range)
      return range.takeError();
    std::string bytes;
    if (Error error = readRange(*range, [&](llvm::ArrayRef<char> chunk) {
          bytes.append(chunk.data(), chunk.size());
        }))
      return error;
    decodeRaw(bytes, result);
  } else if (tensor.has_raw_data()) {
    decodeRaw(tensor.raw_data(), result);
  } else {
    copyTyped(tensor, result);
  }
  result.normalize();
  return result;
}
