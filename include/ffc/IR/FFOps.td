//===- FFOps.td - operators of the training graph ----------*- tablegen -*-===//

#ifndef FFC_IR_FFOPS_TD
#define FFC_IR_FFOPS_TD

include "ffc/IR/FFDialect.td"
include "ffc/IR/FFInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class FF_Op<string mnemonic, list<Trait> traits = []>
    : Op<FFDialect, mnemonic, traits>;

/// An operator that computes: pure, partitionable.
class FF_ComputeOp<string mnemonic, list<Trait> traits = []>
    : FF_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<FF_PartitionableInterface>] # traits>;

/// ... and has a gradient.
class FF_DiffOp<string mnemonic, list<Trait> traits = []>
    : FF_ComputeOp<mnemonic, [DeclareOpInterfaceMethods<FF_DifferentiableInterface>] # traits>;

def FF_Tensor : TensorRankOf<[AnyType], [0, 1, 2, 3, 4, 5, 6, 7, 8]>;
def FF_FloatTensor : TensorRankOf<[F32, F64], [0, 1, 2, 3, 4, 5, 6, 7, 8]>;
/// Bytes are without sign, the others with one.
def FF_IntegerTensor : TensorRankOf<[I8, I32, I64], [0, 1, 2, 3, 4, 5, 6, 7, 8]>;
/// Batch, channels and one to three spatial dimensions.
def FF_Image : TensorRankOf<[F32, F64], [3, 4, 5]>;
/// A matrix, after dimensions of a batch of matrices.
def FF_Matrices : TensorRankOf<[F32, F64], [2, 3, 4, 5, 6, 7, 8]>;
/// Either as operands of a product, in any precision.
def FF_AnyImage : TensorRankOf<[BF16, F16, F32, F64], [3, 4, 5]>;
def FF_AnyMatrices
    : TensorRankOf<[BF16, F16, F32, F64], [2, 3, 4, 5, 6, 7, 8]>;
/// What may be an operand elsewhere.
def FF_Summand
    : TensorRankOf<[BF16, F16, F32, F64], [0, 1, 2, 3, 4, 5, 6, 7, 8]>;
/// Rows of a table.
def FF_Table : TensorRankOf<[F32, F64], [2]>;
/// Positions along a dimension.
def FF_Indices : TensorRankOf<[I32, I64], [1, 2, 3, 4, 5, 6]>;

// Every file FF<Family>Ops.td of this folder.
include "ffc/IR/FFFamilies.td"

#endif // FFC_IR_FFOPS_TD
