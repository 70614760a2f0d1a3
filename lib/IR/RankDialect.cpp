//===- RankDialect.cpp - the per-rank program dialect ---------------------===//

#include "ffc/IR/Rank.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank;

#include "ffc/IR/RankOpsDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ffc/IR/RankOpsAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ffc/IR/RankOpsTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ffc/IR/RankOps.cpp.inc"

void RankDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ffc/IR/RankOpsAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ffc/IR/RankOpsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ffc/IR/RankOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #rank.per
//===----------------------------------------------------------------------===//

Attribute PerAttr::parse(AsmParser &parser, Type) {
  SmallVector<DenseI64ArrayAttr> rows;
  auto parseRow = [&]() -> ParseResult {
    SmallVector<int64_t> row;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(row.emplace_back());
        }))
      return failure();
    rows.push_back(DenseI64ArrayAttr::get(parser.getContext(), row));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseRow))
    return {};
  return parser.getChecked<PerAttr>(parser.getContext(), rows);
}

void PerAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getRows(), printer.getStream(), [&](auto row) {
    printer << '[';
    llvm::interleaveComma(row.asArrayRef(), printer.getStream());
    printer << ']';
  });
  printer << '>';
}

LogicalResult
PerAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<DenseI64ArrayAttr> rows) {
  if (rows.empty())
    return emitError() << "expected at least one row of integers";
  return success();
}

PerAttr rank::foldRows(MLIRContext *context, ArrayRef<DenseI64ArrayAttr> rows) {
  return PerAttr::get(context,
                      llvm::all_equal(rows) ? rows.take_front() : rows);
}

//===----------------------------------------------------------------------===//
// Reductions and element types
//===----------------------------------------------------------------------===//

StringRef rank::wordOf(plan::Reduction reduction) {
  switch (reduction) {
  case plan::Reduction::None:
    return "none";
  case plan::Reduction::Sum:
    return "sum";
  case plan::Reduction::Max:
    return "max";
  }
  llvm_unreachable("unknown reduction");
}

StringRef rank::wordOf(plan::MemoryOrder order) {
  switch (order) {
  case plan::MemoryOrder::RowMajor:
    return "row_major";
  case plan::MemoryOrder::ChannelsLast:
    return "channels_last";
  case plan::MemoryOrder::Pitched:
    return "pitched";
  case plan::MemoryOrder::Follow:
    break; // of accesses only
  }
  llvm_unreachable("a buffer has an order of its own");
}

std::optional<plan::MemoryOrder> rank::memoryOrderOf(StringRef word) {
  for (auto order :
       {plan::MemoryOrder::RowMajor, plan::MemoryOrder::ChannelsLast,
        plan::MemoryOrder::Pitched})
    if (word == wordOf(order))
      return order;
  return std::nullopt;
}

plan::Reduction rank::reductionOf(StringRef word) {
  return word == "sum"   ? plan::Reduction::Sum
         : word == "max" ? plan::Reduction::Max
                         : plan::Reduction::None;
}

plan::CollectiveKind rank::collectiveKindOf(StringRef word) {
  using Kind = plan::CollectiveKind;
  for (Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter})
    if (word == plan::str(kind))
      return kind;
  return Kind::Broadcast;
}

plan::CollectiveAlgorithm rank::algorithmOf(StringRef word) {
  for (plan::CollectiveAlgorithm algorithm : plan::kCollectiveAlgorithms)
    if (word == plan::str(algorithm))
      return algorithm;
  llvm_unreachable("unknown algorithm");
}

Type rank::typeOf(plan::ElementType type, MLIRContext *context) {
  switch (type) {
  case plan::ElementType::F32:
    return Float32Type::get(context);
  case plan::ElementType::F64:
    return Float64Type::get(context);
  case plan::ElementType::I32:
    return IntegerType::get(context, 32);
  case plan::ElementType::I64:
    return IntegerType::get(context, 64);
  case plan::ElementType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case plan::ElementType::Bool:
    return IntegerType::get(context, 1);
  case plan::ElementType::BF16:
    return BFloat16Type::get(context);
  case plan::ElementType::F16:
    return Float16Type::get(context);
  }
  llvm_unreachable("unknown element type");
}

std::optional<plan::ElementType> rank::elementTypeOf(Type type) {
  if (type.isF32())
    return plan::ElementType::F32;
  if (type.isF64())
    return plan::ElementType::F64;
  if (type.isSignlessInteger(32))
    return plan::ElementType::I32;
  if (type.isSignlessInteger(64))
    return plan::ElementType::I64;
  if (type.isUnsignedInteger(8))
    return plan::ElementType::U8;
  if (type.isSignlessInteger(1))
    return plan::ElementType::Bool;
  if (type.isBF16())
    return plan::ElementType::BF16;
  if (type.isF16())
    return plan::ElementType::F16;
  return std::nullopt;
}

LogicalResult
BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   Type elementType) {
  if (!elementTypeOf(elementType))
    return emitError()
           << "expected an element type f32, f64, bf16, f16, i32, i64, ui8 or "
              "i1, found "
           << elementType;
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

SmallVector<int64_t> rank::encodeRegion(const plan::Region &region) {
  SmallVector<int64_t> row;
  for (int d = 0; d < region.rank(); ++d) {
    row.push_back(region.dim(d).size());
    for (plan::Interval interval : region.dim(d)) {
      row.push_back(interval.lo);
      row.push_back(interval.hi);
    }
  }
  return row;
}

std::optional<plan::Region> rank::decodeRegion(ArrayRef<int64_t> row,
                                               size_t rank) {
  if (rank > plan::kMaxRank)
    return std::nullopt;
  std::vector<std::vector<plan::Interval>> dims(rank);
  for (auto &intervals : dims) {
    if (row.empty() || row.front() < 0 ||
        row.front() > static_cast<int64_t>(row.size() - 1) / 2)
      return std::nullopt;
    size_t count = row.front();
    row = row.drop_front();
    for (; count; --count, row = row.drop_front(2)) {
      plan::Interval interval{row[0], row[1]};
      // Adjacent intervals would be one interval.
      if (interval.empty() ||
          (!intervals.empty() && interval.lo <= intervals.back().hi))
        return std::nullopt;
      intervals.push_back(interval);
    }
  }
  if (!row.empty())
    return std::nullopt;
  return plan::Region(std::move(dims));
}

plan::Region BufferOp::regionAt(size_t i) {
  return *decodeRegion(getRegion().at(i), getGlobal().size());
}

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

plan::ElementType BufferOp::elementType() {
  return *elementTypeOf(getType().getElementType());
}

plan::Tile KernelOp::tileAt(size_t i) {
  ArrayRef<int64_t> row = getTile().at(i);
  plan::Tile tile(static_cast<int>(row.size() / 2));
  for (int d = 0; d < tile.rank(); ++d)
    tile[d] = {row[2 * d], row[2 * d + 1]};
  return tile;
}
