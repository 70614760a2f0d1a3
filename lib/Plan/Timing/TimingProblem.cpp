//===- TimingProblem.cpp - timed tasks that a person writes ---------------===//

#include "ffc/Plan/TimingProblem.h"

#include "Text/Text.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

static constexpr size_t kMaxFileBytes = size_t(64) << 20;

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

namespace {

/// The words of a line; ':' and ',' are words of their own, and so is "->".
class Line {
public:
  Line(const std::string &text, int number) : number(number) {
    const std::string written = text.substr(0, text.find('#'));
    for (size_t at = 0; at < written.size();) {
      if (std::string(" \t\r").find(written[at]) != std::string::npos) {
        ++at;
        continue;
      }
      size_t end = at + 1;
      if (written.compare(at, 2, "->") == 0)
        end = at + 2;
      else if (written[at] != ':' && written[at] != ',')
        while (end < written.size() &&
               std::string(" \t\r:,").find(written[end]) == std::string::npos &&
               written.compare(end, 2, "->") != 0)
          ++end;
      words.push_back(written.substr(at, end - at));
      at = end;
    }
  }

  bool atEnd() const { return next == words.size(); }
  bool at(const std::string &word) const {
    return !atEnd() && words[next] == word;
  }
  /// The next word, or what stands for the end in messages.
  std::string found() const {
    return atEnd() ? "the end of the line" : quoted(words[next]);
  }
  std::string take(const std::string &what) {
    if (atEnd())
      fail(number, "expected " + what + ", found " + found());
    return words[next++];
  }
  void expect(const std::string &word) {
    if (!at(word))
      fail(number, "expected '" + word + "', found " + found());
    ++next;
  }
  void expectEnd() const {
    if (!atEnd())
      fail(number, "expected the end of the line, found " + found());
  }

  const int number;

private:
  std::vector<std::string> words;
  size_t next = 0;
};

class Reader {
public:
  TimingProblem read(const std::string &text);

private:
  void readLine(Line &line);
  void readLocal(Line &line);
  void readCollective(Line &line);
  void readExchange(Line &line);
  void readWait(Line &line);

  std::string newName(Line &line, const char *kind);
  DeviceId readDevice(Line &line);
  /// "on 0 1 2", ascending.
  std::vector<DeviceId> readDevices(Line &line);
  Picoseconds readTime(Line &line);
  /// The parts from number `first` on are those of a communication.
  void addCommunication(const char *kind, const std::string &name,
                        size_t first);

  TimingProblem problem;
  /// Parts of a communication by its name, from and to.
  std::map<std::string, std::pair<size_t, size_t>> communications;
  std::map<std::string, int> lineOf;
};

} // namespace

std::string Reader::newName(Line &line, const char *kind) {
  std::string name = line.take("a name");
  if (name == ":" || name == "," || name == "->")
    fail(line.number, "expected a name, found " + quoted(name));
  auto [at, isNew] = lineOf.emplace(name, line.number);
  if (!isNew)
    fail(line.number, std::string("expected a new name for a ") + kind +
                          ", found " + quoted(name) + " of line " +
                          std::to_string(at->second));
  return name;
}

DeviceId Reader::readDevice(Line &line) {
  const std::string word = line.take("a device");
  const auto device = parseCount(word, problem.numDevices - 1);
  if (!device)
    fail(line.number, "expected a device from 0 to " +
                          std::to_string(problem.numDevices - 1) + ", found " +
                          quoted(word));
  return static_cast<DeviceId>(*device);
}

std::vector<DeviceId> Reader::readDevices(Line &line) {
  line.expect("on");
  std::vector<DeviceId> devices = {readDevice(line)};
  while (!line.atEnd() && !line.at(":"))
    devices.push_back(readDevice(line));
  std::sort(devices.begin(), devices.end());
  auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice != devices.end())
    fail(line.number, "expected each device once, found device " +
                          std::to_string(*twice) + " twice");
  return devices;
}

/// "10 us", in two words or one.
Picoseconds Reader::readTime(Line &line) {
  std::string text = line.take("a time such as '10 us'");
  if (!line.atEnd() && !line.at(","))
    text += " " + line.take("a unit");
  std::string error;
  const auto time = parseQuantity(text, QuantityKind::Time, error);
  if (!time)
    fail(line.number, error);
  if (*time < 0 || *time > static_cast<double>(kMaxCost))
    fail(line.number,
         "expected a time from 0 to " +
             formatQuantity(static_cast<double>(kMaxCost), QuantityKind::Time) +
             ", found " + quoted(text));
  return static_cast<Picoseconds>(*time);
}

void Reader::addCommunication(const char *kind, const std::string &name,
                              size_t first) {
  const size_t end = problem.tasks.numParts();
  problem.labels.resize(end, std::string(kind) + " " + name);
  communications[name] = {first, end};
}

void Reader::readLocal(Line &line) {
  const std::string name = newName(line, "local task");
  const std::vector<DeviceId> devices = readDevices(line);
  line.expect(":");
  const Picoseconds time = readTime(line);
  for (DeviceId device : devices)
    problem.tasks.addLocal(device, time);
  problem.labels.resize(problem.tasks.numParts(), "local " + name);
}

void Reader::readCollective(Line &line) {
  const std::string name = newName(line, "collective");
  const std::vector<DeviceId> devices = readDevices(line);
  line.expect(":");
  const size_t first = problem.tasks.numParts();
  problem.tasks.addCollective(devices, readTime(line));
  addCommunication("collective", name, first);
}

