//===- RankMemory.cpp - buffers of the rank evaluator ---------------------===//

#include "RankMemory.h"

#include "ffc/IR/NarrowFloat.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::rank;

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

// A tagged slot is a quiet NaN: 12 bits of tag, 4 of flags, 32 of contents.
static constexpr uint64_t kTagMask = 0xFFFFFFF000000000;
static constexpr uint64_t kByteTag = 0x7FF8B17000000000;
static constexpr uint64_t kHalfTag = 0x7FF8A2E000000000;
static constexpr uint64_t kCheckTag = 0x7FF8C4C000000000;

double rank::poisonValue() { return std::numeric_limits<double>::quiet_NaN(); }

static bool isTagged(double slot, uint64_t tag) {
  return (llvm::bit_cast<uint64_t>(slot) & kTagMask) == tag;
}

double rank::combine(plan::Reduction reduction, double a, double b) {
  switch (reduction) {
  case plan::Reduction::None:
    return b;
  case plan::Reduction::Sum:
    return a + b;
  case plan::Reduction::Max:
    return std::isnan(a) || a >= b ? a : b;
  }
  llvm_unreachable("unknown reduction");
}

/// Flag `lane` says whether byte `lane` of the contents was written.
static double loadByte(double slot, int lane) {
  uint64_t bits = llvm::bit_cast<uint64_t>(slot);
  if (!isTagged(slot, kByteTag) || !(bits >> (32 + lane) & 1))
    return poisonValue();
  return static_cast<double>(bits >> (8 * lane) & 0xFF);
}

static void storeByte(double &slot, int lane, double value) {
  uint64_t bits =
      isTagged(slot, kByteTag) ? llvm::bit_cast<uint64_t>(slot) : kByteTag;
  bits &= ~(uint64_t(0xFF) << (8 * lane) | uint64_t(1) << (32 + lane));
  if (value >= 0 && value <= 255)
    bits |= uint64_t(value) << (8 * lane) | uint64_t(1) << (32 + lane);
  slot = llvm::bit_cast<double>(bits);
}

/// The same of halves of a slot, numbers of 16 bits.
static double loadHalf(plan::ElementType type, double slot, int lane) {
  uint64_t bits = llvm::bit_cast<uint64_t>(slot);
  if (!isTagged(slot, kHalfTag) || !(bits >> (32 + lane) & 1))
    return poisonValue();
  return ff::fromNarrow(type, static_cast<uint16_t>(bits >> (16 * lane)));
}

static void storeHalf(plan::ElementType type, double &slot, int lane,
                      double value) {
  uint64_t bits =
      isTagged(slot, kHalfTag) ? llvm::bit_cast<uint64_t>(slot) : kHalfTag;
  bits &= ~(uint64_t(0xFFFF) << (16 * lane) | uint64_t(1) << (32 + lane));
  if (!std::isnan(value))
    bits |= uint64_t(ff::narrowBits(type, value)) << (16 * lane) |
            uint64_t(1) << (32 + lane);
  slot = llvm::bit_cast<double>(bits);
}

/// What the second slot of an eight-byte element holds.
static double checkOf(double value) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  return llvm::bit_cast<double>(kCheckTag | ((bits ^ bits >> 32) & 0xFFFFFFFF));
}

static bool sameBits(double a, double b) {
  return llvm::bit_cast<uint64_t>(a) == llvm::bit_cast<uint64_t>(b);
}

//===----------------------------------------------------------------------===//
// LocalBuffer
//===----------------------------------------------------------------------===//

LocalBuffer::LocalBuffer(BufferOp op, size_t row, double *section)
    : name_(op.getName()), region_(op.regionAt(row)),
      global_(op.getGlobal().begin(), op.getGlobal().end()),
      shape_(region_.shape()), type_(op.elementType()),
      bytes(plan::byteSize(type_)), size_(plan::numElements(shape_)),
      channelsLast(*memoryOrderOf(op.getOrder()) ==
                   plan::MemoryOrder::ChannelsLast) {
  int64_t offset = op.getOffset().at(row)[0];
  slots = section + offset / kSlotBytes;
  skip = offset % kSlotBytes;
}

std::vector<double> LocalBuffer::load() const {
  if (bytes == kSlotBytes)
    return std::vector<double>(slots, slots + size_);
  std::vector<double> values(size_);
  for (int64_t i = 0; i < size_; ++i) {
    if (bytes > kSlotBytes) {
      bool intact = sameBits(slots[2 * i + 1], checkOf(slots[2 * i]));
      values[i] = intact ? slots[2 * i] : poisonValue();
    } else {
      int64_t at = skip + i * bytes;
      const double slot = slots[at / kSlotBytes];
      const int lane = static_cast<int>(at % kSlotBytes / bytes);
      values[i] =
          bytes == 1 ? loadByte(slot, lane) : loadHalf(type_, slot, lane);
    }
  }
  return values;
}

