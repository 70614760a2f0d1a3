# The files of the runtime. A bundle brings their list: what else lies in its folder
# may be of an older one. In the repository they are what the folders hold.
include(${CMAKE_CURRENT_LIST_DIR}/files.cmake OPTIONAL RESULT_VARIABLE bundled)
if(NOT bundled)
  file(GLOB_RECURSE FFRT_FILES CONFIGURE_DEPENDS
       RELATIVE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/src/*)
endif()
function(ffrt_files result pattern)
  set(files ${FFRT_FILES})
  list(FILTER files INCLUDE REGEX "${pattern}")
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# What all targets share: the step loop, data, dumps, checks of operands.
ffrt_files(FFRT_COMMON "^src/common/.*[.]cpp$")
list(APPEND FFRT_COMMON
  src/comm/launch.cpp
  src/comm/shm_channels.cpp
  src/comm/shm_combine.cpp
  src/comm/shm_comm.cpp
  src/comm/shm_group.cpp
  src/comm/shm_node.cpp
  src/comm/shm_segment.cpp
  src/comm/staged_comm.cpp
  src/comm/transport.cpp
  src/comm/watch.cpp
  src/comm/watched_comm.cpp
)
# Between machines, by MPI; or without it, for ranks that share a machine.
set(FFRT_COMM_MPI
  src/comm/mpi_comm.cpp
  src/comm/mpi_launch.cpp
  src/comm/mpi_nodes.cpp
  src/comm/threads.cpp
)
set(FFRT_COMM_LOCAL
  src/comm/local_comm.cpp
  src/comm/local_launch.cpp
)
# Kernels on the CPU; in f64, of which oneDNN knows nothing, plain ones instead of
# its own, and no recurrent layers.
ffrt_files(FFRT_CPU "^src/cpu/.*[.]cpp$")
set(FFRT_CPU_F64 ${FFRT_CPU})
list(FILTER FFRT_CPU EXCLUDE REGEX "_plain[.]cpp$")
list(FILTER FFRT_CPU_F64 EXCLUDE REGEX
     "dnnl|depthwise|/conv[.]cpp$|/matmul[.]cpp$|/recurrent_")
# For GPUs: what libraries compute, code of the host, and kernels.
set(FFRT_CUDA_LIBRARIES
  src/cuda/attention/attention_cudnn.cpp
  src/cuda/attention/attention_graph.cpp
  src/cuda/conv/conv_cudnn.cpp
  src/cuda/conv/conv_graph.cpp
  src/cuda/plans/cudnn_device.cpp
  src/cuda/plans/cudnn_graph.cpp
  src/cuda/matmul/gemm_cublaslt.cpp
)
ffrt_files(FFRT_CUDA_HOST "^src/cuda/.*[.]cpp$")
list(REMOVE_ITEM FFRT_CUDA_HOST ${FFRT_CUDA_LIBRARIES})
ffrt_files(FFRT_CUDA_KERNELS "^src/cuda/.*[.]cu$")

foreach(list FFRT_COMMON FFRT_COMM_MPI FFRT_COMM_LOCAL FFRT_CPU FFRT_CPU_F64 FFRT_CUDA_HOST
             FFRT_CUDA_LIBRARIES FFRT_CUDA_KERNELS)
  list(TRANSFORM ${list} PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
endforeach()
