//===- Recipes.h - trying what experts would write --------------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_RECIPES_H
#define FFC_LIB_SEARCH_RECIPES_H

#include "Roles.h"
#include "ffc/Search/Search.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ffc::search {

/// Makes recipes' strategies, times them and keeps those that are worth it: the
/// mechanism of baselines(), whose parameters these are. A recipe says one
/// configuration for every anchor.
class Recipes {
public:
  Recipes(const Space &space, const std::vector<Choice> &pinned,
          const std::vector<int64_t> &room, Walker &walker,
          const std::function<bool(plan::Picoseconds)> &goesOn,
          const std::vector<std::string> &names);

  /// Of an anchor; nothing: it follows, as in a strategy file.
  using ConfigOf =
      std::function<std::optional<plan::Configuration>(plan::OpId)>;

  /// Returns its time, or one that is longer than it may be; 0 if it is not
  /// wanted. What the space does not allow is on
  /// one device. `sharded`: with all options that the space has.
  plan::Picoseconds add(const std::string &name, const ConfigOf &configOf,
                        bool sharded = false);
  /// If updates can be shared, both with and without.
  plan::Picoseconds addWithUpdates(const std::string &name,
                                   const ConfigOf &configOf, bool canShare);

  /// `sizes`, the smallest first, of which addOne(size) adds what belongs to
  /// one, and returns its time, or 0 if that is nothing. Ends early with one
  /// that takes longer than the one before and kHopeless times as long as
  /// something that fits: on many devices the large groups are the ones that
  /// take long to plan. Returns the least time, or 0.
  plan::Picoseconds
  addSeries(const std::vector<int64_t> &sizes,
            const std::function<plan::Picoseconds(int64_t)> &addOne) {
    return addSeries(sizes, kHopeless, addOne);
  }
  /// A series for every outer size, inner(size) long. There are many, so these
  /// end as soon as one takes kSlower times as long.
  plan::Picoseconds
  addSeries(const std::vector<int64_t> &outer,
            const std::function<std::vector<int64_t>(int64_t)> &inner,
            const std::function<plan::Picoseconds(int64_t, int64_t)> &addOne);

  const Space &space() const { return theSpace; }
  const plan::Graph &graph() const { return theSpace.graph(); }
  const Roles &roles() const { return theRoles; }
  int64_t devices() const { return theSpace.numDevices(); }
  /// Is every anchor pinned?
  bool areAllPinned() const;

  /// On the first devices.
  std::optional<plan::Configuration>
  inGrid(plan::OpId op, std::initializer_list<Split> splits) const {
    return gridOf(theSpace, op, splits, 0);
  }
  std::optional<plan::Configuration>
  inTensorGrid(plan::OpId op, const TensorGrid &grid) const {
    return tensorGridOf(theSpace, theRoles, op, grid);
  }
  std::optional<plan::Configuration> dataParallel(plan::OpId op) const {
    return inGrid(op, {{theRoles.sample[op], devices()}});
  }

  std::vector<Baseline> take() { return std::move(result); }

private:
  /// What takes so many times as long as something that fits is no recipe, and
  /// is not planned to its end: of thousands of devices, reshards in which all
  /// have something for all take longer to plan than all else.
  static constexpr plan::Picoseconds kHopeless = 10, kSlower = 2;

  plan::Picoseconds
  addSeries(const std::vector<int64_t> &sizes, plan::Picoseconds hopeless,
            const std::function<plan::Picoseconds(int64_t)> &addOne);
  plan::Picoseconds limitOf(const std::string &name) const;
  Quality quality(const std::string &name);
  plan::Picoseconds bestSoFar() const;
  plan::Picoseconds bestThatFits() const;
  std::vector<Choice> choicesOf(const ConfigOf &configOf, bool sharded) const;
  void note(const std::string &name);

  const Space &theSpace;
  const std::vector<int64_t> &room;
  Walker &walker;
  const std::function<bool(plan::Picoseconds)> &goesOn;
  const std::vector<std::string> &names;
  int tried = 0;
  bool isOver = false; ///< after goesOn said so
  Roles theRoles;
  std::map<plan::OpId, Choice> pins;
  std::vector<Baseline> result;
};

/// "data-parallel", "tensor 4", "tensor 4 x data 2", "tensor 4 x 2 x data 2".
std::string nameOf(const TensorGrid &grid);

/// "1 device", "8 devices".
std::string numberOfDevices(int64_t count);

/// Layers whose parameters are more than their activations, tables above all,
/// on one device each or split by rows and columns; all else data-parallel.
void addTables(Recipes &recipes);

/// Branches of the model on devices of their own, which share their layers or
/// their samples; what they meet in is on 1, 2, ... devices from the largest
/// one's on.
void addBranches(Recipes &recipes);

/// Experts on devices of their own, or several on each, and the rows of each
/// on 1, 2, ... of these. What comes before and behind them follows: where
/// experts get their rows it is divided as they are, elsewhere everybody does
/// all; or is data-parallel on the same devices.
void addExperts(Recipes &recipes);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_RECIPES_H
