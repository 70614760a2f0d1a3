//===- ParameterRoles.h - is a value a parameter by its uses? ---*- C++ -*-===//
//
// What a file does not say is told from what a value is to the operators that
// read it, behind moves of its elements and arithmetic among constants, and
// from its numbers.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_PARAMETERROLES_H
#define FFC_LIB_IMPORT_PARAMETERROLES_H

#include "Contents.h"
#include "Dataflow.h"

#include "llvm/ADT/StringMap.h"

namespace ffc::importer {

/// Whether a value is trained, and the reason.
struct Verdict {
  bool isTrained = false;
  std::string why;
};

class ParameterRoles {
public:
  ParameterRoles(const onnx::GraphProto &graph, const Dataflow &flow);

  /// Of a value of floats with data.
  Verdict judge(llvm::StringRef name, const Contents &contents) const;

  /// The verdict on a running statistic, with data or without; else nothing.
  std::optional<Verdict> judgeStatistic(llvm::StringRef name) const;

  /// Is every use of the value, and there is one, an operand that is a weight?
  bool feedsOnlyWeights(llvm::StringRef name) const;

  /// The same, where a table that constants name several rows of is a weight,
  /// too. (One at a time is how time steps of data are read.)
  bool feedsOnlyWeightsOrTables(llvm::StringRef name) const;

  /// Could dimension 0 of a value that feeds only weights be a batch, as that
  /// of a product of matrices?
  bool mayHaveBatch(llvm::StringRef name, size_t rank) const;

private:
  enum class Kind {
    Weight,     ///< of a product, a convolution, ...
    Statistic,  ///< running, of a batch normalisation
    LossWeight, ///< of the classes
    Factor,     ///< of element-wise arithmetic with data
    Joined,     ///< beside data in one tensor
    State,      ///< that a recurrent layer starts with
    Other,      ///< beside data
    Condition,  ///< which has no gradient
    Setting,    ///< read as a number by the operator
    Angle,      ///< of a sine or cosine
  };
  /// Where a value ends up.
  struct Role {
    Kind kind;
    Dataflow::Use use;
    /// Repeated on the way, as what is one for all samples is.
    bool isExpanded;
  };
  const Dataflow &flow;
  /// Has the graph weights that are no Constant nodes?
  bool weightsAreApart = false;

  /// A value that another one goes on in.
  struct Next {
    llvm::StringRef name;
    bool isExpanded; ///< as in Role
  };
  /// The roles of a value at what reads it itself, and where else it goes on.
  struct Uses {
    std::vector<Role> roles;
    std::vector<Next> next;
  };
  /// By value the one that all of its uses lead to, without a role on the way
  /// and without being repeated, or the value itself. So chains of arithmetic
  /// among weights are gone along once, and not for each of the weights.
  struct Way {
    llvm::StringRef end;
    bool isKnown = false; ///< false: it is being looked for
  };
  mutable llvm::StringMap<Way> ways;

  Uses usesOf(llvm::StringRef name) const;
  llvm::StringRef endOfWay(llvm::StringRef name) const;
  std::vector<Role> rolesOf(llvm::StringRef name) const;
  /// The role of an operand, or nothing if the value goes on in the results.
  std::optional<Kind> roleAt(const Dataflow::Use &use) const;
  Kind roleBesideData(const Dataflow::Use &use) const;
  bool isWeightOfData(const Dataflow::Use &use) const;
  bool namesRows(const Dataflow::Use &use) const;
  bool
  holdsForUses(llvm::StringRef name,
               llvm::function_ref<bool(const Dataflow::Use &)> holds) const;
  bool isGroupNorm(const Role &role, const Contents &contents) const;
  bool isLeftOut(llvm::StringRef name, const Role &role,
                 const Contents &contents) const;
  bool isBiasOfOneFeature(const Role &role, const Contents &contents) const;
  bool goesToSoftmax(const onnx::NodeProto &node) const;
  Verdict judgeWeight(llvm::StringRef name, const Role &role,
                      const Contents &contents) const;
  Verdict judgeOperand(const Role &role, const Contents &contents) const;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_PARAMETERROLES_H
