//===- instances.cpp - templates compiled with the runtime ----------------===//
#include "ffrt/instances.h"

FFRT_INSTANCES(template class)
