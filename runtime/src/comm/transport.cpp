//===- transport.cpp - which way ranks talk to each other -----------------===//
#include "common/device/target.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <cstdlib>
#include <string>

namespace ffrt {

Transport chosen_transport() {
  const char *text = std::getenv("FFRT_COMM");
  const std::string name = text ? text : "";
  if (name.empty())
    return Transport::automatic;
  if (name == "mpi")
    return Transport::mpi;
  if (name == "shm")
    return Transport::shared;
  if (name == "nccl" && !target_is_host())
    return Transport::nccl;
  throw Error(std::string("FFRT_COMM: expected ") +
              (target_is_host() ? "" : "nccl, ") + "mpi or shm, found '" +
              name + "'");
}

} // namespace ffrt
