//===- dnnl.h - thin layer over oneDNN --------------------------*- C++ -*-===//
//
// A prepared primitive: memory objects and the argument list are made once, a
// call sets data handles only.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_DNNL_H
#define FFRT_CPU_DNNL_H

#include "ffrt/functors.h"
#include "ffrt/tensor.h"

#include <cstddef>
#include <dnnl.hpp>
#include <string>
#include <vector>

namespace ffrt {

/// The process-wide CPU engine and its in-order stream.
dnnl::engine &dnnl_engine();
dnnl::stream &dnnl_stream();

/// Throws Error "<kernel>: oneDNN: <cause>".
[[noreturn]] void dnnl_failed(const char *kernel, const dnnl::error &cause);

/// New attributes for a primitive descriptor: its scratchpad is ours. A library
/// that allocates megabytes in every call has the system clear them each time.
dnnl::primitive_attr dnnl_attributes();

/// Has a primitive clip what it computes.
void append_clip(dnnl::post_ops &after, const fn::Clip &clip);

/// Memory that all kernels of this process share, since they run one after the
/// other: as large as the greediest one needs. It grows while kernels are made,
/// never in a call.
class SharedMemory {
public:
  void reserve(std::size_t bytes);
  void *data() const { return memory.get_data_handle(); }

private:
  dnnl::memory memory;
};

/// A primitive with its arguments, each a memory object that the owner keeps.
/// Primitives run one after the other and share one scratchpad.
class Primitive {
public:
  Primitive() = default;
  Primitive(const dnnl::primitive &primitive,
            const std::vector<std::pair<int, dnnl::memory>> &arguments);
  void operator()();
  explicit operator bool() const { return bool(primitive); }

private:
  dnnl::primitive primitive;
  std::vector<std::pair<int, dnnl::memory>> owned;
  dnnl::memory scratchpad;
  std::vector<dnnl_exec_arg_t> arguments;
};

/// A memory object of `desc` without data.
dnnl::memory view(const dnnl::memory::desc &desc);
/// Points a view at the data of a tensor.
void point(dnnl::memory &memory, const Tensor &tensor);

/// Elements from row to row of a matrix such that rows do not share lines of
/// the first cache: `columns`, or a few more.
int64_t spaced_rows(int64_t columns);

/// The type of floats, f32 or bf16.
dnnl::memory::data_type data_type(DType type);

/// An operand of a product in a type that oneDNN has kernels for: the tensor
/// itself, or, of f16, and of bf16 where the processor lacks instructions or
/// `widen` says so, a copy as f32 in memory that all kernels share.
class Operand {
public:
  Operand() = default;
  /// Memory number `slot` of Converted::kSlots; those of one kernel have slots
  /// of their own.
  Operand(const Tensor &tensor, int slot, bool widen = false);
  /// For making a primitive.
  const Tensor &form() const { return as_read; }
  /// For a call.
  Tensor read(const Tensor &tensor);

private:
  Tensor as_read;
  int slot = 0;
  bool widened = false;
};

/// A result of a product in a type that oneDNN has kernels for: the tensor
/// itself, or, of operands that are widened, f32 in memory that all kernels
/// share, which is rounded in the end.
class Result {
public:
  Result() = default;
  /// Of operands that oneDNN reads as `operand_type`.
  Result(const Tensor &tensor, DType operand_type);
  /// For making a primitive.
  const Tensor &form() const { return as_written; }
  /// For a call: what is written.
  Tensor target(const Tensor &tensor) const;
  /// After it was.
  void round(const Tensor &tensor) const;

private:
  Tensor as_written;
  bool rounds = false;
};

/// A plain tensor that a primitive reads or writes in a layout of its choice:
/// with the same layout the primitive works on the tensor itself, else on
/// memory that all kernels share, since they run one after the other. What is
/// there lasts for one call.
class Converted {
public:
  enum Direction { to_primitive, from_primitive };
  Converted() = default;
  /// In the tensor's own layout.
  explicit Converted(const dnnl::memory::desc &plain);
  /// In shared memory number `slot` of kSlots, unless the layouts are the same.
  /// Those of one kernel have slots of their own.
  Converted(const dnnl::memory::desc &plain, const dnnl::memory::desc &chosen,
            Direction direction, int slot);
  /// What the primitive gets as argument.
  const dnnl::memory &argument() const { return inner ? inner : outer; }
  /// Before every call: where the plain tensor is.
  void point(void *data);
  /// Moves the data if layouts differ: before the primitive runs for
  /// to_primitive, after it for from_primitive.
  void convert();

  static constexpr int kSlots = 3;

private:
  dnnl::memory outer, inner;
  int slot = 0;
  Primitive reorder;
};

} // namespace ffrt

#endif // FFRT_CPU_DNNL_H
