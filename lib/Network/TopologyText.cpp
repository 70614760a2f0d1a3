//===- TopologyText.cpp - a network as a topology file --------------------===//

#include "ffc/Network/TopologyText.h"

#include <algorithm>

using namespace ffc::network;
using ffc::plan::formatQuantity;
using ffc::plan::QuantityKind;

static std::string nodeOf(VertexId server) {
  return "n" + std::to_string(server);
}

namespace {

class TopologyPrinter {
public:
  TopologyPrinter(const Network &network, const ServerParts &parts)
      : network(network), parts(parts) {}

  std::string print(const std::string &name);

private:
  void printServers();
  void printLinks();
  void printRoutes();
  void link(const char *ends, const std::string &a, const std::string &b,
            double bandwidth, Picoseconds latency, int cables = 1);
  double bandwidthOfNic(VertexId server) const;
  /// A server of one device is that device, as it is in the network. Several
  /// share a NIC, and a router behind it, which others' messages pass.
  bool hasRouters() const { return parts.devices > 1; }
  /// Where the links of a server begin.
  std::string placeOf(VertexId server) const {
    return hasRouters() ? nodeOf(server) + ".router"
                        : "d" + std::to_string(server);
  }

  const Network &network;
  const ServerParts &parts;
  std::string text;
};

} // namespace

/// An entry of `links`; `ends` is "between: [A, B]" or "from: A, to: B".
void TopologyPrinter::link(const char *ends, const std::string &a,
                           const std::string &b, double bandwidth,
                           Picoseconds latency, int cables) {
  const bool both = std::string(ends) == "between";
  text += "  - {" + (both ? "between: [" + a + ", " + b + "]"
                          : "from: " + a + ", to: " + b);
  text +=
      ", bandwidth: " + formatQuantity(bandwidth, QuantityKind::BytesPerSecond);
  text += ", latency: " +
          formatQuantity(static_cast<double>(latency), QuantityKind::Time);
  if (cables > 1)
    text += ", cables: " + std::to_string(cables);
  text += "}\n";
}

/// Of all interfaces to send or, if they are more, to receive.
double TopologyPrinter::bandwidthOfNic(VertexId server) const {
  double out = 0, in = 0;
  for (const Link &each : network.links) {
    out += each.src == server ? each.bandwidth : 0;
    in += each.dst == server ? each.bandwidth : 0;
  }
  return std::max(out, in);
}

void TopologyPrinter::printServers() {
  text += "nodes:\n";
  for (VertexId v = 0; v < network.numServers; ++v)
    text += "  - " + nodeOf(v) + "\n";
  text += "devices:\n";
  for (VertexId v = 0; v < network.numServers; ++v)
    for (int i = 0; i < parts.devices; ++i)
      text += "  - {name: d" + std::to_string(v * parts.devices + i) +
              ", kind: " + parts.kind + ", node: " + nodeOf(v) + "}\n";
  if (!hasRouters())
    return;
  text += "switches:\n";
  for (VertexId v = 0; v < network.numServers; ++v)
    text += "  - {name: " + nodeOf(v) + ".router}\n  - {name: " + nodeOf(v) +
            ".switch, node: " + nodeOf(v) + "}\n";
  text += "nics:\n";
  for (VertexId v = 0; v < network.numServers; ++v)
    text += "  - {name: " + nodeOf(v) + ".nic0, node: " + nodeOf(v) + "}\n";
}

void TopologyPrinter::printLinks() {
  text += "links:\n";
  for (VertexId v = 0; hasRouters() && v < network.numServers; ++v) {
    const std::string nic = nodeOf(v) + ".nic0";
    const double bandwidth = bandwidthOfNic(v);
    link("between", nic, nodeOf(v) + ".router", bandwidth, 0);
    for (int i = 0; i < parts.devices; ++i) {
      const std::string device = "d" + std::to_string(v * parts.devices + i);
      link("between", device, nic, bandwidth, 0);
      // Half of the latency before and half behind the switch.
      link("between", device, nodeOf(v) + ".switch", parts.bandwidth,
           parts.latency / 2);
    }
  }
  std::map<std::pair<VertexId, VertexId>, const Link *> linkOf;
  for (const Link &each : network.links)
    linkOf[{each.src, each.dst}] = &each;
  for (const Link &each : network.links) {
    const auto back = linkOf.find({each.dst, each.src});
    const bool both = back != linkOf.end() &&
                      back->second->bandwidth == each.bandwidth &&
                      back->second->latency == each.latency;
    if (both && each.dst < each.src)
      continue;
    link(both ? "between" : "from", placeOf(each.src), placeOf(each.dst),
         each.bandwidth, each.latency, each.interfaces);
  }
}

/// From node to node over the routers, whichever device sends; or from device
/// to device, past others.
void TopologyPrinter::printRoutes() {
  text += "routes:\n";
  auto via = [&](const Path &path) {
    std::vector<VertexId> passed = {network.links[path.links[0]].src};
    for (LinkId each : path.links)
      passed.push_back(network.links[each].dst);
    if (!hasRouters()) // the ends go without saying
      passed = {passed.begin() + 1, passed.end() - 1};
    std::string list;
    for (VertexId server : passed)
      list += (list.empty() ? "" : ", ") + placeOf(server);
    return "via: [" + list + "]";
  };
  auto endOf = [&](VertexId server) {
    return hasRouters() ? nodeOf(server) : placeOf(server);
  };
  for (const auto &[ends, paths] : network.paths) {
    text += "  - {from: " + endOf(ends.first) + ", to: " + endOf(ends.second);
    if (paths.size() == 1) {
      text += ", " + via(paths[0]) + "}\n";
      continue;
    }
    text += ", paths: [";
    for (size_t i = 0; i < paths.size(); ++i)
      text += (i ? ", {" : "{") + via(paths[i]) +
              ", share: " + std::to_string(paths[i].share) + "}";
    text += "]}\n";
  }
}

/// `text` in quotation marks, as YAML reads them.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string TopologyPrinter::print(const std::string &name) {
  text = "name: " + quoted(name) + "\n";
  printServers();
  printLinks();
  printRoutes();
  return std::move(text);
}

std::string ffc::network::printTopology(const Network &network,
                                        const std::string &name,
                                        const ServerParts &parts) {
  return TopologyPrinter(network, parts).print(name);
}
