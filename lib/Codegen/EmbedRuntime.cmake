# Writes OUTPUT, a C++ file that holds the text of every file of the runtime.
#
#   cmake -DROOT=<repository> -DOUTPUT=<file> -P EmbedRuntime.cmake
#
# FILES are the paths below ROOT/runtime, in an order that does not depend on the
# machine, because the contents are hashed.
file(GLOB_RECURSE files RELATIVE ${ROOT}/runtime
     ${ROOT}/runtime/include/* ${ROOT}/runtime/src/*)
list(APPEND files CMakeLists.txt sources.cmake)
list(SORT files)

set(text "// Written by EmbedRuntime.cmake.\n#include \"ffc/Codegen/Runtime.h\"\n\n")
string(APPEND text "const std::vector<ffc::codegen::BundledFile> &\n")
string(APPEND text "ffc::codegen::runtimeFiles() {\n")
string(APPEND text "  static const std::vector<BundledFile> files = {\n")
foreach(file IN LISTS files)
  file(READ ${ROOT}/runtime/${file} contents)
  string(APPEND text "{\"${file}\", R\"ffrtfile(${contents})ffrtfile\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n")
file(WRITE ${OUTPUT} "${text}")
