//===- ReferenceKernel.cpp - kernels in plain loops -----------------------===//

#include "ffc/IR/ReferenceKernel.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

View::View(double *data, plan::Region region, plan::Shape global)
    : data(data), region_(std::move(region)), global_(std::move(global)) {
  assert(region_.rank() == rank() && "region of another rank");
  plan::Shape shape = region_.shape();
  int64_t stride = 1;
  for (int d = rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
    if (!region_.dim(d).empty())
      first_[d] = *region_.dim(d).begin();
  }
}

double &View::atBehindFirst(ArrayRef<int64_t> index) const {
  int64_t offset = 0;
  for (int d = 0; d < rank(); ++d) {
    // Packed: the intervals of a dimension lie one after the other.
    int64_t before = 0;
    bool found = false;
    for (plan::Interval interval : region_.dim(d)) {
      if (index[d] >= interval.lo && index[d] < interval.hi) {
        offset += (before + index[d] - interval.lo) * strides[d];
        found = true;
        break;
      }
      before += interval.size();
    }
    if (!found)
      return fail(index);
  }
  return data[offset];
}

double &View::fail(ArrayRef<int64_t> index) const {
  if (fault_.empty()) {
    llvm::raw_string_ostream os(fault_);
    os << "element [";
    llvm::interleaveComma(index, os);
    os << "]";
  }
  dummy = 0;
  return dummy;
}

//===----------------------------------------------------------------------===//
// ReferenceCall
//===----------------------------------------------------------------------===//

int64_t ReferenceCall::i64(StringRef name) const {
  return args.getAs<IntegerAttr>(name).getInt();
}

double ReferenceCall::f64(StringRef name) const {
  return args.getAs<FloatAttr>(name).getValueAsDouble();
}

ArrayRef<int64_t> ReferenceCall::ints(StringRef name) const {
  return args.getAs<DenseI64ArrayAttr>(name).asArrayRef();
}
ArrayRef<double> ReferenceCall::reals(StringRef name) const {
  return args.getAs<DenseF64ArrayAttr>(name).asArrayRef();
}
double ReferenceCall::clamped(double value) const {
  ArrayRef<double> bounds = reals("clamp");
  if (!bounds.empty())
    value = value < bounds[0] ? bounds[0] : value;
  if (bounds.size() > 1)
    value = value > bounds[1] ? bounds[1] : value;
  return value;
}
