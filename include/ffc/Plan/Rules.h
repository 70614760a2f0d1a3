//===- Rules.h - how an operator can be partitioned -------------*- C++ -*-===//
//
// The partition rules of one operator as plain data: its iteration space, and
// for every operand and result the map from a tile of that space to the part of
// the tensor that the tile touches. Layouts, reshards, costs, the verifier and
// the code generator all ask these rules and nothing else; they are written
// once per operator, in its interface implementation (lib/IR).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_RULES_H
#define FFC_PLAN_RULES_H

#include "ffc/Plan/Box.h"

#include <limits>
#include <string>
#include <vector>

namespace ffc::plan {

/// What splitting a dimension means (SOAP and reduction, design 2).
enum class DimKind { Sample, Attribute, Parameter, Reduction };

/// One dimension of an operator's iteration space.
///
/// Names follow one vocabulary so that strategies carry over between operators
/// and from an operator to its gradients: n sample, c result channels or
/// features, h and w rows and columns, k contracted channels or features,
/// g groups, d0 d1 ... otherwise.
struct IterDim {
  std::string name;
  int64_t extent = 1;
  DimKind kind = DimKind::Attribute;
  /// Blocks are multiples of this, except that the last may be cut short.
  int64_t granularity = 1;
};

/// Interval of block `index` when `dim` is split `degree` ways: units of the
/// granularity are dealt out so that blocks differ by at most one unit, larger
/// blocks first (4096 over 3 is 1366, 1365, 1365). Requires degree <=
/// maxDegree.
Interval blockOf(const IterDim &dim, int64_t degree, int64_t index);

/// The same, by shares: of all units about as many as its share of the sum of
/// `shares`, but at least one (18 over 8:8:1:1 is 8, 8, 1, 1). Requires as many
/// units as shares, and a sum of at most kMaxShares.
Interval blockOf(const IterDim &dim, const std::vector<int64_t> &shares,
                 int64_t index);
constexpr int64_t kMaxShares = 1 << 20;

/// Number of units, the largest legal degree.
int64_t maxDegree(const IterDim &dim);

/// A part of an iteration space: one interval per iteration dimension.
using Tile = Box;

/// How one tensor dimension follows from the tile. With t the tile's interval
/// in iteration dimension `dim` and E the tensor dimension's extent:
///
///   Full     [0, E)
///   Window   [t.lo * stride - pad, (t.hi - 1) * stride - pad + reach) cut to
///            [0, E): the input positions of a sliding window of `reach`
///            positions. Identity is stride 1, reach 1, pad 0; an offset is a
///            negative pad. May be empty (concatenation, padding).
///   Inverse  the output positions of such a window that touch t, cut to [0, E)
///   Digits   the dimension is a mixed-radix number of several iteration
///            dimensions, most significant first (reshape; group x channel)
struct DimMap {
  enum class Kind { Full, Window, Inverse, Digits };

  Kind kind = Kind::Full;
  /// Iteration dimensions involved: none, one, or the digits.
  std::vector<int> dims;
  int64_t stride = 1, reach = 1, pad = 0;

  static DimMap full() { return {}; }
  static DimMap dim(int d) { return window(d, 1, 1, 0); }
  static DimMap window(int d, int64_t stride, int64_t reach, int64_t pad);
  static DimMap inverse(int d, int64_t stride, int64_t reach, int64_t pad);
  static DimMap digits(std::vector<int> dims);

