//===- RankOps.td - actions of a rank ----------------------*- tablegen -*-===//

#ifndef FFC_IR_RANKOPS_TD
#define FFC_IR_RANKOPS_TD

include "ffc/IR/RankDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Rank_Op<string mnemonic, list<Trait> traits = []>
    : Op<RankDialect, mnemonic, traits>;

/// An operator of a class. Constraint 0 of each: a `#rank.per` has one row, or
/// one per rank of the class.
///
/// Actions of all classes that are one thing of the plan (a phase of an
/// operator, a part of a reshard) have one `statement`: the number of their
/// statement in the text of the program, ascending in every class. Without
/// numbers, those of a single class are numbered as they stand.
class Rank_ActionOp<string mnemonic, list<Trait> traits = []>
    : Rank_Op<mnemonic, [HasParent<"::ffc::rank::FuncOp">] # traits>;

/// Of operators of which there are many: where all attributes are in the
/// assembly format, no others are looked for. To print those, MLIR makes a
/// dictionary of all, which takes as long as the rest. (It leaves a blank in
/// their place.)
def Rank_AllInFormat {
  code declaration = [{
    static void printProperties(::mlir::MLIRContext *context,
                                ::mlir::OpAsmPrinter &printer,
                                const Properties &properties,
                                ::mlir::ArrayRef<::mlir::StringRef> printed) {
      if (printed.size() < getAttributeNames().size())
        genericPrintProperties(printer,
                               getPropertiesAsAttr(context, properties),
                               printed);
    }
  }];
}

def Rank_ScheduleOp : Rank_Op<"schedule"> {
  let summary = "what a collective by \"schedule\" does";
  let description = [{
    A plan::CollectiveSchedule. `transfers` are triples of a chunk and the indices
    of two members, the sender's first. Collectives refer to schedules by number,
    as they stand in the module.

    Constraints:
      1. `kind` is "all_reduce", "all_gather" or "reduce_scatter".
      2. `transfers` are triples.
      3. It is a right schedule (plan::faultOf).
  }];
  let arguments = (ins StrAttr:$algorithm, StrAttr:$kind, I64Attr:$members,
                       I64Attr:$chunks, I64Attr:$reducing,
                       DenseI32ArrayAttr:$transfers);
  let assemblyFormat = [{
    $algorithm $kind `members` $members `chunks` $chunks `reducing` $reducing
    `transfers` $transfers attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    plan::CollectiveSchedule schedule();
  }];
}

