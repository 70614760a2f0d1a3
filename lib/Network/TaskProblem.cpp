//===- TaskProblem.cpp - tasks and a network that a person writes ---------===//

#include "ffc/Network/TaskProblem.h"

#include "ffc/Plan/Topology.h"

#include <algorithm>
#include <sstream>

using namespace ffc::network;
using ffc::plan::QuantityKind;
namespace plan = ffc::plan;

/// All pairs have paths, so that more servers would not be small any more.
static constexpr int kMaxVertices = 1024;

namespace {

struct Fault {
  int line;
  std::string message;
};

/// The words of a line.
class Line {
public:
  Line(const std::string &text, int number) : number(number) {
    std::istringstream stream(text.substr(0, text.find('#')));
    for (std::string word; stream >> word;)
      words.push_back(word);
  }

  const int number;

  [[noreturn]] void fail(const std::string &expected) const {
    throw Fault{number, "expected " + expected + ", found " +
                            (atEnd() ? "the end of the line"
                                     : "'" + words[next] + "'")};
  }
  bool atEnd() const { return next == words.size(); }
  bool at(const std::string &word) const {
    return !atEnd() && words[next] == word;
  }
  /// Is that word next? Then it is taken.
  bool take(const std::string &word) {
    const bool found = at(word);
    next += found ? 1 : 0;
    return found;
  }
  void expect(const std::string &word) {
    if (!take(word))
      fail("'" + word + "'");
  }
  std::string text(const std::string &what) {
    if (atEnd())
      fail(what);
    return words[next++];
  }
  bool atNumber() const {
    return !atEnd() &&
           words[next].find_first_not_of("0123456789") == std::string::npos;
  }
  /// A whole number from `least` to `most`.
  int whole(const std::string &what, int64_t least, int64_t most) {
    const std::string expected =
        what + " from " + std::to_string(least) + " to " + std::to_string(most);
    size_t used = 0;
    int64_t value = 0;
    try {
      if (!atEnd())
        value = std::stoll(words[next], &used);
    } catch (const std::logic_error &) { // no number, or too large a one
      used = 0;
    }
    if (atEnd() || used != words[next].size() || value < least || value > most)
      fail(expected);
    ++next;
    return static_cast<int>(value);
  }
  /// With its unit, in one word or two; at least `least` base units.
  double quantity(const std::string &what, QuantityKind kind, double least) {
    std::string error;
    if (atEnd())
      fail(what);
    auto value = plan::parseQuantity(words[next], kind, error);
    size_t used = 1;
    if (!value && next + 1 < words.size()) {
      value = plan::parseQuantity(words[next] + words[next + 1], kind, error);
      used = 2;
    }
    if (!value || *value < least)
      fail(what);
    next += used;
    return *value;
  }

private:
  std::vector<std::string> words;
  size_t next = 0;
};

class Reader {
public:
  TaskProblem read(const std::string &text);

private:
  void readLine(Line &line);
  void readLink(Line &line);
  void readPath(Line &line);
  void readRing(Line &line);
  void readTask(Line &line, TaskType type);

  VertexId server(Line &line) {
    return line.whole("a server", 0, problem.graph.numServers - 1);
  }
  VertexId vertex(Line &line) {
    return line.whole("a server or switch", 0,
                      problem.network.numVertices() - 1);
  }

  TaskProblem problem;
  std::map<std::string, int32_t> tasks;
  std::map<std::pair<VertexId, VertexId>, LinkId> links;
  bool sized = false;
};

} // namespace

