# What the folders with Python tests share.
#
#   FFC_PYTHON      command of a Python 3 that has numpy. Several may be installed:
#                   the first one that has it is taken.
#   ffc_python_with(<result> <package>)   one that has the package too, if any has;
#                   tests skip themselves where it is missing
#   FFC_TEST_TOOLS  folder of the shared modules
#   ffc_topology(<result> <ranks>)   the file that describes so many processes
include_guard(GLOBAL)

function(ffc_find_python result)
  foreach(candidate /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE status
                    OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      # -B: tests leave no caches in the source tree.
      set(${result} ${candidate} -B CACHE INTERNAL "Python 3 with numpy")
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "ffc: expected a Python 3 with numpy, found none; "
                      "scripts/install-dependencies installs it")
endfunction()
ffc_find_python(FFC_PYTHON)
set(FFC_TEST_TOOLS ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "shared test modules")

function(ffc_python_with result package)
  foreach(candidate /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import numpy, ${package}"
                    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${result} ${candidate} -B PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} ${FFC_PYTHON} PARENT_SCOPE)
endfunction()

function(ffc_topology result ranks)
  foreach(folder examples/topologies test/Integration)
    set(file ${FFC_SOURCE_DIR}/${folder}/cpu-${ranks}.yaml)
    if(EXISTS ${file})
      set(${result} ${file} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "ffc: expected a topology of ${ranks} processes, found none")
endfunction()