def Rank_FuncOp : Rank_Op<"func", [Symbol, IsolatedFromAbove, SingleBlock,
                                   NoTerminator]> {
  let summary = "the step of one rank class";
  let description = [{
    Buffers first, then slots, then actions in execution order. `groups` lists
    all communicators of the program (the same in every function), because ranks
    create them together. `flops` are those of one step. A step does what stands
    before `rank.micro_batch_end` `micro_batches` times. The first
    `symmetric_state` bytes of
    the state and `symmetric_arena` bytes of the arena, the same in every
    function, are memory that communicators may register: buffers of a
    collective lie there at one offset on all its ranks, or not at all.

    Constraints:
      1. `ranks` is not empty, ascending, from 0 to below `world`.
      2. `groups` holds lists of ranks, each ascending and inside the world.
      3. A row of `state_bytes`, `arena_bytes` or `flops` is one integer, not
         negative.
      4. Buffer names are unique.
      5. `micro_batches` is at least 1; if it is more, there is one
         `rank.micro_batch_end`, else none.
      6. `symmetric_state` and `symmetric_arena` are not negative and no more
         than any rank's bytes of the section.
      7. The block has no arguments.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$ranks,
                       I64Attr:$world, ArrayAttr:$groups,
                       Rank_PerAttr:$state_bytes, Rank_PerAttr:$arena_bytes,
                       Rank_PerAttr:$flops,
                       DefaultValuedAttr<I64Attr, "1">:$micro_batches,
                       DefaultValuedAttr<I64Attr, "0">:$symmetric_state,
                       DefaultValuedAttr<I64Attr, "0">:$symmetric_arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Rank_BufferOp : Rank_ActionOp<"buffer", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a buffer at an offset of the state or arena section";
  let description = [{
    `region` lists, per dimension, the number of intervals and their bounds:
    the box [0:4, 16:32] is `1, 0, 4, 1, 16, 32`. `global` is the shape of the
    tensor it is a part of. `section` is "state" or "arena", `order` "row_major",
    "channels_last" or "pitched" (plan::MemoryOrder).

    ```mlir
    %x = rank.buffer "conv1.x" "arena" at <[0], [64]> "row_major"
        region <[1, 0, 2, 1, 0, 8], [1, 2, 4, 1, 0, 8]> of [4, 8]
        : <f32>
    ```

    Constraints:
      1. `section` and `order` are one of their words.
      2. A row of `region` describes a region of the rank of `global`: per
         dimension ascending, disjoint, non-adjacent intervals inside `global`.
      3. A row of `offset` is one integer: a multiple of the element size, not
         negative, and the buffer ends within the section.
      4. The buffer lies before or behind the end of the section's symmetric
         part.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$section, StrAttr:$order,
                       Rank_PerAttr:$offset, Rank_PerAttr:$region,
                       DenseI64ArrayAttr:$global);
  let results = (outs Rank_BufferType:$result);
  let assemblyFormat = [{
    $name $section `at` $offset $order `region` $region `of` $global prop-dict
    attr-dict `:` type($result)
  }];
  let extraClassDeclaration = Rank_AllInFormat.declaration # [{
    /// The part that the class's `i`-th rank holds; requires a verified op.
    ::ffc::plan::Region regionAt(size_t i);
    ::ffc::plan::ElementType elementType();
  }];
  let hasVerifier = 1;
}

def Rank_AbsentOp : Rank_ActionOp<"absent", [Pure]> {
  let summary = "an optional operand or unused result that does not exist";
  let results = (outs Rank_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Rank_InputOp : Rank_ActionOp<"input"> {
  let summary = "a part of a graph input, refilled before every step";
  let arguments = (ins StrAttr:$name, Rank_BufferType:$buffer);
  let assemblyFormat = "$name $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Rank_StateOp : Rank_ActionOp<"state"> {
  let summary = "a part of loop-carried state";
  let description = [{
    `kind` as in `ff.state`. First contents: "file" (row-major from byte `offset`
    of the weights file), "constant" (`value`), "uniform" (in [-value, value)),
    "normal" (standard deviation `value`), or "positions", "upper" or "lower" as
    #ff.init says.

    Constraints:
      1. `kind` is "parameter", "slot", "statistic", "constant", "copy" or
         "average", and the last two, only they, have `of`.
      2. The buffer lies in the state section.
      3. `init` is one of these words.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$kind, OptionalAttr<StrAttr>:$of,
                       StrAttr:$init, F64Attr:$value, I64Attr:$offset,
                       Rank_BufferType:$buffer);
  let assemblyFormat = [{
    $name $kind (`of` $of^)? $init $value `at` $offset $buffer prop-dict attr-dict
    `:` type($buffer)
  }];
  let extraClassDeclaration = Rank_AllInFormat.declaration;
  let hasVerifier = 1;
}

def Rank_KernelOp : Rank_ActionOp<"kernel", [AttrSizedOperandSegments]> {
  let summary = "a phase of an operator on one tile";
  let description = [{
    `callee` is the runtime kernel, `args` its attributes, `tile` the interval
    per iteration dimension (lo, hi pairs), `task` the plan's task id (op, phase,
    point, instance). The location names the operator. To the results of
    `adds_to`, indices of `outs`, it adds its partial values; the others it
    overwrites.

    Constraints:
      1. A row of `task` is four integers (also in `rank.copy`, `rank.exchange`
         and `rank.collective`).
      2. A row of `tile` is a list of pairs lo <= hi.
      3. `adds_to` ascends, and has indices of results that are there, f32 or f64.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Rank_BufferType>:$ins,
                       Variadic<Rank_BufferType>:$outs, Rank_PerAttr:$tile,
                       DictionaryAttr:$args, Rank_PerAttr:$task,
                       OptionalAttr<DenseI64ArrayAttr>:$adds_to,
                       OptionalAttr<I64Attr>:$statement);
  let assemblyFormat = [{
    $callee `(` $ins `)` `->` `(` $outs `)` `tile` $tile $args `task` $task
    (`adds_to` $adds_to^)? (`statement` $statement^)? prop-dict attr-dict
    `:` functional-type($ins, $outs)
  }];
  let extraClassDeclaration = Rank_AllInFormat.declaration # [{
    /// The tile of the class's `i`-th rank; requires a verified op.
    ::ffc::plan::Tile tileAt(size_t i);
    /// Indices of results that it adds to.
    ::llvm::ArrayRef<int64_t> addedTo() {
      return getAddsTo().value_or(::llvm::ArrayRef<int64_t>());
    }
  }];
  let hasVerifier = 1;
}

def Rank_CopyOp : Rank_ActionOp<"copy"> {
  let summary = "copies a box between buffers, or combines it into the target";
  let description = [{
    Coordinates are local. `combine` is "none", "sum", "max" or "mean": of what
    is copied in all micro-batches of a step.

    Constraints:
      1. `combine` is one of its words.
      2. Both buffers exist and have the same element type and rank.
      3. The box lies inside both buffers.
      4. The target of a mean is in the state section.
  }];
  let arguments = (ins Rank_BufferType:$dst, Rank_BufferType:$src,
                       Rank_PerAttr:$dst_at, Rank_PerAttr:$src_at,
                       Rank_PerAttr:$size, StrAttr:$combine,
                       Rank_PerAttr:$task,
                       OptionalAttr<I64Attr>:$statement);
  let assemblyFormat = [{
    $combine $dst `at` $dst_at `from` $src `at` $src_at `size` $size
    `task` $task (`statement` $statement^)? attr-dict `:` type($dst) `,` type($src)
  }];
  let hasVerifier = 1;
}

def Rank_ExchangeOp : Rank_ActionOp<"exchange", [AttrSizedOperandSegments]> {
  let summary = "grouped sends and receives of whole buffers";
  let description = [{
    Messages between two ranks with one tag match in their order. A send
    completes when its receive has been posted.

    Constraints:
      1. A row of `send_peers` or `receive_peers` has as many ranks as there are
         buffers.
      2. A peer is another rank of the world.
      3. All buffers exist.
  }];
  let arguments = (ins Variadic<Rank_BufferType>:$sends,
                       Variadic<Rank_BufferType>:$receives,
                       Rank_PerAttr:$send_peers, Rank_PerAttr:$receive_peers,
                       I64Attr:$tag, Rank_PerAttr:$task,
                       OptionalAttr<I64Attr>:$statement);
  let results = (outs Rank_EventType:$event);
  let assemblyFormat = [{
    `send` `(` $sends `)` `to` $send_peers `receive` `(` $receives `)` `from`
    $receive_peers `tag` $tag `task` $task (`statement` $statement^)? attr-dict
    `:` functional-type($sends, $receives)
  }];
  let hasVerifier = 1;
}

def Rank_CollectiveOp : Rank_ActionOp<"collective"> {
  let summary = "a collective over a group of ranks";
  let description = [{
    `kind` is "all_reduce" and "broadcast" (in place: src and dst are the same
    buffer), "all_gather" (src is the part, dst the whole) or "reduce_scatter"
    (src the whole, dst the part). Parts are concatenated in memory, in the
    order of the group's members. `group` indexes the function's groups; `root`
    is an index into the group; `reduce` is "sum", "max" or "none". `algorithm`
    is a word of plan::CollectiveAlgorithm. `starts` says how many collectives
    start as one with this one, the first of them: 0 if it starts with one before
    it.

    Constraints:
      1. `kind` is one of its words; `reduce` is "sum" or "max" for all_reduce
         and reduce_scatter, "none" for the others.
      2. A row of `group` is one integer, the index of a group that the rank is a
         member of.
      3. `root` is the index of a member of the group.
      4. Both buffers exist and have the same element type.
      5. all_reduce and broadcast work in place.
      6. The whole has as many elements as the parts of all members.
      7. `algorithm` is the word of one that can do `kind`.
      8. "schedule" has the number of a schedule of the module, of this kind and
         of as many members; others have none.
      9. A collective that starts several is followed by all others of them,
         which start none and are like it in kind, reduction, algorithm, schedule,
         groups and element type.
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$reduce, Rank_BufferType:$src,
                       Rank_BufferType:$dst, Rank_PerAttr:$group, I64Attr:$root,
                       Rank_PerAttr:$task,
                       DefaultValuedStrAttr<StrAttr, "library">:$algorithm,
                       OptionalAttr<I64Attr>:$schedule,
                       DefaultValuedAttr<I64Attr, "1">:$starts,
                       OptionalAttr<I64Attr>:$statement);
  let results = (outs Rank_EventType:$event);
  let assemblyFormat = [{
    $kind $reduce $src `->` $dst (`by` $algorithm^)? (`number` $schedule^)? `group` $group
    `root` $root (`starts` $starts^)? `task` $task (`statement` $statement^)? attr-dict
    `:` type($src) `,` type($dst)
  }];
  let hasVerifier = 1;
}

def Rank_WaitOp : Rank_ActionOp<"wait"> {
  let summary = "waits for a queued communication";
  let arguments = (ins Rank_EventType:$event,
                       OptionalAttr<I64Attr>:$statement);
  let assemblyFormat = "$event (`statement` $statement^)? attr-dict";
}

def Rank_ProbeOp : Rank_ActionOp<"probe"> {
  let summary = "offers a buffer for dumping";
  let arguments = (ins StrAttr:$name, Rank_BufferType:$buffer,
                       OptionalAttr<I64Attr>:$statement);
  let assemblyFormat = [{
    $name $buffer (`statement` $statement^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Rank_MicroBatchEndOp : Rank_ActionOp<"micro_batch_end"> {
  let summary = "the end of what a step does once for every micro-batch";
  let assemblyFormat = "attr-dict";
}

def Rank_LossOp : Rank_ActionOp<"loss"> {
  let summary = "the buffer that holds the global loss after the step";
  let description = [{
    On rank 0 and wherever else the loss is, so that ranks which do the same
    remain one class.

    Constraints:
      1. The buffer has one element.
  }];
  let arguments = (ins Rank_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

#endif // FFC_IR_RANKOPS_TD
