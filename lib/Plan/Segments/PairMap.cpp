//===- PairMap.cpp - things by two numbers --------------------------------===//

#include "ffc/Plan/PairMap.h"

using namespace ffc::plan;

void PairSlots::place(const Slot &slot) {
  size_t i = slotOf(slot.key);
  while (slots[i].item)
    i = (i + 1) & (slots.size() - 1);
  slots[i] = slot;
}

void PairSlots::insert(uint64_t key, const void *item) {
  if (2 * ++used > slots.size()) {
    std::vector<Slot> old(2 * slots.size());
    old.swap(slots);
    for (const Slot &slot : old)
      if (slot.item)
        place(slot);
  }
  place({key, item});
}
