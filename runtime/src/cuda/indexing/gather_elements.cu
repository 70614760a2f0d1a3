//===- gather_elements.cu - elements along one dimension ------------------===//
//
// What is added up is added in the order of the indices, whatever the number of
// blocks: by a thread per line, or, where lines are few and long, sorted by the
// element that is added to.
//
//===----------------------------------------------------------------------===//
#include "ffrt/gather_elements.h"

#include "common/indexing/gather_elements.h"
#include "common/kernels/check.h"
#include "cuda/indexing/table_rows.h"
#include "cuda/kernels/walk.h"

namespace ffrt {

namespace {

using cuda::Keyed;
using cuda::kPiece;
using cuda::SortedLookups;

/// So many lines occupy a GPU, and so few indices are soon added up.
constexpr int64_t kManyLines = 16384, kFewIndices = 64;

int64_t elements(const Runs &runs) {
  return runs.blocks * runs.positions * runs.length;
}

bool adds_by_line(const IndexedLines &l) {
  return l.lines() >= kManyLines || l.picked.positions <= kFewIndices;
}

/// In Keyed: those that are sorted, twice, and the sums of pieces.
int64_t scratch_of(int64_t count) { return 2 * count + count / kPiece + 1; }

/// Is the index at element `i` within the axis?
__device__ bool is_within(cuda::Problem *problem, const char *what,
                          const IndexedLines &l, int64_t i) {
  return cuda::expect_within(problem, what, l.index(i), -l.extent, l.extent);
}

void clear(float *to, int64_t n) {
  cuda::for_elements(
      n, FFRT_LAMBDA(int64_t i) { to[i] = 0; });
}

void add_by_line(const IndexedLines &l, const float *dy, float *to) {
  cuda::Problem *problem = cuda::device().problem();
  const char *what = "gather elements backward: expected indices";
  cuda::for_elements(
      l.lines(), FFRT_LAMBDA(int64_t line) {
        const int64_t length = l.picked.length, block = line / length;
        int64_t i = block * l.picked.positions * length + line % length;
        for (int64_t j = 0; j < l.picked.positions; ++j, i += length)
          if (is_within(problem, what, l, i))
            if (const int64_t at = l.named(i); at >= 0)
              to[at] += dy[i];
      });
}

void add_sorted(const IndexedLines &l, const float *dy, float *to) {
  cuda::Problem *problem = cuda::device().problem();
  const char *what = "gather elements backward: expected indices";
  const int64_t count = elements(l.picked), none = elements(l.indexed);
  auto *scratch = cuda::device().scratch<Keyed>();
  SortedLookups found{nullptr, reinterpret_cast<float *>(scratch + 2 * count),
                      count, 1, dy};
  found.sorted = cuda::sort_by_key(
      count, scratch, FFRT_LAMBDA(int64_t i) {
        const int64_t at = is_within(problem, what, l, i) ? l.named(i) : -1;
        return at < 0 ? none : at;
      });
  cuda::for_elements(
      count / kPiece, FFRT_LAMBDA(int64_t piece) {
        const int64_t first = piece * kPiece, end = first + kPiece;
        if (found.row(first) == found.row(end - 1))
          found.pieces[piece] = found.sum(first, end, 0);
      });
  cuda::for_elements(
      count, FFRT_LAMBDA(int64_t i) {
        if (found.row(i) != none && found.begins(i))
          to[found.row(i)] = found.sum_of_row(i, found.end(i), 0);
      });
}

} // namespace

void GatherElements::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &indices = in.begin()[1];
  const IndexedLines l(x, indices, axis);
  cuda::Problem *problem = cuda::device().problem();
  const float *from = x.as<float>();
  float *y = out.begin()[0].as<float>();
  cuda::for_elements(
      indices.elements(), FFRT_LAMBDA(int64_t i) {
        const bool is_there =
            is_within(problem, "gather elements: expected indices", l, i);
        y[i] = is_there ? from[l.named(i)] : 0.0f;
      });
}

void GatherElementsBackward::reserve(const Tensor &dx, const Tensor &indices) {
  if (adds_by_line(IndexedLines(dx, indices, axis)))
    return;
  for (int64_t numbers : {dx.elements(), indices.elements()})
    expect("gather elements backward", numbers < cuda::kKeys,
           "expected fewer than 2^31 - 1 elements and indices, found " +
               std::to_string(numbers));
  cuda::device().reserve(std::size_t(scratch_of(indices.elements())) *
                         sizeof(Keyed));
}

void GatherElementsBackward::operator()(Tensors in, Tensors out) {
  const Tensor &indices = in.begin()[0], &dx = out.begin()[0];
  const IndexedLines l(dx, indices, axis);
  const float *dy = in.begin()[1].as<float>();
  float *to = dx.as<float>();
  clear(to, dx.elements());
  if (adds_by_line(l))
    add_by_line(l, dy, to);
  else
    add_sorted(l, dy, to);
}

} // namespace ffrt
