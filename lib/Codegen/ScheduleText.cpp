//===- ScheduleText.cpp - schedules of collectives as text ----------------===//

#include "ScheduleText.h"

using namespace ffc;
using namespace ffc::codegen;

std::vector<std::string> codegen::literalsOf(rank::ScheduleOp op) {
  constexpr size_t kWidth = 84;
  std::vector<std::string> lines;
  std::string line = "\"" + op.getKind().str() + " " + op.getAlgorithm().str() +
                     " " + std::to_string(op.getMembers()) + " " +
                     std::to_string(op.getChunks()) + " " +
                     std::to_string(op.getReducing());
  for (int32_t number : op.getTransfers()) {
    const std::string word = " " + std::to_string(number);
    if (line.size() + word.size() > kWidth) {
      lines.push_back(line + "\"");
      line = "\"";
    }
    line += word;
  }
  lines.push_back(line + "\"");
  return lines;
}
