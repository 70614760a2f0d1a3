//===- RouteFile.cpp - reads routing tables -------------------------------===//

#include "Text/Text.h"
#include "Text/YamlFields.h"
#include "TopologyReaders.h"

using namespace ffc::plan;
using namespace ffc::plan::yaml;

/// The keys `via` and, where there are several paths, `share`.
static PathStatement readPath(const YamlNode &map, const std::string &what) {
  PathStatement path;
  path.line = map.line;
  if (const YamlNode *via = map.find("via")) {
    if (!via->isSequence())
      fail(*via, "expected 'via' of " + what +
                     " to be a list of names, found " + via->describe());
    for (const YamlNode &name : via->children)
      path.via.push_back(text(name, "a name"));
  }
  if (map.find("share")) {
    path.share = number(map, "share", what);
    if (path.share == 0)
      fail(map, "expected a share above 0 of " + what + ", found 0");
  }
  return path;
}

static void readRoute(const YamlNode &map, TopologyBuilder &builder) {
  const std::string what = "a route";
  expectMap(map, what, {"from", "to", "via", "paths"});
  const std::string &from = text(require(map, "from", what), "a name");
  const std::string &to = text(require(map, "to", what), "a name");
  const YamlNode *several = map.find("paths");
  if (!several) {
    require(map, "via", what);
    builder.addRoute(map.line, from, to, {readPath(map, what)});
    return;
  }
  if (map.find("via"))
    fail(map, "a route has 'via' (one path) or 'paths' (several), not both");
  expectList(*several, "paths of a route");
  std::vector<PathStatement> paths;
  size_t shares = 0;
  for (const YamlNode &item : several->children) {
    expectMap(item, "a path", {"via", "share"});
    require(item, "via", "a path");
    paths.push_back(readPath(item, "a path"));
    shares += item.find("share") ? 1 : 0;
  }
  if (shares > 0 && shares < paths.size())
    fail(*several,
         "expected a share of all paths of a route or of none, found " +
             std::to_string(shares) + " of " + std::to_string(paths.size()));
  for (PathStatement &path : paths)
    if (shares == 0)
      path.share = 1.0 / static_cast<double>(paths.size());
  builder.addRoute(map.line, from, to, paths);
}

void ffc::plan::readRoutes(const YamlNode &list, TopologyBuilder &builder) {
  expectList(list, "routes");
  for (const YamlNode &item : list.children)
    readRoute(item, builder);
}

void ffc::plan::readRouting(const YamlNode &node, TopologyBuilder &builder) {
  const std::string &routing = text(node, "'single' or 'spread'");
  if (routing != "single" && routing != "spread")
    fail(node, "expected routing to be 'single' or 'spread', found " +
                   quoted(routing));
  if (routing == "spread")
    builder.spreadRoutes();
}
