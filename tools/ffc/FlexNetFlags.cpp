//===- FlexNetFlags.cpp - what flags of FlexNet stand for -----------------===//

#include "Options.h"

#include "ffc/Codegen/Output.h"

#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace ffc;
using codegen::makeError;

/// What FlexNet assumes within a server unless told: 20 GiB/s.
static constexpr const char *kGpuBandwidth = "20 GiB/s";
static constexpr double kGigabit = 1e9 / 8; // in bytes

static std::string gbits(int64_t number) {
  return std::to_string(number) + " Gbit/s";
}

/// The servers that flags describe, as a topology file. A network that is
/// searched for starts as a switch, as wide as all interfaces together.
static std::string describeServers(const FlexNetFlags &flags) {
  const int64_t servers = *flags.servers,
                gpus = flags.gpusPerServer.value_or(1),
                degree = flags.degreeOrDefault();
  const bool isMesh = flags.topology == "fc";
  const std::string latency = std::to_string(flags.latency.value_or(0)) + " us";
  std::string kind = "a100", text;
  if (flags.memoryBandwidth) {
    kind = "flexnet-gpu";
    text = "kinds:\n  flexnet-gpu: {like: a100, memory: {bandwidth: " +
           gbits(*flags.memoryBandwidth) + "}}\n";
  }
  text += "nodes:\n  count: " + std::to_string(servers) +
          "\n  devices: " + std::to_string(gpus) + " x " + kind + "\n";
  if (gpus > 1)
    text += "  interconnect: {type: switch, bandwidth: " +
            (flags.gpuBandwidth ? gbits(*flags.gpuBandwidth)
                                : std::string(kGpuBandwidth)) +
            ", latency: 0 us}\n";
  const int64_t interfaces = isMesh ? servers - 1 : degree;
  text += "  nic: {count: 1, bandwidth: " +
          gbits(interfaces * *flags.interfaceBandwidth) +
          ", latency: " + (isMesh ? "0 us" : latency) + "}\n";
  if (isMesh)
    text += "  network: {type: all-to-all, bandwidth: " +
            gbits(*flags.interfaceBandwidth) + ", latency: " + latency + "}\n";
  return text;
}

/// The flags that say something of --topology alone.
static Error checkTopologyFlags(const Options &options) {
  const FlexNetFlags &flags = options.flexNet;
  const bool isGiven = !flags.topology.empty();
  if (!isGiven) {
    for (auto [flag, given] :
         {std::pair("--nsimnode", flags.servers.has_value()),
          std::pair("--degree", flags.degree.has_value()),
          std::pair("--interface-bandwidth",
                    flags.interfaceBandwidth.has_value()),
          std::pair("--network-latency", flags.latency.has_value()),
          std::pair("--gpu-dram-bandwidth", flags.memoryBandwidth.has_value())})
      if (given)
        return makeError(Twine(flag) +
                         ": expected --topology beside it, found none; a file "
                         "of --devices says what links there are");
    return Error::success();
  }
  if (flags.topology != "fattree" && flags.topology != "fc" &&
      !flags.searchesNetwork())
    return makeError("--topology: expected fattree, fc or topoopt, or "
                     "--devices FILE with the links, found '" +
                     flags.topology + "'");
  if (!options.devices.empty())
    return makeError("--topology: expected no --devices beside it, found '" +
                     options.devices + "'");
  for (auto [flag, given] :
       {std::pair("--nsimnode N", flags.servers.has_value()),
        std::pair("--interface-bandwidth B",
                  flags.interfaceBandwidth.has_value())})
    if (!given)
      return makeError(Twine("--topology: expected ") + flag +
                       " beside it, found none");
  if (flags.topology == "fc" && flags.degree)
    return makeError("--degree: expected --topology=fattree, found fc, in "
                     "which a server has an interface to every other");
  if (flags.topology == "fc" && *flags.servers > 256)
    return makeError("--nsimnode: expected at most 256 servers of "
                     "--topology=fc, found " +
                     Twine(*flags.servers));
  return Error::success();
}

