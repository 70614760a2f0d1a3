//===- embedding.cu - rows of tables by indices ---------------------------===//
//
// What is added up is sorted by row first, so that it is added in the order of
// the indices, whatever the number of blocks. Models have dozens of tables:
// kernels of the same kind that follow each other start together.
//
//===----------------------------------------------------------------------===//
#include "ffrt/embedding.h"

#include "common/kernels/check.h"
#include "common/optimizer/update_rules.h"
#include "cuda/indexing/table_rows.h"
#include "cuda/kernels/reduce_block.h"
#include "ffrt/cuda/chunks.h"
#include "ffrt/cuda/footprint.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

using cuda::Keyed;
using cuda::kPiece;
using cuda::Lookups;
using cuda::Scalars;
using cuda::SortedLookups;
using cuda::Table;

namespace {

/// Tables of one launch.
struct Batch {
  static constexpr int kMost =
      int((cuda::kParameterBytes - 192) /
          (sizeof(Lookups) + sizeof(SortedLookups) + 2 * sizeof(int)));

  cuda::Chunks<kMost> rows, pieces; ///< one, or kPiece, lookups each
  Lookups lookups[kMost];
  SortedLookups sorted[kMost];

  void clear() {
    rows.clear();
    pieces.clear();
  }
  void add(const Lookups &l) {
    lookups[rows.arrays()] = l;
    rows.add_chunks(l.count);
    pieces.add_chunks(l.count / kPiece);
  }
  /// Of threads, for rows by columns.
  dim3 block() const {
    int64_t width = 0;
    for (int t = 0; t < rows.arrays(); ++t)
      width = std::max(width, lookups[t].table.width);
    return cuda::row_block(width, 4);
  }
};

/// Scratch memory of a table's lookups, in Keyed: twice what is sorted if it is
/// more than a tile, and the pieces.
int64_t scratch_of(int64_t count, int64_t width) {
  const int64_t sorted = count <= cuda::kSortTile ? count : 2 * count;
  return sorted + (count / kPiece * width + 1) / 2;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

__global__ void __launch_bounds__(cuda::kRowThreads)
    look_up_kernel(const __grid_constant__ Batch batch) {
  for (int64_t i = cuda::first_row(); i < batch.rows.total();
       i += cuda::row_step()) {
    const int which = batch.rows.array_of(int(i));
    const Lookups &l = batch.lookups[which];
    const int64_t at = i - batch.rows.begin(which), row = l.row_of(at),
                  width = l.table.width;
    const bool is_there = row < l.table.rows;
    for (int64_t c = threadIdx.x; c < width; c += blockDim.x)
      l.to[at * width + c] = is_there ? l.from[row * width + c] : 0.0f;
  }
}

/// A block for every table, whose lookups are one tile.
__global__ void sort_tables_kernel(const __grid_constant__ Batch batch) {
  const Lookups &l = batch.lookups[blockIdx.x];
  cuda::sort_tile([&](int64_t i) { return l.row_of(i); }, 0, l.count,
                  cuda::sort_tile_for(l.count),
                  batch.sorted[blockIdx.x].sorted);
}

__global__ void __launch_bounds__(cuda::kRowThreads)
    pieces_kernel(const __grid_constant__ Batch batch) {
  for (int64_t i = cuda::first_row(); i < batch.pieces.total();
       i += cuda::row_step()) {
    const int which = batch.pieces.array_of(int(i));
    batch.sorted[which].add_piece(i - batch.pieces.begin(which),
                                  batch.lookups[which].table.rows);
  }
}

template <class Rule>
__global__ void __launch_bounds__(cuda::kRowThreads)
    rows_kernel(const __grid_constant__ Batch batch, Rule rule) {
  for (int64_t i = cuda::first_row(); i < batch.rows.total();
       i += cuda::row_step()) {
    const int which = batch.rows.array_of(int(i));
    const Lookups &l = batch.lookups[which];
    const float scale = rules::value_or(l.scale, 1);
    if (is_finite(scale))
      batch.sorted[which].for_row(
          i - batch.rows.begin(which), l.table.rows,
          [&](int64_t at, float sum) { rule(l, at, scale, sum); });
  }
}

/// Zeros in all that is written.
__global__ void
clear_kernel(const __grid_constant__ Batch batch,
             const __grid_constant__ cuda::Chunks<Batch::kMost> chunks) {
  const cuda::Group<float> zeros{};
  for (int chunk = int(blockIdx.x); chunk < chunks.total();
       chunk += int(gridDim.x)) {
    const int which = chunks.array_of(chunk);
    const Lookups &l = batch.lookups[which];
    chunks.for_spans(
        chunk, which, l.table.rows * l.table.width,
        uintptr_t(l.to) % sizeof zeros == 0,
        [&](const cuda::Span &span) { cuda::write(l.to, span, zeros); });
  }
}

//===----------------------------------------------------------------------===//
// Rules: what becomes of an element of the table
//===----------------------------------------------------------------------===//

struct Store {
  static constexpr bool kClears = true;
  bool operator==(const Store &) const { return true; }
  __device__ void operator()(const Lookups &l, int64_t i, float scale,
                             float g) const {
    l.to[i] = scale * g;
  }
};

/// To what is there.
struct Add {
  static constexpr bool kClears = false;
  bool operator==(const Add &) const { return true; }
  __device__ void operator()(const Lookups &l, int64_t i, float scale,
                             float g) const {
    l.to[i] += scale * g;
  }
};

/// Updates of rows by a rule, with a slot or without.
template <class Rule> struct UpdateRow {
  static constexpr bool kClears = false;
  Rule rule;
  const Scalars *now;
  float share; ///< of the learning rate
  bool operator==(const UpdateRow &o) const {
    return rule == o.rule && share == o.share;
  }
  __device__ void operator()(const Lookups &l, int64_t i, float scale,
                             float g) const {
    const rules::RatesOfRows by{now->learning_rate * share};
    if constexpr (Rule::kSlots == 0)
      rule(by, scale, g, l.to[i]);
    else
      rule(by, scale, g, l.to[i], l.slot[i]);
  }
};

//===----------------------------------------------------------------------===//
// What starts together
//===----------------------------------------------------------------------===//

/// Lookups of i32 or i64 indices, in floats.
int64_t words(const Lookups &l) { return l.count * (l.is_long ? 2 : 1); }

const float *indices_of(const Lookups &l) {
  return static_cast<const float *>(l.indices);
}

class LookUpQueue final : public cuda::Deferred {
public:
  void add(const Lookups &l) {
    if (l.count == 0)
      return;
    const cuda::Footprint::Task task{
        {{indices_of(l), words(l)}, {l.from, l.table.rows * l.table.width}},
        {{l.to, l.count * l.table.width}}};
    if (!cuda::device().has_deferred(*this) || batch.rows.full() ||
        !footprint.allows(task))
      cuda::device().defer(*this);
    batch.add(l);
    footprint.add(task);
  }

  void start() override {
    const dim3 block = batch.block();
    cuda::launch(cuda::blocks_for_rows(batch.rows.total(), block), block,
                 look_up_kernel, batch);
    batch.clear();
    footprint.clear();
  }

private:
  Batch batch;
  cuda::Footprint footprint;
};

/// More lookups than a tile.
Keyed *sort_large(const Lookups &l, Keyed *scratch) {
  return cuda::sort_by_key(
      l.count, scratch, FFRT_LAMBDA(int64_t i) { return l.row_of(i); });
}

/// Gradients that are given to rows. Tables with more than a tile of lookups
/// are alone.
template <class Rule> class RowsQueue final : public cuda::Deferred {
public:
  void add(const Rule &with, const Lookups &l) {
    const int64_t elements = l.table.rows * l.table.width;
    const cuda::Footprint::Task task{{{indices_of(l), words(l)},
                                      {l.from, l.count * l.table.width},
                                      {l.scale, 1}},
                                     {{l.to, elements}, {l.slot, elements}}};
    const int64_t size = scratch_of(l.count, l.table.width);
    if (!cuda::device().has_deferred(*this) || !(rule == with) ||
        batch.rows.full() || l.count > cuda::kSortTile || is_large ||
        (used + size) * int64_t(sizeof(Keyed)) >
            int64_t(cuda::device().scratch_bytes()) ||
        !footprint.allows(task)) {
      cuda::device().defer(*this);
      rule = with;
    }
    is_large = l.count > cuda::kSortTile;
    used += size;
    batch.add(l);
    footprint.add(task);
  }

  void start() override {
    if (Rule::kClears)
      clear();
    place();
    if (batch.rows.total() > 0) {
      sort();
      const dim3 block = batch.block();
      if (batch.pieces.total() > 0)
        cuda::launch(cuda::blocks_for_rows(batch.pieces.total(), block), block,
                     pieces_kernel, batch);
      cuda::launch(cuda::blocks_for_rows(batch.rows.total(), block), block,
                   rows_kernel<Rule>, batch, rule);
    }
    batch.clear();
    footprint.clear();
    used = 0;
    is_large = false;
  }

private:
  static_assert(sizeof(Batch) + sizeof(cuda::Chunks<Batch::kMost>) +
                    sizeof(Rule) <=
                cuda::kParameterBytes);

  void clear() {
    cuda::Chunks<Batch::kMost> chunks;
    for (int t = 0; t < batch.rows.arrays(); ++t)
      chunks.add(batch.lookups[t].table.rows * batch.lookups[t].table.width);
    if (chunks.total() > 0)
      cuda::launch(cuda::blocks_for(chunks.total(), 1), cuda::kThreads,
                   clear_kernel, batch, chunks);
  }

  /// Where in scratch memory.
  void place() {
    auto *next = cuda::device().scratch<Keyed>();
    for (int t = 0; t < batch.rows.arrays(); ++t) {
      const Lookups &l = batch.lookups[t];
      const int64_t size = scratch_of(l.count, l.table.width),
                    pieces = (l.count / kPiece * l.table.width + 1) / 2;
      batch.sorted[t] = {next, reinterpret_cast<float *>(next + size - pieces),
                         l.count, l.table.width, l.from};
      next += size;
    }
  }

  void sort() {
    if (is_large) {
      const Lookups l = batch.lookups[0];
      batch.sorted[0].sorted = sort_large(l, batch.sorted[0].sorted);
      return;
    }
    int64_t most = 0;
    for (int t = 0; t < batch.rows.arrays(); ++t)
      most = std::max(most, batch.lookups[t].count);
    cuda::launch(batch.rows.arrays(), cuda::sort_tile_for(most) / 2,
                 sort_tables_kernel, batch);
  }

  Batch batch;
  Rule rule;
  cuda::Footprint footprint;
  int64_t used = 0;
  bool is_large = false;
};

template <class Rule> void give_to_rows(const Rule &rule, const Lookups &l) {
  static RowsQueue<Rule> queue;
  queue.add(rule, l);
}

/// Checks, and scratch memory for as many such tables as a launch has.
void reserve(const char *kernel, const Tensor &table, const Tensor &indices) {
  const int64_t n = indices.elements();
  for (int64_t numbers : {table.shape[0], n})
    expect(kernel, numbers < cuda::kKeys,
           "expected fewer than 2^31 - 1 rows and indices, found " +
               std::to_string(numbers));
  const int64_t tables = n <= cuda::kSortTile ? Batch::kMost : 1;
  cuda::device().reserve(std::size_t(tables * scratch_of(n, table.shape[1])) *
                         sizeof(Keyed));
}

} // namespace

//===----------------------------------------------------------------------===//
// Lookup and gradient
//===----------------------------------------------------------------------===//

void EmbeddingForward::operator()(Tensors in, Tensors out) {
  static LookUpQueue queue;
  const Tensor &table = in.begin()[0];
  queue.add({Table(table, "embedding forward: expected indices"), in.begin()[1],
             table.as<float>(), out.begin()->as<float>()});
}

EmbeddingBackward::EmbeddingBackward(Context &, Tensors in, Tensors out) {
  check_embedding_backward("embedding backward", in, out);
  reserve("embedding backward", out.begin()[0], in.begin()[0]);
}

void EmbeddingBackward::operator()(Tensors in, Tensors out) {
  const Tensor &table = out.begin()[0];
  const Lookups lookups = {Table(table, "embedding backward: expected indices"),
                           in.begin()[0], in.begin()[1].as<float>(),
                           table.as<float>()};
  if (table.accumulates)
    give_to_rows(Add(), lookups);
  else
    give_to_rows(Store(), lookups);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

SgdUpdateRows::SgdUpdateRows(Context &cx, Tensors in, Tensors out) : cx(cx) {
  check_row_update("sgd update rows", in, out, 0);
  reserve("sgd update rows", in.begin()[0], in.begin()[1]);
}

void SgdUpdateRows::operator()(Tensors in, Tensors) {
  const Tensor &table = in.begin()[0];
  give_to_rows(UpdateRow<rules::Sgd>{{},
                                     cuda::device().scalars(cx),
                                     share_of("sgd update rows", cx, table)},
               {Table(table, "sgd update rows: expected indices"),
                in.begin()[1], in.begin()[2].as<float>(), table.as<float>(),
                nullptr, in.begin()[3].as<float>()});
}

struct AdagradUpdateRows::Plan {};

AdagradUpdateRows::AdagradUpdateRows(Context &cx, Tensors in, Tensors out,
                                     double epsilon)
    : cx(cx), epsilon(float(epsilon)) {
  check_row_update("adagrad update rows", in, out, 1);
  reserve("adagrad update rows", in.begin()[0], in.begin()[1]);
}

void AdagradUpdateRows::operator()(Tensors in, Tensors) {
  const Tensor &table = in.begin()[0];
  give_to_rows(
      UpdateRow<rules::Adagrad>{rules::Adagrad(epsilon),
                                cuda::device().scalars(cx),
                                share_of("adagrad update rows", cx, table)},
      {Table(table, "adagrad update rows: expected indices"), in.begin()[1],
       in.begin()[2].as<float>(), table.as<float>(), in.begin()[4].as<float>(),
       in.begin()[3].as<float>()});
}

} // namespace ffrt
