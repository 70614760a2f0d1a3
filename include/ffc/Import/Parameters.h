//===- Parameters.h - what of a model is trained ----------------*- C++ -*-===//
#ifndef FFC_IMPORT_PARAMETERS_H
#define FFC_IMPORT_PARAMETERS_H

#include "ffc/Import/Import.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ffc {

/// A value of the model that is not computed.
struct ListedValue {
  std::string name;
  bool isOfFloats = false;
  std::vector<int64_t> shape; ///< extents that are not known are -1
  int64_t bytes = 0;          ///< 0 if an extent is not known
  bool isTrained = false;
  std::string why;
  /// What the module that was exported calls it, if that is another name.
  std::string parameter;
  /// Values of the same numbers that are this one.
  std::vector<std::string> tied;
};

/// A parameter of the exported module that the file does not hold.
struct MissingParameter {
  std::string name;
  std::string where; ///< what became of it
};

struct ParameterList {
  std::vector<ListedValue> values;
  std::vector<MissingParameter> missing;
  /// How the exporter keeps what is missing.
  std::string advice;
};

/// Lists the values of the model at `path`; nothing after an error, which is
/// reported as importModel does. Operators need not be supported.
std::optional<ParameterList> listParameters(mlir::MLIRContext &context,
                                            llvm::StringRef path,
                                            const ImportOptions &options);

} // namespace ffc

#endif // FFC_IMPORT_PARAMETERS_H