static Error resolveMeasures(Options &options) {
  const FlexNetFlags &flags = options.flexNet;
  if (flags.writesMeasures && flags.measures.empty())
    return makeError("--measure: expected --mfile FILE, which is written, "
                     "found none");
  if (flags.measures.empty())
    return Error::success();
  std::string &place =
      flags.writesMeasures ? options.exportMeasures : options.profile;
  const char *flag = flags.writesMeasures ? "--export-measures" : "--profile";
  if (!place.empty())
    return makeError(Twine("--mfile: expected no ") + flag +
                     " beside it, found '" + place + "'");
  place = flags.measures;
  options.meanings.push_back("--mfile " + flags.measures + " is " + flag + " " +
                             place);
  return Error::success();
}

/// What a network that is searched for needs, and what needs one.
static Error checkNetworkSearch(const Options &options) {
  const std::string &topology = options.flexNet.topology;
  if (!options.flexNet.searchesNetwork())
    return options.printTopology.empty()
               ? Error::success()
               : expected("--print-topology", "--topology=topoopt",
                          topology.empty() ? "none" : topology);
  if (!options.searches())
    return expected("--topology=topoopt", "--strategy=search",
                    options.randomStrategy ? "random" : options.strategy);
  if (options.isByFlexFlow())
    return expected("--topology=topoopt", "--simulator=ffc", "flexflow");
  if (options.emit < Emit::Plan)
    return makeError("--topology=topoopt: expected --emit=plan or later, where "
                     "there is a strategy, found --emit=" +
                     Twine(options.emit == Emit::FF ? "ff" : "train"));
  return Error::success();
}

