//===- Units.h - quantities with units --------------------------*- C++ -*-===//
//
// Quantities as people write them in topology files ("450 GB/s", "2 us").
// Inside the planner all of them are plain numbers in one base unit per kind:
// bytes, bytes per second, flops per second, picoseconds.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_UNITS_H
#define FFC_PLAN_UNITS_H

#include <cstdint>
#include <optional>
#include <string>

namespace ffc::plan {

using Picoseconds = int64_t;

enum class QuantityKind {
  Bytes,          ///< "141 GB", "64 GiB"
  BytesPerSecond, ///< "450 GB/s", "400 Gbit/s"
  FlopsPerSecond, ///< "60 TFLOP/s"
  Time,           ///< "2 us"; in picoseconds
};

/// The value of `text`, a decimal number and a unit, in the base unit of
/// `kind`. Prefixes k, M, G, T, P are decimal (K as k), Ki, Mi, Gi, Ti, Pi
/// binary; eight `bit` are one `B`. Space between number and unit is optional.
/// Finite, at most 1e18 in the base unit, negative if so written. On failure
/// returns nothing and sets `error` to what was expected and found.
std::optional<double> parseQuantity(const std::string &text, QuantityKind kind,
                                    std::string &error);

/// The inverse without loss: the shortest decimal number that reads back as
/// `value`, in the largest prefix that keeps it at 1 or more ("450 GB/s").
std::string formatQuantity(double value, QuantityKind kind);

} // namespace ffc::plan

#endif // FFC_PLAN_UNITS_H
