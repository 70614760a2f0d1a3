//===- initial.h - first contents of state values ---------------*- C++ -*-===//
#ifndef FFRT_COMMON_INITIAL_H
#define FFRT_COMMON_INITIAL_H

#include "common/checkpoint/saved_values.h"
#include "common/program/weights_file.h"
#include "ffrt/program.h"

#include <vector>

namespace ffrt {

/// What an earlier run, or somebody else, has left.
struct Saved {
  const SavedValues *values = nullptr; ///< null: nothing
  bool all = false; ///< that is_saved(), else parameters only
};

/// Fills all slots. The weights file is opened only when a slot needs it.
/// Element e (global, row-major) of a random slot uses the words of philox.h at
/// step 0: uniform one word, (2u - 1) * value; normal by Box-Muller from the
/// words 2p and 2p + 1 of its counter, p = (e mod 4) / 2, the cosine for even e
/// and the sine for odd. Slots are f32 unless their values are constant or come
/// from the file. Throws Error naming the slot.
///
/// What `saved` has is taken from there instead; all else begins as usual.
///
/// Copies and running means (StateSlot::of) are filled as what they are of, and
/// rounded, unless a running mean was saved itself.
void initialise(const std::vector<StateSlot> &slots, uint64_t seed,
                const WeightsPlace &weights, const Saved &saved = {});
/// The same for one slot in the host's memory.
void initialise_on_host(const StateSlot &slot, uint64_t seed,
                        const WeightsPlace &weights, const Saved &saved);

} // namespace ffrt

#endif // FFRT_COMMON_INITIAL_H
