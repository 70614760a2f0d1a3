//===- count_calls.cpp - what a program asks of CUDA in its steps ---------===//
//
// A library for CUDA_INJECTION64_PATH, which writes what calls.h says.
//
//===----------------------------------------------------------------------===//
#include "calls.h"

#include <cupti.h>

namespace {

/// Calls of the runtime, and those of the driver that no call of the runtime
/// has made.
void record(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id,
            const void *data) {
  static thread_local int within = 0;
  const auto *call = static_cast<const CUpti_CallbackData *>(data);
  const bool enters = call->callbackSite == CUPTI_API_ENTER;
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (enters && within == 0) {
    if (runtime && id == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020)
      Calls::all().allocated(
          static_cast<const cudaMalloc_v3020_params *>(call->functionParams)
              ->size);
    if (!runtime && id == CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2)
      Calls::all().allocated(
          static_cast<const cuMemAlloc_v2_params *>(call->functionParams)
              ->bytesize);
    Calls::all().called(call->functionName);
  }
  if (runtime)
    within += enters ? 1 : -1;
}

} // namespace

/// The driver calls it when it starts.
extern "C" int InitializeInjection() {
  CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, record, nullptr) != CUPTI_SUCCESS ||
      cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) !=
          CUPTI_SUCCESS ||
      cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) !=
          CUPTI_SUCCESS) {
    std::fprintf(stderr, "error: CUPTI does not count calls here\n");
    return 0;
  }
  std::atexit([] { Calls::all().write(); });
  return 1;
}