/// link 0 1 10GB/s 1us [x 2] [one-way]
void Reader::readLink(Line &line) {
  Link link;
  link.src = vertex(line);
  link.dst = vertex(line);
  if (link.src == link.dst)
    throw Fault{line.number, "expected a link between two vertices, found " +
                                 std::to_string(link.src) + " twice"};
  link.bandwidth = line.quantity("a bandwidth such as '10GB/s'",
                                 QuantityKind::BytesPerSecond, 1);
  link.latency = static_cast<Picoseconds>(
      line.quantity("a latency such as '1us'", QuantityKind::Time, 0));
  if (line.take("x"))
    link.interfaces = line.whole("interfaces", 1, plan::kMaxDevices);
  link.bandwidth *= link.interfaces;
  const bool oneWay = line.take("one-way");
  for (int way = 0; way < (oneWay ? 1 : 2); ++way) {
    if (!links
             .emplace(std::pair(link.src, link.dst),
                      static_cast<LinkId>(problem.network.links.size()))
             .second)
      throw Fault{line.number, "expected each link once, found that from " +
                                   std::to_string(link.src) + " to " +
                                   std::to_string(link.dst) + " twice"};
    problem.network.links.push_back(link);
    std::swap(link.src, link.dst);
  }
}

/// path 0 2 1 [share 0.5]
void Reader::readPath(Line &line) {
  std::vector<VertexId> by;
  while (line.atNumber() || by.size() < 2)
    by.push_back(vertex(line));
  Path path;
  for (size_t i = 0; i + 1 < by.size(); ++i) {
    auto link = links.find({by[i], by[i + 1]});
    if (link == links.end())
      throw Fault{line.number, "expected links of lines before, found none "
                               "from " +
                                   std::to_string(by[i]) + " to " +
                                   std::to_string(by[i + 1])};
    path.links.push_back(link->second);
  }
  if (line.take("share")) {
    const std::string word = line.text("a share such as '0.5'");
    try {
      path.share = std::stod(word);
    } catch (const std::logic_error &) {
      path.share = 0;
    }
    if (!(path.share > 0 && path.share <= 1))
      throw Fault{line.number,
                  "expected a share above 0, at most 1, found '" + word + "'"};
  }
  problem.network.paths[{by.front(), by.back()}].push_back(path);
}

/// ring 4 jumps 1 1
void Reader::readRing(Line &line) {
  const int members =
      line.whole("a number of members", 2, problem.graph.numServers);
  line.expect("jumps");
  std::vector<int32_t> jumps;
  while (jumps.empty() || !line.atEnd())
    jumps.push_back(line.whole("a jump", -problem.graph.numServers,
                               problem.graph.numServers));
  problem.network.rings[members].push_back(jumps);
}

/// compute NAME on 0 for 1 ms, transfer NAME from 0 to 1 of 1 MB, all-reduce
/// NAME on 0 1 2 of 1 MB [inside 1 ms], each with [after NAME...]
void Reader::readTask(Line &line, TaskType type) {
  const std::string name = line.text("a name");
  const auto id = static_cast<int32_t>(problem.graph.tasks.size());
  if (!tasks.emplace(name, id).second)
    throw Fault{line.number, "expected a new name, found '" + name + "' again"};
  auto milliseconds = [&](const char *what) {
    return static_cast<float>(line.quantity(what, QuantityKind::Time, 0) / 1e9);
  };
  NetworkTask task;
  task.type = type;
  if (type == TaskType::Transfer) {
    line.expect("from");
    task.src = server(line);
    line.expect("to");
    task.dst = server(line);
  } else {
    line.expect("on");
    task.server = server(line);
  }
  if (type == TaskType::AllReduce)
    for (task.members = {task.server}; line.atNumber();)
      task.members.push_back(server(line));
  line.expect(type == TaskType::Forward ? "for" : "of");
  if (type == TaskType::Forward)
    task.milliseconds = milliseconds("a time such as '1ms'");
  else
    task.bytes = static_cast<int64_t>(
        line.quantity("a size such as '1MB'", QuantityKind::Bytes, 1));
  if (type == TaskType::AllReduce && line.take("inside"))
    task.milliseconds = milliseconds("a time such as '1ms'");
  problem.graph.tasks.push_back(task);
  problem.names.push_back(name);
  if (!line.take("after"))
    return;
  do {
    const std::string before = line.text("a task");
    auto found = tasks.find(before);
    if (found == tasks.end() || found->second == id)
      throw Fault{line.number,
                  "expected a task of a line before, found '" + before + "'"};
    if (problem.graph.tasks[found->second].type == TaskType::AllReduce)
      throw Fault{line.number, "expected nothing after an all-reduce, found '" +
                                   name + "' after '" + before + "'"};
    problem.graph.tasks[found->second].next.push_back(id);
  } while (!line.atEnd());
}

