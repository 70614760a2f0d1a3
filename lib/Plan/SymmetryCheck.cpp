//===- SymmetryCheck.cpp - do collectives lie at equal offsets? -----------===//

#include "SymmetryCheck.h"

#include "Meetings.h"
#include "ffc/Plan/SymmetricSection.h"

using namespace ffc::plan;

namespace {

/// An operand of a collective on one of its members.
struct Operand {
  DeviceId device;
  const Buffer *buffer;

  std::string str() const {
    return "device " + std::to_string(device) + ", buffer '" + buffer->name +
           "'";
  }
  bool isWithin(int64_t bytes) const {
    return buffer->section == Section::Arena &&
           buffer->offset + buffer->bytes <= bytes;
  }
  /// Whether a part of it is in the first `bytes` of the arena.
  bool reaches(int64_t bytes) const {
    return buffer->section == Section::Arena && buffer->offset < bytes;
  }
};

} // namespace

static std::optional<std::string> checkMeeting(const Program &program,
                                               const Meeting &meeting) {
  const int64_t bytes = program.symmetricBytes;
  for (BufferId Action::*operand : {&Action::src, &Action::dst}) {
    std::optional<Operand> first;
    for (ActionRef ref : meeting) {
      const DeviceProgram &device = program.devices[ref.device];
      const BufferId buffer = device.actions[ref.index].*operand;
      if (buffer < 0)
        continue;
      const Operand found{ref.device, &device.buffers[buffer]};
      if (found.reaches(bytes) && !found.isWithin(bytes))
        return found.str() + ": ends at byte " +
               std::to_string(found.buffer->offset + found.buffer->bytes) +
               ", expected at most " + std::to_string(bytes) +
               ", the end of the symmetric section";
      if (!first)
        first = found;
      if (found.isWithin(bytes) != first->isWithin(bytes))
        return found.str() + ": expected " +
               (first->isWithin(bytes) ? "inside" : "outside") +
               " of the symmetric section as " + first->str() +
               ", found the contrary";
      if (found.isWithin(bytes) &&
          found.buffer->offset != first->buffer->offset)
        return found.str() + ": expected at byte " +
               std::to_string(first->buffer->offset) + " as " + first->str() +
               ", found " + std::to_string(found.buffer->offset);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ffc::plan::checkSymmetry(const Program &program) {
  if (program.symmetricBytes == 0)
    return std::nullopt;
  if (program.symmetricBytes % kWindowAlignment != 0)
    return "symmetric section: expected a multiple of " +
           std::to_string(kWindowAlignment) + " bytes, found " +
           std::to_string(program.symmetricBytes);
  for (size_t d = 0; d < program.devices.size(); ++d)
    if (program.devices[d].arenaBytes < program.symmetricBytes)
      return "device " + std::to_string(d) +
             ": expected an arena of at least " +
             std::to_string(program.symmetricBytes) +
             " bytes, the symmetric section, found " +
             std::to_string(program.devices[d].arenaBytes);
  for (const Meeting &meeting : meetingsOf(program))
    if (auto error = checkMeeting(program, meeting))
      return error;
  return std::nullopt;
}
