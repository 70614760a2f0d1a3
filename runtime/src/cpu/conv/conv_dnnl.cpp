//===- conv_dnnl.cpp - the sub-convolution of a tile for oneDNN -----------===//
#include "cpu/conv/conv_dnnl.h"

#include "ffrt/copy.h"

namespace ffrt {

using dnnl::memory;
using Tag = memory::format_tag;

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

memory::dims dilations_of(const ConvProblem &problem) {
  memory::dims result = problem.dilations;
  for (int64_t &dilation : result)
    --dilation;
  return result;
}

memory::desc weights_of(const ConvProblem &problem, const Tensor &w, bool any) {
  const int64_t groups = problem.groups;
  memory::dims dims(w.shape.v, w.shape.v + w.rank);
  if (groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  Tag plain = problem.spatial == 2 ? (groups > 1 ? Tag::goihw : Tag::oihw)
                                   : (groups > 1 ? Tag::goidhw : Tag::oidhw);
  return {dims, data_type(w.type), any ? Tag::any : plain};
}

bool wants_blocks(const ConvProblem &problem, const Tensor &w,
                  const Tensor &dy) {
  return problem.spatial == 2 && problem.groups == 1 &&
         dy.order == Order::channels_last && dy.shape[1] % 512 == 0 &&
         w.shape[2] > 1 && w.shape[3] > 1 && problem.strides[0] == 1 &&
         problem.strides[1] == 1;
}

} // namespace ffrt
