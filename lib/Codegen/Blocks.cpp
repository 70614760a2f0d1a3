//===- Blocks.cpp - what follows each other in all sequences --------------===//

#include "Blocks.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace ffc::codegen;

using Item = Blocks::Item;

namespace {

/// What a number has beside it: nothing seen, one number, the sequence's end,
/// or now this and now that.
class Neighbour {
public:
  void see(size_t number) {
    if (seen != number)
      seen = seen == kNothing ? number : kSeveral;
  }
  void seeEnd() { see(kEnd); }
  std::optional<size_t> only() const {
    return seen < kEnd ? std::optional(seen) : std::nullopt;
  }

private:
  static constexpr size_t kNothing = ~size_t(0), kSeveral = kNothing - 1,
                          kEnd = kNothing - 2;
  size_t seen = kNothing;
};

/// Fills in what may be missing. A number that may be is another one before
/// each number that it stands before.
class Filler {
public:
  Filler(const std::vector<bool> &mayMiss,
         llvm::ArrayRef<std::vector<size_t>> sequences)
      : mayMiss(mayMiss), lists(mayMiss.size()) {
    for (size_t number = 0; number < mayMiss.size(); ++number)
      numbers.push_back(number);
    for (const std::vector<size_t> &sequence : sequences)
      forRuns(sequence, [&](size_t first, size_t end) {
        if (end < sequence.size())
          note({sequence.begin() + first, sequence.begin() + end},
               sequence[end]);
      });
    for (const std::vector<size_t> &sequence : sequences)
      filled.push_back(fill(sequence));
  }

  /// With numbers of their own.
  std::vector<std::vector<Item>> filled;
  /// By such a number: the one that it stands for.
  std::vector<size_t> numbers;

private:
  using Run = std::vector<size_t>;

  /// Calls f(first, end) for what may be missing before every other number, and
  /// before the end of the sequence.
  template <class F>
  void forRuns(const std::vector<size_t> &sequence, F &&f) const {
    size_t first = 0;
    for (size_t i = 0; i < sequence.size(); ++i)
      if (!mayMiss[sequence[i]]) {
        f(first, i);
        first = i + 1;
      }
    f(first, sequence.size());
  }

  /// Where in the list of what is filled in before `number` the numbers of
  /// `run` are; they get places there if they have none. What comes in another
  /// order there comes once more.
  std::vector<size_t> note(const Run &run, size_t number) {
    std::vector<size_t> &list = lists[number];
    std::vector<size_t> found;
    auto place = list.begin();
    for (size_t each : run) {
      auto at = std::find_if(place, list.end(), [&](size_t known) {
        return numbers[known] == each;
      });
      if (at == list.end()) {
        at = list.insert(place, numbers.size());
        numbers.push_back(each);
      }
      found.push_back(*at);
      place = std::next(at);
    }
    return found;
  }

  std::vector<Item> fill(const std::vector<size_t> &sequence) {
    std::vector<Item> result;
    forRuns(sequence, [&](size_t first, size_t end) {
      if (end == sequence.size()) {
        for (size_t i = first; i < end; ++i)
          result.push_back(
              {atEnd(sequence[i]), static_cast<std::ptrdiff_t>(i)});
        return;
      }
      const std::vector<size_t> found = note(
          {sequence.begin() + first, sequence.begin() + end}, sequence[end]);
      auto next = found.begin();
      for (size_t each : lists[sequence[end]]) {
        const bool isThere = next != found.end() && *next == each;
        result.push_back(
            {each, isThere ? static_cast<std::ptrdiff_t>(first++) : -1});
        next += isThere;
      }
      result.push_back({sequence[end], static_cast<std::ptrdiff_t>(end)});
    });
    return result;
  }

  /// A number before the end of a sequence, where nothing is filled in.
  size_t atEnd(size_t number) {
    auto [entry, isNew] = ends.try_emplace(number, numbers.size());
    if (isNew)
      numbers.push_back(number);
    return entry->second;
  }

  const std::vector<bool> &mayMiss;
  std::vector<std::vector<size_t>> lists; ///< by number
  std::map<size_t, size_t> ends;
};

} // namespace

Blocks ffc::codegen::blocksOf(const std::vector<bool> &mayMiss,
                              llvm::ArrayRef<std::vector<size_t>> sequences) {
  Filler filler(mayMiss, sequences);
  const size_t count = filler.numbers.size();
  std::vector<Neighbour> before(count), after(count);
  for (const std::vector<Item> &sequence : filler.filled) {
    if (sequence.empty())
      continue;
    before[sequence.front().number].seeEnd();
    after[sequence.back().number].seeEnd();
    for (size_t i = 1; i < sequence.size(); ++i) {
      after[sequence[i - 1].number].see(sequence[i].number);
      before[sequence[i].number].see(sequence[i - 1].number);
    }
  }
  /// What follows a number wherever either of them occurs.
  auto following = [&](size_t number) {
    std::optional<size_t> next = after[number].only();
    if (next && before[*next].only() != number)
      next.reset();
    return next;
  };
  auto isInside = [&](size_t number) {
    const std::optional<size_t> previous = before[number].only();
    return previous && following(*previous) == number;
  };
  Blocks result;
  /// By number: the block that it begins.
  std::map<size_t, size_t> begins;
  for (std::vector<Item> &sequence : filler.filled) {
    std::vector<size_t> &order = result.order.emplace_back();
    for (Item &item : sequence) {
      const size_t number = item.number;
      item.number = filler.numbers[number];
      if (isInside(number))
        continue;
      auto [entry, isNew] = begins.try_emplace(number, result.blocks.size());
      order.push_back(entry->second);
      if (!isNew)
        continue;
      std::vector<size_t> &block = result.blocks.emplace_back();
      for (std::optional<size_t> at = number; at; at = following(*at))
        block.push_back(filler.numbers[*at]);
    }
  }
  result.filled = std::move(filler.filled);
  return result;
}