void Reader::readLine(Line &line) {
  if (!sized) {
    line.expect("servers");
    problem.graph.numServers = problem.network.numServers =
        line.whole("a number of servers", 1, kMaxVertices);
    if (line.take("switches"))
      problem.network.numSwitches =
          line.whole("a number of switches", 1, kMaxVertices);
    sized = true;
  } else if (line.take("link")) {
    readLink(line);
  } else if (line.take("path")) {
    readPath(line);
  } else if (line.take("ring")) {
    readRing(line);
  } else if (line.take("compute")) {
    readTask(line, TaskType::Forward);
  } else if (line.take("transfer")) {
    readTask(line, TaskType::Transfer);
  } else if (line.take("all-reduce")) {
    readTask(line, TaskType::AllReduce);
  } else {
    line.fail("link, path, ring, compute, transfer or all-reduce");
  }
}

TaskProblem Reader::read(const std::string &text) {
  std::istringstream stream(text);
  int number = 0;
  bool begun = false;
  for (std::string each; std::getline(stream, each);) {
    Line line(each, ++number);
    if (line.atEnd())
      continue;
    if (begun)
      readLine(line);
    else if (!(line.take("ffc") && line.take("tasks") && line.take("1")))
      line.fail("'ffc tasks 1'");
    begun = true;
    if (!line.atEnd())
      line.fail("the end of the line");
  }
  if (!sized)
    throw Fault{std::max(number, 1),
                std::string("expected ") +
                    (begun ? "'servers'" : "'ffc tasks 1'") +
                    ", found the end of the file"};
  addShortestPaths(problem.network);
  std::string fault = faultOf(problem.network);
  if (fault.empty())
    fault = faultOf(problem.graph);
  if (!fault.empty())
    throw Fault{number, fault};
  return std::move(problem);
}

void ffc::network::addShortestPaths(Network &network) {
  std::vector<std::vector<LinkId>> leaving(network.numVertices());
  for (size_t l = 0; l < network.links.size(); ++l)
    leaving[network.links[l].src].push_back(static_cast<LinkId>(l));
  for (VertexId src = 0; src < network.numServers; ++src) {
    std::vector<LinkId> last(network.numVertices(), -1);
    std::vector<VertexId> reached = {src};
    for (size_t r = 0; r < reached.size(); ++r)
      for (LinkId link : leaving[reached[r]]) {
        const VertexId to = network.links[link].dst;
        if (to == src || last[to] >= 0)
          continue;
        last[to] = link;
        reached.push_back(to);
      }
    for (VertexId dst = 0; dst < network.numServers; ++dst) {
      if (last[dst] < 0 || network.paths.count({src, dst}))
        continue;
      Path path;
      for (VertexId at = dst; at != src; at = network.links[last[at]].src)
        path.links.push_back(last[at]);
      std::reverse(path.links.begin(), path.links.end());
      network.paths[{src, dst}] = {path};
    }
  }
}

bool TaskProblem::isText(const std::string &contents) {
  const size_t begin = contents.find_first_not_of(" \t\r\n");
  return begin == std::string::npos || contents[begin] == '#' ||
         contents.compare(begin, 4, "ffc ") == 0;
}

std::optional<TaskProblem> TaskProblem::parse(const std::string &text,
                                              const std::string &fileName,
                                              std::string &error) {
  try {
    return Reader().read(text);
  } catch (const Fault &fault) {
    error = fileName + ":" + std::to_string(fault.line) + ": " + fault.message;
    return std::nullopt;
  }
}