Error ffc::resolveFlexNetFlags(Options &options) {
  const FlexNetFlags &flags = options.flexNet;
  if (Error error = checkTopologyFlags(options))
    return error;
  if (Error error = checkNetworkSearch(options))
    return error;
  if (Error error = resolveMeasures(options))
    return error;
  if (flags.gpuBandwidth) {
    if (flags.topology.empty() && options.serverTasks.empty())
      return makeError("--inter-gpu-bandwidth: expected --taskgraph FILE or "
                       "--topology beside it, found neither");
    if (options.serverInside.bandwidth > 0)
      return makeError("--inter-gpu-bandwidth: expected no --server-bandwidth "
                       "beside it, found both");
    if (!options.serverTasks.empty())
      options.serverInside.bandwidth =
          static_cast<double>(*flags.gpuBandwidth) * kGigabit;
    options.meanings.push_back(
        (options.serverTasks.empty()
             ? "--inter-gpu-bandwidth is that of links in servers, '"
             : "--inter-gpu-bandwidth is --server-bandwidth '") +
        gbits(*flags.gpuBandwidth) + "'");
  }
  if (flags.gpusPerServer && flags.topology.empty()) {
    if (options.devices.empty())
      return makeError("--big-gpu: expected --topology or --devices beside it, "
                       "found neither");
    options.meanings.push_back("--big-gpu: a server is a node of " +
                               std::to_string(*flags.gpusPerServer) +
                               " devices");
  }
  if (flags.topology.empty())
    return Error::success();
  options.topologyText = describeServers(flags);
  options.devices = flags.topology + ".yaml";
  if (flags.searchesNetwork()) {
    options.meanings.push_back(
        "--topology topoopt: a network of " + std::to_string(*flags.servers) +
        " servers of " + std::to_string(flags.gpusPerServer.value_or(1)) +
        " a100 with " + std::to_string(flags.degreeOrDefault()) + " x " +
        gbits(*flags.interfaceBandwidth) + " each and " +
        std::to_string(flags.latency.value_or(0)) +
        " us a link is searched for together with the strategy");
    return Error::success();
  }
  options.meanings.push_back(
      "--topology " + flags.topology +
      " is --devices: " + std::to_string(*flags.servers) + " servers of " +
      std::to_string(flags.gpusPerServer.value_or(1)) + " a100 on " +
      (flags.topology == "fc"
           ? "a full mesh of "
           : "one switch by " + std::to_string(flags.degreeOrDefault()) +
                 " x ") +
      gbits(*flags.interfaceBandwidth) + " and " +
      std::to_string(flags.latency.value_or(0)) + " us a link");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The flags
//===----------------------------------------------------------------------===//

/// Most servers, Gbit/s and microseconds.
static constexpr int64_t kMostServers = plan::kMaxDevices,
                         kMostGbits = 1'000'000, kMostLatency = 1'000'000;

/// The member of the flags, which may be given or not.
static auto whole(std::optional<int64_t> FlexNetFlags::*member, int64_t least,
                  int64_t most) {
  return setWhole(
      [=](Options &options) -> int64_t & {
        return (options.flexNet.*member).emplace(0);
      },
      least, most);
}

static auto &topologyOf(Options &options) { return options.flexNet.topology; }
static auto &measuresFile(Options &options) { return options.flexNet.measures; }
static auto &writesMeasures(Options &options) {
  return options.flexNet.writesMeasures;
}

/// 0 and 1 are what FlexNet has.
static Error parseNetOpt(Options &options, StringRef flag, StringRef value) {
  int64_t number = 0;
  if (Error error = parseWhole(flag, value, 0, number, 1))
    return error;
  options.meanings.push_back(
      "--net-opt: where parts are placed is searched for, with or without it");
  return Error::success();
}

static Error notePropagation(Options &options, StringRef, StringRef) {
  options.meanings.push_back("--enable-propagation: moves of the search take "
                             "neighbours along, with or without it");
  return Error::success();
}

FlagGroupOf<Options> ffc::flexNetFlags() {
  return {
      "FlexNet's names of flags",
      {{"--taskgraph", "FILE", "--server-tasks", setText(&Options::serverTasks),
        kCompile},
       {"--mfile", "FILE", "--profile; with --measure --export-measures",
        setText(measuresFile), kCompile},
       {"--measure", "", "the file of --mfile is written",
        setTrue(writesMeasures), kCompile},
       {"--topology", "NAME",
        "--devices: servers on one switch (fattree) or a full mesh (fc), or "
        "joined as is best, which is searched for with the strategy (topoopt)",
        setText(topologyOf), kCompile},
       {"--nsimnode", "N", "servers of --topology",
        whole(&FlexNetFlags::servers, 2, kMostServers), kCompile},
       {"--big-gpu", "K",
        "devices of every server, of --topology (1) or as --devices has",
        whole(&FlexNetFlags::gpusPerServer, 1, kMostServers), kCompile},
       {"--degree", "D",
        "interfaces of a server of --topology=fattree (1) or topoopt (4)",
        whole(&FlexNetFlags::degree, 1, kMostServers), kCompile},
       {"--node-degree", "D", "--degree",
        whole(&FlexNetFlags::degree, 1, kMostServers), kCompile},
       {"--interface-bandwidth", "B", "of an interface of --topology, Gbit/s",
        whole(&FlexNetFlags::interfaceBandwidth, 1, kMostGbits), kCompile},
       {"--network-latency", "L", "of a link of --topology, microseconds (0)",
        whole(&FlexNetFlags::latency, 0, kMostLatency), kCompile},
       {"--inter-gpu-bandwidth", "B",
        "--server-bandwidth, Gbit/s; of --topology, too (20 GiB/s)",
        whole(&FlexNetFlags::gpuBandwidth, 1, kMostGbits), kCompile},
       {"--gpu-dram-bandwidth", "B",
        "memory of the devices of --topology, Gbit/s (that of an a100)",
        whole(&FlexNetFlags::memoryBandwidth, 1, kMostGbits), kCompile},
       {"--net-opt", "N", "nothing: placement is searched for", parseNetOpt,
        kCompile},
       {"--enable-propagation", "", "nothing: moves take neighbours along",
        notePropagation, kCompile}}};
}