  bool involves(int iterDim) const;
};

/// Order of a buffer's elements in memory. `Pitched` is row-major with rows,
/// along the last of two or more dimensions, that begin at multiples of kPitch
/// elements; what lies between them has no meaning. `Follow` in an access
/// means: the operator takes whichever order its first following operand has.
enum class MemoryOrder { RowMajor, ChannelsLast, Pitched, Follow };

/// Elements. Of 16 bits they are the 16 bytes that tensor cores are fed with;
/// the same for all types, so that a rounded copy lies as its original.
inline constexpr int64_t kPitch = 8;

/// Elements from one row of a pitched buffer to the next.
inline int64_t pitchOf(int64_t columns) {
  return (columns + kPitch - 1) / kPitch * kPitch;
}

/// Which pitches a kernel takes: it needs rows side by side; it takes any; it
/// takes one that all tensors of its phase that say so have.
enum class Pitches { None, Any, Same };

/// Which part of a tensor a tile touches.
struct Access {
  std::vector<DimMap> dims; ///< one per tensor dimension
  MemoryOrder order = MemoryOrder::RowMajor;
  /// Iteration dimensions in which only the tile that starts at 0 touches the
  /// tensor; others see an empty region (the bias of a split contraction).
  std::vector<int> onlyAtStart;
  Pitches pitches = Pitches::None; ///< where the order is row-major
};

/// The region of a tensor of `shape` that `tile` touches.
Region regionOf(const Access &access, const std::vector<IterDim> &space,
                const Tile &tile, const Shape &shape);

/// How shards that cover the same box from different tiles combine.
enum class Reduction { None, Sum, Max };

/// Elements per point that a kernel touches which finds its result in place.
inline constexpr double kTouchesNothing = std::numeric_limits<double>::min();

/// Reads and writes name tensors by slot: operands first, then results, then
/// the operator's internal tensors.
struct SlotRead {
  int slot = 0;
  Access access;
  /// Where a kernel picks elements of the region, rows of a table for instance:
  /// how many it touches per point of the tile. 0: it touches all of them.
  double touchedPerPoint = 0;
  /// The operand holds positions, from 0 to below this; or floats, of which
  /// synthetic ones are whole numbers below this. 0: any numbers.
  int64_t below = 0;
};
struct SlotWrite {
  int slot = 0;
  Access access;
  /// If not None, tiles that differ only in iteration dimensions which `access`
  /// does not involve hold partial values, but for those in `copiedAlong`. If
  /// None they hold equal copies.
  Reduction reduction = Reduction::None;
  /// As in SlotRead.
  double touchedPerPoint = 0;
  /// Iteration dimensions along which tiles hold equal copies of partial
  /// values.
  std::vector<int> copiedAlong = {};
  /// The kernel can add its partial values to those that are there, and then
  /// reads them as well.
  bool mayAccumulate = false;

  /// True if tiles that differ in iteration dimension `dim`, which is negative
  /// for replicas, hold partial values of the same elements.
  bool isPartialAlong(int dim) const;
};

/// What of its operator a phase computes. Where what is summed over is split,
/// whatever follows the sum (its epilogue) waits for the whole of it.
enum class PhaseKind { All, PartialSums, Epilogue };

/// One kernel call per tile.
struct Phase {
  std::string kernel; ///< runtime kernel, "conv_forward"
  std::vector<SlotRead> reads;
  std::vector<SlotWrite> writes;
  /// Floating-point operations per point of the iteration space.
  double flopsPerPoint = 1;
  /// Parts that are done one after the other, each of which waits for the one
  /// before to end (time steps). 0: it has no start, since it moves nothing
  /// (OpRules::keepsBytes).
  int64_t parts = 1;
  /// Where kernels that follow each other are collected (GPUs), it has no start
  /// of its own.
  bool startsWithOthers = false;
  PhaseKind kind = PhaseKind::All;
};

/// The phases that compute an operator when the dimensions in `unsplit` are not
/// split. An operator lists its schedules from the most fused to the most
/// general; the first that fits a configuration is used.
struct Schedule {
  std::vector<int> unsplit;
  std::vector<Phase> phases;
};

/// Numbered as the runtime's types.
enum class ElementType { F32, F64, I32, I64, U8, Bool, BF16, F16 };
bool isFloat(ElementType type);
int64_t byteSize(ElementType type);
/// What a buffer of the region takes, with what lies between pitched rows.
int64_t bufferBytes(const Region &region, MemoryOrder order, ElementType type);
/// "f32", "i32", ...
const char *str(ElementType type);
/// Can partial values of this type be added up where they are? Sums of narrower
/// ones would be rounded too often.
inline bool isSummedInPlace(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64;
}

struct TensorType {
  Shape shape;
  ElementType type = ElementType::F32;
  int64_t bytes() const { return numElements(shape) * byteSize(type); }
};

struct OpRules {
  std::vector<IterDim> dims;
  std::vector<Schedule> schedules;
  std::vector<TensorType> internals;
  /// Results that overwrite an operand: {result, operand} (optimizer updates).
  std::vector<std::pair<int, int>> inPlace;
  /// Results that kernels do without where nothing reads them. They compute all
  /// others whether they are read or not.
  std::vector<int> optionalResults;
  /// Results that may lie where an operand of the same type and order does,
  /// since each element needs only that element of it: {result, operand}. They
  /// do where nothing reads the operand any more.
  std::vector<std::pair<int, int>> mayOverwrite;
  /// The only result has the elements that are read of the only operand in
  /// their row-major order, whatever its shape: it lies where they do, and
  /// nothing is moved. Accesses say so, too (kTouchesNothing).
  bool keepsBytes = false;

  /// Index of the dimension called `name`, or -1.
  int findDim(const std::string &name) const;
  /// True if some schedule allows dimension `d` to be split.
  bool splittable(int d) const;
};

/// Flops of one phase on a tile.
double flopsOf(const Phase &phase, const Tile &tile);

/// Of the `bytes` of what a tile reads or writes, those that it touches; at
/// most all of them.
int64_t touchedBytes(double touchedPerPoint, const Tile &tile, ElementType type,
                     int64_t bytes);

} // namespace ffc::plan

#endif // FFC_PLAN_RULES_H
