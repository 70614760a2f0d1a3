//===- RankDialect.td - the per-rank program dialect -------*- tablegen -*-===//

#ifndef FFC_IR_RANKDIALECT_TD
#define FFC_IR_RANKDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def RankDialect : Dialect {
  let name = "rank";
  let cppNamespace = "::ffc::rank";
  let summary = "the programs of all ranks, one function per rank class";
  let description = [{
    The second of the two levels of the compiler, a rendering of
    `ffc::plan::Program`:

        ff --plan--> ffc::plan::Program --lower--> rank --print--> C++
                                                        --evaluate--> values

    Ranks with the same sequence of actions on the same kinds of buffers form a
    *class* and share one `rank.func`; numbers that differ between them
    (offsets, regions, peers) are `#rank.per` attributes with one row per rank
    of the class, in the order of the function's `ranks`. Operators map one to
    one to runtime calls, so that the printer in lib/Codegen and the evaluator
    of lib/IR need no knowledge of operators.

    A buffer stands for memory, not for a value: operators read and write it in
    the order of the function. Communication is asynchronous and gives an event
    to wait for.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class Rank_Attr<string name, string attrMnemonic> : AttrDef<RankDialect, name> {
  let mnemonic = attrMnemonic;
}

def Rank_PerAttr : Rank_Attr<"Per", "per"> {
  let summary = "integers that may differ between the ranks of a class";
  let description = [{
    One row for all ranks, or one row per rank of the class. Rows may differ in
    length.

    ```mlir
    #rank.per<[8, 3, 227, 227]>
    #rank.per<[0, 14], [13, 27]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isUniform() const { return getRows().size() == 1; }
    /// Integers of the class's `i`-th rank.
    ::llvm::ArrayRef<int64_t> at(size_t i) const {
      return getRows()[isUniform() ? 0 : i].asArrayRef();
    }
  }];
}

def Rank_BufferType : TypeDef<RankDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a dense local tensor at a fixed place in memory";
  let description = [{
    The element type is f32, f64, bf16, f16, i32, i64, ui8 or i1; an i1
    takes one byte.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def Rank_EventType : TypeDef<RankDialect, "Event"> {
  let mnemonic = "event";
  let summary = "completion of a queued communication";
}

#endif // FFC_IR_RANKDIALECT_TD
