//===- conv_problem.cpp - the sub-convolution of a tile -------------------===//
#include "cpu/conv_problem.h"

#include "common/check.h"
#include "ffrt/copy.h"

namespace ffrt {

using dnnl::memory;
using Tag = memory::format_tag;

Tensor with_row(const Tensor &t) {
  if (t.rank != 3)
    return t;
  Tensor result = t;
  result.rank = 4;
  result.shape = {t.shape[0], t.shape[1], 1, t.shape[2]};
  result.lo = {t.lo[0], t.lo[1], 0, t.lo[2]};
  result.global = {t.global[0], t.global[1], 1, t.global[2]};
  return result;
}

ConvAttributes::ConvAttributes(const char *kernel, const Tensor &x,
                               const Ints &dilations, int64_t group,
                               const Ints &pads, const Ints &strides)
    : dilations(dilations), pads(pads), strides(strides), group(group) {
  expect(kernel, x.rank >= 3 && x.rank <= 5,
         "x: expected rank 3 to 5, found " + std::to_string(x.rank));
  const std::size_t spatial = std::size_t(x.rank) - 2;
  expect_length(kernel, "dilations", dilations, spatial);
  expect_length(kernel, "pads", pads, 2 * spatial);
  expect_length(kernel, "strides", strides, spatial);
  if (spatial > 1)
    return;
  this->dilations.insert(this->dilations.begin(), 1);
  this->strides.insert(this->strides.begin(), 1);
  this->pads = {0, pads[0], 0, pads[1]};
}

Part::Part(const Tensor &whole, const std::array<Rows, 3> &rows) : part(whole) {
  for (int d = 2; d < whole.rank; ++d) {
    at[d] = rows[std::size_t(d - 2)].begin - whole.lo[d];
    part.shape[d] = rows[std::size_t(d - 2)].size();
    same &= part.shape[d] == whole.shape[d];
  }
  if (!same) {
    scratch.resize(std::size_t(part.elements()));
    part.data = scratch.data();
  }
  converted = Converted(desc());
}

memory::desc Part::desc() const {
  memory::dims dims(part.shape.v, part.shape.v + part.rank);
  const bool last = part.order == Order::channels_last;
  return {dims, data_type(part.type),
          part.rank == 4 ? (last ? Tag::nhwc : Tag::nchw)
                         : (last ? Tag::ndhwc : Tag::ncdhw)};
}

void Part::convert(const memory::desc &chosen, Converted::Direction direction,
                   int slot) {
  converted = Converted(desc(), chosen, direction, slot);
}

void Part::read(const Tensor &whole) {
  if (!same)
    copy(part, {}, whole, at, part.shape);
  prepare(whole);
  converted.convert();
}

void Part::prepare(const Tensor &whole) {
  converted.point(same ? whole.data : part.data);
}

void Part::write(const Tensor &whole) {
  converted.convert();
  if (same)
    return;
  fill(whole, 0.0f);
  copy(whole, at, part, {}, part.shape);
}

ConvProblem::ConvProblem(const char *kernel, const Tensor &x, const Tensor &w,
                         const Tensor &y, bool backward,
                         const ConvAttributes &attributes)
    : spatial(x.rank - 2), groups(1) {
  expect_rank(kernel, "w", w, x.rank);
  expect_rank(kernel, "y", y, x.rank);
  expect_row_major(kernel, "w", w);
  nothing = x.elements() == 0 || y.elements() == 0 || w.elements() == 0;
  if (!nothing) {
    groups = x.shape[1] / w.shape[1];
    expect(kernel,
           groups >= 1 && groups <= attributes.group &&
               groups * w.shape[1] == x.shape[1],
           "x: expected a multiple of " + std::to_string(w.shape[1]) +
               " channels and at most " + std::to_string(attributes.group) +
               " groups, found " + std::to_string(x.shape[1]) + " channels");
    expect(kernel, w.shape[0] == y.shape[1] && w.shape[0] % groups == 0,
           "y: expected " + std::to_string(w.shape[0]) +
               " channels, a multiple of " + std::to_string(groups) +
               " groups, found " + std::to_string(y.shape[1]));
  }
  for (int i = 0; i < spatial; ++i) {
    const std::size_t d = std::size_t(i);
    const ConvAxis axis{w.shape[i + 2], attributes.strides[d],
                        attributes.dilations[d], attributes.pads[d]};
    auto rows_of = [&](const Tensor &t) -> Rows {
      return {t.lo[i + 2], t.lo[i + 2] + t.shape[i + 2]};
    };
    AxisPlan plan =
        (backward ? plan_backward : plan_forward)(axis, rows_of(x), rows_of(y));
    nothing |= plan.in.empty() || plan.out.empty();
    in[d] = plan.in;
    out[d] = plan.out;
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    pads_begin.push_back(plan.pad_begin);
    pads_end.push_back(plan.pad_end);
  }
}

bool ConvProblem::wants_blocks(const Tensor &w, const Tensor &dy) const {
  return spatial == 2 && groups == 1 && dy.order == Order::channels_last &&
         dy.shape[1] % 512 == 0 && w.shape[2] > 1 && w.shape[3] > 1 &&
         strides[0] == 1 && strides[1] == 1;
}

memory::desc ConvProblem::weights(const Tensor &w, bool any) const {
  memory::dims dims(w.shape.v, w.shape.v + w.rank);
  if (groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  Tag plain = spatial == 2 ? (groups > 1 ? Tag::goihw : Tag::oihw)
                           : (groups > 1 ? Tag::goidhw : Tag::oidhw);
  return {dims, data_type(w.type), any ? Tag::any : plain};
}

} // namespace ffrt
