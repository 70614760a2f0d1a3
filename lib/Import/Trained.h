//===- Trained.h - which values of a model are trained ----------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_TRAINED_H
#define FFC_LIB_IMPORT_TRAINED_H

#include "ExporterMetadata.h"
#include "ParameterRoles.h"
#include "TensorData.h"
#include "TiedWeights.h"

#include "ffc/Import/Parameters.h"

namespace ffc::importer {

/// Decides for every value that is not computed whether it is trained: as the
/// user says (--train, --freeze; the last pattern that matches counts), else as
/// the file says (ExporterMetadata.h), else by its uses and numbers
/// (ParameterRoles.h).
class TrainedValues {
public:
  /// An error for a pattern that matches nothing. `metadata` may be null.
  static llvm::Expected<TrainedValues> decide(const onnx::GraphProto &graph,
                                              const TensorData &data,
                                              const ImportOptions &options,
                                              const ExporterMetadata *metadata,
                                              llvm::ArrayRef<TiedWeight> ties);

  bool isTrained(llvm::StringRef name) const;
  /// Is it an input that becomes a state: a parameter, or a running statistic?
  bool isFree(llvm::StringRef name) const;
  /// Is it a value with data of which nothing is kept, so that it may be
  /// evaluated at import? Values that the user froze are kept.
  bool isNumber(llvm::StringRef name) const;

  const ParameterList &list() const { return listed; }

private:
  friend class Decider;
  struct Decision {
    bool isTrained, isNumber, isFree;
  };
  llvm::StringMap<Decision> decisions;
  ParameterList listed;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_TRAINED_H