void LocalBuffer::store(llvm::ArrayRef<double> values) const {
  if (bytes == kSlotBytes) {
    std::copy(values.begin(), values.end(), slots);
    return;
  }
  for (int64_t i = 0; i < size_; ++i) {
    if (bytes > kSlotBytes) {
      slots[2 * i] = values[i];
      slots[2 * i + 1] = checkOf(values[i]);
    } else {
      int64_t at = skip + i * bytes;
      double &slot = slots[at / kSlotBytes];
      const int lane = static_cast<int>(at % kSlotBytes / bytes);
      if (bytes == 1)
        storeByte(slot, lane, values[i]);
      else
        storeHalf(type_, slot, lane, values[i]);
    }
  }
}

void LocalBuffer::poison() const {
  if (bytes < kSlotBytes)
    store(std::vector<double>(size_, poisonValue()));
  else
    std::fill_n(slots, size_ * bytes / kSlotBytes, poisonValue());
}

/// Moves the dimension of extent `inner` behind the one of extent `outer`, for
/// each of `count` blocks.
static std::vector<double> transpose(llvm::ArrayRef<double> in, int64_t count,
                                     int64_t inner, int64_t outer) {
  std::vector<double> out(in.size());
  for (int64_t n = 0; n < count; ++n)
    for (int64_t i = 0; i < inner; ++i)
      for (int64_t j = 0; j < outer; ++j)
        out[(n * outer + j) * inner + i] = in[(n * inner + i) * outer + j];
  return out;
}

std::vector<double> LocalBuffer::loadMemoryOrder() const {
  std::vector<double> values = load();
  if (!isPermuted() || values.empty())
    return values;
  int64_t n = shape_[0], c = shape_[1];
  return transpose(values, n, c, size_ / (n * c));
}

void LocalBuffer::storeMemoryOrder(llvm::ArrayRef<double> values) const {
  if (!isPermuted() || values.empty())
    return store(values);
  int64_t n = shape_[0], c = shape_[1];
  store(transpose(values, n, size_ / (n * c), c));
}

//===----------------------------------------------------------------------===//
// Global tensors
//===----------------------------------------------------------------------===//

void rank::forEachRun(
    const plan::Region &region, const plan::Shape &shape,
    llvm::function_ref<void(int64_t, int64_t, int64_t)> body) {
  plan::Shape localShape = region.shape();
  int last = region.rank() - 1;
  for (const plan::Region::Piece &piece : region.pieces()) {
    // The rows of the piece: all its indices with the last one at its start.
    plan::Box rows = piece.box;
    int64_t length = 1;
    if (last >= 0) {
      length = rows[last].size();
      rows[last].hi = rows[last].lo + 1;
    }
    ff::forEachIndex(rows, [&](llvm::ArrayRef<int64_t> index) {
      int64_t local = 0, global = 0;
      for (int d = 0; d <= last; ++d) {
        local =
            local * localShape[d] + index[d] - piece.box[d].lo + piece.at[d];
        global = global * shape[d] + index[d];
      }
      body(local, global, length);
    });
  }
}

Gather::Gather(const plan::Shape &shape)
    : value_{shape, std::vector<double>(plan::numElements(shape))},
      owner(value_.data.size(), -1) {}

/// Equal up to the rounding of sums that replicas may have ordered differently.
static bool agree(double a, double b) {
  return a == b ||
         std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

bool Gather::offer(const LocalBuffer &buffer, int64_t rank,
                   std::string &error) {
  std::vector<double> values = buffer.load();
  forEachRun(
      buffer.region(), buffer.global(),
      [&](int64_t local, int64_t global, int64_t length) {
        for (int64_t i = 0; i < length && error.empty(); ++i) {
          double found = values[local + i];
          double &value = value_.data[global + i];
          int64_t &first = owner[global + i];
          if (std::isnan(found))
            error = llvm::formatv("element {0} in '{1}' on rank {2} is NaN",
                                  global + i, buffer.name(), rank);
          else if (first >= 0 && !agree(found, value))
            error = llvm::formatv(
                "replicas differ: element {0} is {1} on rank {2} and {3} in "
                "'{4}' on rank {5}",
                global + i, value, first, found, buffer.name(), rank);
          if (first < 0) {
            value = found;
            first = rank;
          }
        }
      });
  return error.empty();
}

void Gather::fillMissing(const ff::TensorValue &value) {
  for (size_t i = 0; i < owner.size(); ++i)
    if (owner[i] < 0)
      value_.data[i] = value.data[i];
}

int64_t Gather::firstMissing() const {
  auto missing = std::find(owner.begin(), owner.end(), -1);
  return missing == owner.end() ? -1 : missing - owner.begin();
}