/// A device sends one message after the other and receives one after the other,
/// both at once, as in CostModel::exchange where no link is shared.
void Reader::readExchange(Line &line) {
  const std::string name = newName(line, "exchange");
  line.expect(":");
  std::map<DeviceId, Picoseconds> sent, received;
  std::vector<std::pair<DeviceId, DeviceId>> meetings;
  while (true) {
    const DeviceId src = readDevice(line);
    line.expect("->");
    const DeviceId dst = readDevice(line);
    if (src == dst)
      fail(line.number, "expected a message between two devices, found one "
                        "from device " +
                            std::to_string(src) + " to itself");
    const Picoseconds time = readTime(line);
    for (Picoseconds *sum : {&sent[src], &received[dst]})
      *sum = std::min(*sum + time, kMaxCost);
    received[src];
    sent[dst];
    meetings.push_back({src, dst});
    if (line.atEnd())
      break;
    line.expect(",");
  }
  std::vector<std::pair<DeviceId, Picoseconds>> busy;
  for (auto [device, time] : sent)
    busy.push_back({device, std::max(time, received[device])});
  const size_t first = problem.tasks.numParts();
  problem.tasks.addExchange(busy, meetings);
  addCommunication("exchange", name, first);
}

void Reader::readWait(Line &line) {
  const std::string name = line.take("a communication to wait for");
  auto waited = communications.find(name);
  if (waited == communications.end())
    fail(line.number,
         "expected a communication of a line before, found " + quoted(name));
  const size_t first = waited->second.first, end = waited->second.second;
  auto partOf = [&](DeviceId device) {
    size_t part = first;
    while (part < end && problem.tasks.part(part).device != device)
      ++part;
    return part;
  };
  std::vector<DeviceId> devices;
  if (line.atEnd())
    for (size_t part = first; part < end; ++part)
      devices.push_back(problem.tasks.part(part).device);
  else
    devices = readDevices(line);
  for (DeviceId device : devices) {
    if (partOf(device) == end)
      fail(line.number, "expected a device that takes part in " + quoted(name) +
                            ", found " + std::to_string(device));
    problem.tasks.addWait(device, partOf(device));
  }
  problem.labels.resize(problem.tasks.numParts(), "wait " + name);
}

void Reader::readLine(Line &line) {
  static const std::map<std::string, void (Reader::*)(Line &)> kinds = {
      {"local", &Reader::readLocal},
      {"collective", &Reader::readCollective},
      {"exchange", &Reader::readExchange},
      {"wait", &Reader::readWait}};
  const std::string word = line.take("a task");
  auto kind = kinds.find(word);
  if (kind == kinds.end())
    fail(line.number,
         "expected local, collective, exchange or wait, found " + quoted(word));
  (this->*kind->second)(line);
  line.expectEnd();
}

TimingProblem Reader::read(const std::string &text) {
  enum { Head, Devices, Tasks } state = Head;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    Line line(text.substr(begin, end - begin), ++number);
    begin = end + 1;
    if (line.atEnd())
      continue;
    switch (state) {
    case Head:
      for (const char *word : {"ffc", "timing", "1"})
        if (line.at(word))
          line.expect(word);
        else
          fail(number, "expected 'ffc timing 1', found " + line.found());
      state = Devices;
      break;
    case Devices: {
      line.expect("devices");
      const std::string found = line.found();
      const auto count =
          parseCount(line.take("a number of devices"), kMaxDevices);
      if (!count || *count == 0)
        fail(number, "expected a number of devices from 1 to " +
                         std::to_string(kMaxDevices) + ", found " + found);
      problem.numDevices = static_cast<int>(*count);
      problem.overlap = line.at("overlap");
      if (problem.overlap)
        line.expect("overlap");
      state = Tasks;
      break;
    }
    case Tasks:
      readLine(line);
      break;
    }
    line.expectEnd();
  }
  if (state != Tasks)
    fail(std::max(number, 1),
         std::string("expected ") +
             (state == Head ? "'ffc timing 1'" : "'devices'") +
             ", found the end of the file");
  return std::move(problem);
}

std::optional<TimingProblem> TimingProblem::parse(const std::string &text,
                                                  const std::string &fileName,
                                                  std::string &error) {
  try {
    return Reader().read(text);
  } catch (const Malformed &malformed) {
    error = fileName + ":" + std::to_string(malformed.line) + ": " +
            malformed.message;
    return std::nullopt;
  }
}

std::optional<TimingProblem> TimingProblem::load(const std::string &path,
                                                 std::string &error) {
  const auto text = readTextFile(path, kMaxFileBytes, error);
  if (!text)
    return std::nullopt;
  return parse(*text, path, error);
}

std::vector<PartTime> ffc::plan::timeProblem(const TimingProblem &problem) {
  std::vector<PartTime> times(problem.tasks.numParts());
  std::vector<Picoseconds> local(problem.numDevices),
      network(problem.numDevices), receive(problem.numDevices);
  QueueTimes queues(local.data(), local.data());
  if (problem.overlap)
    queues = {local.data(), network.data(), receive.data()};
  problem.tasks.sweep(queues,
                      [&](size_t part, Picoseconds start, Picoseconds end) {
                        times[part] = {start, end};
                      });
  return times;
}
