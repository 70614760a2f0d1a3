//===- FFDialect.td - the training graph dialect -----------*- tablegen -*-===//

#ifndef FFC_IR_FFDIALECT_TD
#define FFC_IR_FFDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def FFDialect : Dialect {
  let name = "ff";
  let cppNamespace = "::ffc::ff";
  let summary = "operator graphs on global, statically shaped tensors";
  let description = [{
    The first of the two levels of the compiler:

        ONNX --import--> ff (forward) --differentiate--> ff (training step)
             --plan--> ffc::plan::Program --lower--> rank --print--> C++

    A module holds one `func.func @main` without results. Its arguments are the
    graph inputs of one step (attribute `ff.name`); `ff.state` reads
    loop-carried state, `ff.store` writes it back, `ff.output` names what leaves
    the step. All tensors are global and statically shaped. Weights are not in
    the IR: a state names a range of the side file.

    Locations are `NameLoc`s with the ONNX node's name, unique among forward
    operators. Discardable attributes carried by operators:

      * `ff.config` (`#ff.config<...>`): how the operator is split;
      * `ff.owner` (string): name of the forward operator that a gradient or
        update operator belongs to;
      * `ff.carry` (two integers): the slots of the owner and of this operator
        through which the owner's configuration carries over; absent: by the
        names of dimensions;
      * `ff.role` (string): "loss", "gradient" or "update"; absent: forward;
      * `ff.aliases` (strings): names of the ONNX node's outputs.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

class FF_Attr<string name, string attrMnemonic>
    : AttrDef<FFDialect, name> {
  let mnemonic = attrMnemonic;
}

def FF_ConfigAttr : FF_Attr<"Config", "config"> {
  let summary = "how an operator's iteration space is split, and where";
  let description = [{
    Degrees over named iteration dimensions, or `replica`, and a device per grid
    point in row-major order, the last dimension fastest. Where blocks are not
    equally large, their shares stand for the degree (plan::GridAxis::shares):

    ```mlir
    #ff.config<grid = {n = 2, h = 3:1}, devices = [0, 2, 1, 3]>
    ```

    With `, again` behind the devices, less is kept for the backward pass
    (plan::Configuration::again).
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$dims,
                        ArrayRefParameter<"int64_t">:$degrees,
                        ArrayRefParameter<"::mlir::DenseI64ArrayAttr",
                                          "by dimension; empty: equal">:$shares,
                        ArrayRefParameter<"int64_t">:$devices,
                        "bool":$again);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def FF_InitKind : I32EnumAttr<"InitKind", "where a state's first contents come from", [
    I32EnumAttrCase<"File", 0, "file">,
    I32EnumAttrCase<"Constant", 1, "constant">,
    I32EnumAttrCase<"Uniform", 2, "uniform">,
    I32EnumAttrCase<"Normal", 3, "normal">,
    I32EnumAttrCase<"Positions", 4, "positions">,
    I32EnumAttrCase<"Upper", 5, "upper">,
    I32EnumAttrCase<"Lower", 6, "lower">]> {
  let cppNamespace = "::ffc::ff";
  let genSpecializedAttr = 0;
}

def FF_InitAttr : FF_Attr<"Init", "init"> {
  let summary = "a state's first contents";
  let description = [{
    `#ff.init<file, 0.0 : f64, 4096>`: row-major from byte 4096 of the weights file.
    `#ff.init<constant, 1.0 : f64, 0>`: 1 everywhere. `uniform` draws from
    [-value, value), `normal` with standard deviation value. `positions` are value,
    value + 1 ... in row-major order. `upper` is value where the index of the last
    dimension is greater than that of the one before, `lower` where it is not, and
    0 elsewhere.
  }];
  let parameters = (ins EnumParameter<FF_InitKind>:$kind, "::mlir::FloatAttr":$value,
                        "int64_t":$offset);
  let assemblyFormat = "`<` $kind `,` $value `,` $offset `>`";
  let builders = [
    AttrBuilder<(ins "InitKind":$kind, "double":$value, "int64_t":$offset), [{
      return $_get($_ctxt, kind,
                   ::mlir::FloatAttr::get(::mlir::Float64Type::get($_ctxt), value),
                   offset);
    }]>
  ];
}

#endif // FFC_IR_FFDIALECT_TD
