//===- ReferenceResize.cpp - interpolation in plain loops -----------------===//

#include "ReferenceFamilies.h"
#include "ffc/IR/ResizeTaps.h"

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

using Table = std::vector<SmallVector<ResizeTap, 4>>;

/// The tables of all dimensions of a resize from shape `x` to shape `y`.
static std::vector<Table> tablesOf(const ReferenceCall &call,
                                   const plan::Shape &x, const plan::Shape &y) {
  auto text = [&](llvm::StringRef name) {
    return call.args.getAs<mlir::StringAttr>(name).getValue();
  };
  auto scales = call.reals("scales"), roi = call.reals("roi");
  std::vector<Table> tables;
  for (size_t d = 0, rank = x.size(); d < rank; ++d)
    tables.push_back(
        ResizeDim{x[d], y[d], scales[d], text("coordinates"), text("mode"),
                  text("nearest"), call.f64("cubic_coeff_a"),
                  call.i64("exclude_outside") != 0, roi.empty() ? 0 : roi[d],
                  roi.empty() ? 1 : roi[rank + d], call.i64("antialias") != 0}
            .table());
  return tables;
}

/// Per operand position the result positions it is a part of.
static Table transposed(const Table &table, int64_t extent) {
  Table result(extent);
  for (size_t o = 0; o < table.size(); ++o)
    for (const ResizeTap &tap : table[o])
      result[tap.position].push_back({static_cast<int64_t>(o), tap.weight});
  return result;
}

/// Every element of the tile is the weighted sum of those in its tables.
static void combine(const ReferenceCall &call,
                    const std::vector<Table> &tables) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    plan::Box choices(static_cast<int>(i.size()));
    for (size_t d = 0; d < i.size(); ++d)
      choices[static_cast<int>(d)] = {
          0, static_cast<int64_t>(tables[d][i[d]].size())};
    double sum = 0;
    forEachIndex(choices, [&](ArrayRef<int64_t> choice) {
      double weight = 1;
      SmallVector<int64_t> source;
      for (size_t d = 0; d < i.size(); ++d) {
        const ResizeTap &tap = tables[d][i[d]][choice[d]];
        weight *= tap.weight;
        source.push_back(tap.position);
      }
      sum += weight * call.ins[0].at(source);
    });
    call.outs[0].at(i) = sum;
  });
}

static void resize(const ReferenceCall &call) {
  combine(call, tablesOf(call, call.ins[0].global(), call.outs[0].global()));
}

static void resizeBackward(const ReferenceCall &call) {
  const plan::Shape &x = call.outs[0].global(), &y = call.ins[0].global();
  std::vector<Table> tables = tablesOf(call, x, y);
  for (size_t d = 0; d < x.size(); ++d)
    tables[d] = transposed(tables[d], x[d]);
  combine(call, tables);
}

void ff::registerReferenceResize() {
  registerReference("resize", resize);
  registerReference("resize_backward", resizeBackward);
}
