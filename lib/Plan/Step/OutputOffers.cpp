//===- OutputOffers.cpp - outputs are offered for dumping -----------------===//

#include "OutputOffers.h"

#include <algorithm>

using namespace ffc::plan;

OutputOffers::OutputOffers(const Graph &graph, ProgramBuilder &build)
    : graph(graph), build(build) {
  for (const Output &output : graph.outputs)
    names[output.value].push_back(output.name);
}

bool OutputOffers::isComplete(ValueId value, const Placement &where) const {
  return names.count(value) && !where.probed &&
         where.isComplete(graph.value(value).type.shape);
}

void OutputOffers::offer(DeviceId device, BufferId buffer,
                         const std::vector<std::string> &as) {
  for (const std::string &name : as)
    build.addAction(device, {{}, name, ProbeAction{name, buffer}});
}

void OutputOffers::offer(ValueId value, Placement &where) {
  std::map<std::pair<DeviceId, Region>, BufferId> copies;
  for (const Holding &holding : where.holdings)
    if (holding.region.isBox() && !holding.region.empty())
      copies.emplace(std::make_pair(holding.device, holding.region),
                     holding.buffer);
  for (const auto &[place, buffer] : copies)
    offer(place.first, buffer, names[value]);
  where.probed = true;
}

void OutputOffers::offerPart(ValueId value, Placement &where,
                             const std::vector<Need> &written, bool isLast) {
  const auto known = names.find(value);
  if (known == names.end())
    return;
  std::vector<const Holding *> parts;
  for (const Need &part : written) {
    const auto holding = std::find_if(
        where.holdings.begin(), where.holdings.end(), [&](const Holding &each) {
          return each.device == part.device && each.region == part.region;
        });
    if (holding == where.holdings.end())
      return;
    if (part.region.isBox() && !part.region.empty())
      parts.push_back(&*holding);
  }
  for (const Holding *part : parts)
    offer(part->device, part->buffer, known->second);
  where.probed = isLast;
}
