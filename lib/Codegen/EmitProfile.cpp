//===- EmitProfile.cpp - the program that measures ------------------------===//

#include "ffc/Codegen/EmitProfile.h"

#include "ProgramPrinter.h"
#include "RankActions.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

static void printHead(Text &text, size_t steps, const ProfileMeta &meta) {
  text.banner("train.cpp - measures " + meta.model);
  text.line("//");
  text.comment("//", "The steps of " + Twine(steps) + " strategies of " +
                         meta.model + ", written by ffc " + meta.version +
                         ". Traces say how long kernels and copies took; what "
                         "these are is in profile.inc.");
  text.line("//");
  text.line("//===-------------------------------------------------------------"
            "---------===//");
}

/// The table of what is measured.
static std::string entriesText(const ProfileMeta &meta) {
  Text text;
  text.banner("profile.inc - what is measured");
  text.line();
  text.comment("///", "Kernels and copies: on how many ranks at once, flops, "
                      "bytes, and seconds by the topology's figures.");
  text.line("const std::vector<ProfileEntry> profile_entries = {");
  for (const ProfileEntry &entry : meta.entries)
    text.line("    {" + quoted(entry.key) + ", " + quoted(entry.kernel) + ", " +
              std::to_string(entry.devices) + ", " + literal(entry.flops) +
              ", " + literal(entry.bytes) + ", " + literal(entry.expected) +
              "},");
  text.line("};");
  return text.take();
}

/// Which entry each site of each rank belongs to.
static void printSites(Text &text, const ProfiledStep &step) {
  text.line();
  text.line("/// By rank: the entry of every kernel and copy.");
  text.line("const std::vector<std::vector<int>> sites = {");
  for (const std::vector<int> &entries : step.entries)
    text.line("    " +
              braced(llvm::map_to_vector(
                  entries, [](int entry) { return std::to_string(entry); })) +
              ",");
  text.line("};");
}

FailureOr<std::vector<SourceFile>>
codegen::emitProfile(ArrayRef<ProfiledStep> steps, const ProfileMeta &meta) {
  Functors functors;
  std::vector<SourceFile> files;
  Text bodies, list;
  for (auto [i, step] : llvm::enumerate(steps)) {
    const std::string space = "step" + std::to_string(i);
    ProgramPrinter printer(step.ranks, step.meta, functors, space + "_");
    if (failed(printer.print()))
      return failure();
    printSites(printer.tables.text, step);
    SourceFile tables = printer.tables.take();
    const std::string body = printer.body.take();
    if (failed(checkText(step.ranks, functors, {kTrainFile, body}, tables)))
      return failure();
    bodies.line("namespace " + space + " {");
    bodies.line();
    bodies.block(body);
    bodies.line("} // namespace " + space);
    bodies.line();
    list.line("      {" + space + "::program_info(), " + space + "::make, " +
              space + "::sites},");
    files.push_back(std::move(tables));
  }

  Text text;
  printHead(text, steps.size(), meta);
  text.line("#include \"ffrt/kernels.h\"");
  text.line("#include \"ffrt/profile.h\"");
  text.line("#include \"ffrt/reshard.h\"");
  if (!functors.empty())
    text.line("#include \"functors.h\"");
  text.line();
  text.line("using namespace ffrt;");
  text.line();
  text.line("namespace {");
  text.line();
  text.line("#include \"profile.inc\"");
  text.line();
  text.append(std::move(bodies));
  text.line("} // namespace");
  text.line();
  text.line("int main(int argc, char **argv) {");
  text.line("  const ProfileInfo info = {" + quoted(meta.model) + ", " +
            quoted(meta.device) + ", " + quoted(meta.version) +
            ", profile_entries,");
  text.line("    {");
  text.append(std::move(list));
  text.line("    }};");
  text.line("  return run_profile(argc, argv, info);");
  text.line("}");
  files.push_back({kTrainFile, text.take()});
  files.push_back({"profile.inc", entriesText(meta)});
  if (!functors.empty())
    llvm::append_range(files, functors.files());
  return files;
}
