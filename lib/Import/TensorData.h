//===- TensorData.h - reading the data of ONNX tensors ----------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_TENSORDATA_H
#define FFC_LIB_IMPORT_TENSORDATA_H

#include "Constant.h"

#include "onnx/onnx_pb.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace ffc::importer {

/// The value of 16 bits of a float of `type`, float16 or bfloat16.
double decodeHalf(uint16_t bits, int32_t type);

/// Reads tensors wherever their data is: in the message, in the model's own
/// file (see Skeleton.h) or in a file beside it.
class TensorData {
public:
  explicit TensorData(llvm::StringRef modelPath);

  /// Checks the extents, the element type, that data of exactly the right size
  /// exists, and that external data stays in the model's folder. After this,
  /// reading fails only if a file does.
  llvm::Error check(const onnx::TensorProto &tensor) const;

  /// The value of a checked tensor with at most kMaxConstantElements elements.
  llvm::Expected<Constant> read(const onnx::TensorProto &tensor) const;

  /// Writes the elements of a checked tensor of some type of floats as those of
  /// 32 bits, row-major, without holding all of them.
  llvm::Error write(const onnx::TensorProto &tensor,
                    llvm::raw_ostream &out) const;

  /// The bytes of the elements of a checked tensor of floats, row-major. Those
  /// of large ones are mapped, not read.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  bytes(const onnx::TensorProto &tensor) const;

private:
  /// A part of a file.
  struct Range {
    std::string path;
    uint64_t offset = 0, length = 0;
  };

  std::string modelPath;

  llvm::Expected<Range> externalRange(const onnx::TensorProto &tensor) const;
  llvm::Error checkInline(const onnx::TensorProto &tensor, int64_t count) const;
  llvm::Error
  readRange(const Range &range,
            llvm::function_ref<void(llvm::ArrayRef<char>)> sink) const;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_TENSORDATA_H
