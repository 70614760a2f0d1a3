//===- PathDraw.h - one of several paths, by chance -------------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_PATHDRAW_H
#define FFC_LIB_NETWORK_PATHDRAW_H

#include "ffc/Network/Network.h"

#include <random>

namespace ffc::network {

/// The same seed draws the same paths on every machine.
class PathDraw {
public:
  explicit PathDraw(uint64_t seed) : random(seed) {}

  /// By their shares. Draws only where there is a choice.
  const Path &from(const std::vector<Path> &paths) {
    if (paths.size() > 1) {
      double drawn = static_cast<double>(random() >> 11) * 0x1p-53;
      for (const Path &path : paths)
        if ((drawn -= path.share) < 0)
          return path;
    }
    return paths.back();
  }

private:
  std::mt19937_64 random;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_PATHDRAW_H
