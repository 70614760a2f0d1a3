//===- ProgramReader.cpp - what the text of a program does ----------------===//

#include "ffc/Codegen/ProgramReader.h"

#include "ProgramText.h"
#include "TableRows.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

namespace {

/// That one row stands for.
constexpr int64_t kMostCopies = 1 << 22;

/// What one rank does.
class RankReader {
public:
  RankReader(const ProgramText &text, const TablesText &tables, TableRows rows)
      : text(text), tables(tables), rows(rows) {}

  Expected<RankActions> read() {
    result.groups = tables.groups;
    result.schedules = tables.schedules;
    readBuffers();
    readSlots();
    const size_t count = rows.nextCount();
    if (!rows.error && count != text.objects.size())
      rows.fail("rows of " + std::to_string(text.objects.size()) + " layers");
    for (size_t i = 0; i < count && !rows.error; ++i)
      layers.push_back(rows.take(rows.nextCount()));
    for (const ObjectText &object : text.objects)
      if (!rows.error)
        makeLayer(object);
    runPasses();
    if (!rows.error && !rows.empty())
      rows.fail("the end of the list after its passes");
    for (auto [calls, actions] : {std::pair(&text.step, &result.step),
                                  std::pair(&text.update, &result.update)})
      for (const CallText &call : *calls)
        run(call, *actions);
    if (rows.error)
      return createStringError(*rows.error);
    return std::move(result);
  }

private:
  /// A member's actions, by part.
  using Parts = std::vector<std::vector<std::string>>;
  using Shards = std::vector<size_t>;

  void readBuffers() {
    const size_t count = rows.nextCount();
    for (size_t i = 0; i < count && !rows.error; ++i) {
      // One number after the other, in their order.
      std::string line = rows.word();
      line += " " + std::to_string(rows.next());
      line += " " + rows.word();
      line += " " + rows.word();
      const size_t rank = rows.nextCount();
      ranks.push_back(rank);
      line += " " + rows.list(rank);
      line += " at " + rows.list(rank);
      line += " of " + rows.list(rank);
      result.buffers.push_back(std::move(line));
    }
  }

  void readSlots() {
    for (auto [what, names] : {std::pair("state", &tables.states),
                               std::pair("input", &tables.inputs)}) {
      const size_t count = rows.nextCount();
      for (size_t i = 0; i < count && !rows.error; ++i) {
        const std::string name = nameOf(*names, rows);
        result.slots.push_back(std::string(what) + " " + name + " " +
                               std::to_string(rows.next()));
      }
    }
    if (const int64_t loss = rows.next(); loss >= 0)
      result.slots.push_back("loss " + std::to_string(loss));
  }

  std::string nameOf(const std::vector<std::string> &names, TableRows &from) {
    const size_t number = from.nextCount();
    if (number < names.size())
      return names[number];
    from.fail("the number of a name");
    return "";
  }

  void makeLayer(const ObjectText &object) {
    auto of = text.classes.find(object.className);
    if (of == text.classes.end() || object.number >= layers.size())
      return rows.fail("a class and the number of a layer for '" + object.name +
                       "'");
    const ClassText &kind = of->second;
    kinds[object.name] = &kind;
    TableRows &mine = layers[object.number];
    auto &shards = values[object.name];
    StringMap<std::string> parameters;
    if (object.arguments.size() != kind.given.size() + kind.parameters.size())
      return rows.fail("the arguments of '" + object.name + "'");
    for (auto [i, name] : enumerate(kind.given)) {
      auto [layer, value] = StringRef(object.arguments[i]).split('.');
      shards[name] = values[layer][value];
    }
    for (auto [i, name] : enumerate(kind.parameters))
      parameters[name] = object.arguments[kind.given.size() + i];
    for (const MemberText &member : kind.members) {
      Parts &parts = actions[object.name][member.name];
      switch (member.kind) {
      case MemberText::Kind::Shards:
        for (size_t left = mine.nextCount(); left > 0 && !mine.error; --left)
          shards[member.name].push_back(mine.nextCount());
        break;
      case MemberText::Kind::Kernel:
        parts = kernel(member, mine, shards, parameters);
        break;
      case MemberText::Kind::Reshard:
        parts = reshard(mine);
        break;
      case MemberText::Kind::Dump:
        parts = dump(mine);
        break;
      }
      if (mine.error)
        return rows.failAs(*mine.error + ", in the rows of '" + object.name +
                           "." + member.name + "'");
    }
    if (!mine.empty())
      mine.fail("the end of the rows of '" + object.name + "'");
    if (mine.error)
      rows.failAs(*mine.error);
  }

  Parts kernel(const MemberText &member, TableRows &mine,
               StringMap<Shards> &shards,
               const StringMap<std::string> &parameters) {
    Parts parts;
    const size_t count = mine.nextCount();
    if (count == 0 || mine.error)
      return parts;
    const std::string op = nameOf(tables.operators, mine);
    const std::string task = op + "#" + std::to_string(mine.next()) + "@";
    const std::string instance = std::to_string(mine.next());
    for (size_t i = 0; i < count && !mine.error; ++i) {
      parts.emplace_back();
      for (size_t left = mine.nextCount(); left > 0 && !mine.error; --left)
        parts.back().push_back(
            tile(member, task, instance, mine, shards, parameters));
    }
    return parts;
  }

  std::string tile(const MemberText &member, const std::string &task,
                   const std::string &instance, TableRows &mine,
                   StringMap<Shards> &shards,
                   const StringMap<std::string> &parameters) {
    std::string line = std::to_string(mine.next()) + " " + task;
    line += std::to_string(mine.next()) + "." + instance + " " + member.callee;
    for (const auto *names : {&member.ins, &member.outs}) {
      SmallVector<std::string> buffers;
      for (const std::string &name : *names) {
        if (name == "absent") {
          buffers.push_back("-");
          continue;
        }
        const Shards &of = shards[name];
        const size_t shard = mine.nextCount();
        if (shard >= of.size())
          mine.fail("a shard of '" + name + "'");
        else
          buffers.push_back(std::to_string(of[shard]));
      }
      line += " (" + join(buffers, ", ") + ")";
    }
    for (size_t left = mine.nextCount(); left > 0 && !mine.error; --left)
      line += " adds to " + std::to_string(mine.next());
    for (const std::string &arg : member.args) {
      auto parameter = parameters.find(arg);
      line += " " + (parameter == parameters.end() ? arg : parameter->second);
    }
    return line;
  }

  Parts dump(TableRows &mine) {
    Parts parts;
    for (size_t turns = mine.nextCount(); turns > 0 && !mine.error; --turns) {
      parts.emplace_back();
      for (size_t left = mine.nextCount(); left > 0 && !mine.error; --left) {
        const std::string name = nameOf(tables.outputs, mine);
        parts.back().push_back("offer " + name + " " +
                               std::to_string(mine.next()));
      }
    }
    return parts;
  }

  Parts reshard(TableRows &mine) {
    const std::string op = nameOf(tables.operators, mine);
    const std::string phase = std::to_string(mine.next());
    std::vector<size_t> counts(mine.error ? 0 : mine.nextCount());
    for (size_t &count : counts)
      count = mine.nextCount();
    Parts parts;
    std::vector<std::string> transfers;
    for (size_t count : counts) {
      parts.emplace_back();
      for (size_t i = 0; i < count && !mine.error; ++i)
        addAction(mine, op + "#" + phase + "@", parts.back(), transfers);
    }
    return parts;
  }

  void addAction(TableRows &mine, const std::string &task,
                 std::vector<std::string> &lines,
                 std::vector<std::string> &transfers) {
    const std::string kind = mine.word();
    if (kind == "wait") {
      const size_t number = mine.nextCount();
      if (number >= transfers.size())
        return mine.fail("communication that was started before");
      lines.push_back("wait for " + transfers[number]);
      return;
    }
    const int64_t position = mine.next();
    const std::string point = std::to_string(mine.next());
    const std::string id = task + point + "." + std::to_string(mine.next());
    if (kind == "copies")
      return addCopies(mine, position, id, lines);
    const std::string transfer = nameOf(tables.transfers, mine);
    std::string line = std::to_string(position) + " " + id + " ";
    if (kind == "exchange") {
      line += "exchange " + transfer + " tag " + std::to_string(mine.next());
      for (const char *way : {" to ", " from "})
        for (size_t left = mine.nextCount(); left > 0 && !mine.error; --left) {
          const std::string peer = std::to_string(mine.next());
          line += way + peer + ": " + std::to_string(mine.next());
        }
    } else if (kind == "collective") {
      line += mine.word() + " " + transfer;
      line += " group " + std::to_string(mine.next());
      line += ": " + std::to_string(mine.next());
      line += " -> " + std::to_string(mine.next());
      line += " " + mine.word();
      line += " " + mine.word();
      line += " root " + std::to_string(mine.next());
      if (const int64_t schedule = mine.next(); schedule >= 0)
        line += " schedule " + std::to_string(schedule);
      line += " starts " + std::to_string(mine.next());
    } else {
      return mine.fail("copies, exchange, collective or wait, found '" + kind +
                       "'");
    }
    transfers.push_back(line);
    lines.push_back(std::move(line));
  }

  /// Every turn of the loops is a line.
  void addCopies(TableRows &mine, int64_t position, const std::string &id,
                 std::vector<std::string> &lines) {
    struct Copy {
      std::string how, buffers;
      std::vector<int64_t> at, size; ///< of the target, then of the source
      std::vector<std::vector<int64_t>> steps;
      size_t rank = 0;
    };
    auto numbers = [&](size_t count) {
      std::vector<int64_t> list;
      for (size_t i = 0; i < count && !mine.error; ++i)
        list.push_back(mine.next());
      return list;
    };
    std::vector<Copy> body(mine.error ? 0 : mine.nextCount());
    const size_t loops = mine.nextCount();
    const std::vector<int64_t> turns = numbers(loops);
    for (Copy &copy : body) {
      copy.how = mine.word();
      const size_t dst = mine.nextCount();
      copy.buffers = std::to_string(dst) + " " + std::to_string(mine.next());
      if (dst >= ranks.size())
        return mine.fail("the number of a buffer");
      copy.rank = ranks[dst];
      copy.at = numbers(2 * copy.rank);
      copy.size = numbers(copy.rank);
      for (size_t loop = 0; loop < loops; ++loop)
        copy.steps.push_back(numbers(2 * copy.rank));
    }
    // So that a damaged file ends, too.
    int64_t all = static_cast<int64_t>(body.size());
    for (int64_t turns : turns)
      if (turns < 1 || turns > kMostCopies || (all *= turns) > kMostCopies)
        return mine.fail("at most " + std::to_string(kMostCopies) + " copies");
    std::vector<int64_t> turn(loops);
    auto text = [](ArrayRef<int64_t> list) {
      return "[" +
             join(map_range(list, [](int64_t n) { return std::to_string(n); }),
                  ", ") +
             "]";
    };
    for (bool more = !mine.error; more;) {
      for (const Copy &copy : body) {
        std::vector<int64_t> at = copy.at;
        for (size_t loop = 0; loop < loops; ++loop)
          for (size_t i = 0; i < at.size(); ++i)
            at[i] += turn[loop] * copy.steps[loop][i];
        lines.push_back(std::to_string(position++) + " " + id + " " + copy.how +
                        " " + copy.buffers + " " +
                        text(ArrayRef(at).take_front(copy.rank)) + " from " +
                        text(ArrayRef(at).drop_front(copy.rank)) + " size " +
                        text(copy.size));
      }
      size_t loop = loops;
      while (loop > 0 && ++turn[loop - 1] >= turns[loop - 1])
        turn[--loop] = 0;
      more = loop > 0;
    }
  }

  void runPasses() {
    for (size_t left = rows.nextCount(); left > 0 && !rows.error; --left) {
      const size_t number = rows.nextCount();
      const auto pass = number < text.passNames.size()
                            ? text.passes.find(text.passNames[number])
                            : text.passes.end();
      if (pass == text.passes.end())
        return rows.fail("the number of a pass of the step");
      for (const CallText &call : pass->second)
        run(call, result.step);
    }
  }

  void run(const CallText &call, std::vector<std::string> &to) {
    auto object = kinds.find(call.object);
    if (object == kinds.end())
      return failAt(call, "an object of a layer", call.object);
    const ClassText &kind = *object->second;
    auto method = kind.methods.find(call.method);
    if (method == kind.methods.end())
      return failAt(call, "a method of its class", call.method);
    for (const CallText &each : method->second) {
      auto &members = actions[call.object];
      auto member = members.find(each.object);
      if (member == members.end())
        return failAt(each, "a member of its class", each.object);
      const Parts &parts = member->second;
      size_t first = 0, last = parts.size();
      if (each.method == "next") {
        first = turns[call.object][each.object]++;
        last = std::min(first + 1, last);
      } else if (each.method == "start")
        last = std::min<size_t>(1, last);
      else if (each.method == "finish")
        first = last - std::min<size_t>(1, last);
      else if (each.method == "part" &&
               !StringRef(each.argument).getAsInteger(10, first))
        last = std::min(first + 1, last);
      for (size_t part = first; part < last; ++part)
        append_range(to, parts[part]);
    }
  }

  void failAt(const CallText &call, const std::string &expected,
              const std::string &found) {
    if (!rows.error)
      rows.error = text.file + ":" + std::to_string(call.line) + ": expected " +
                   expected + ", found '" + found + "'";
  }

  const ProgramText &text;
  const TablesText &tables;
  TableRows rows;
  std::vector<TableRows> layers;
  std::vector<size_t> ranks;          ///< of the buffers
  StringMap<const ClassText *> kinds; ///< of the objects
  StringMap<StringMap<Shards>> values;
  StringMap<StringMap<Parts>> actions;
  StringMap<StringMap<size_t>> turns; ///< that members took
  RankActions result;
};

} // namespace

Expected<std::vector<RankActions>>
codegen::readProgram(const SourceFile &textFile, const SourceFile &tablesFile) {
  auto text = readText(textFile);
  if (!text)
    return text.takeError();
  auto tables = readTables(tablesFile);
  if (!tables)
    return tables.takeError();
  std::vector<RankActions> result;
  for (auto [number, row] : tables->places) {
    if (number >= tables->widths.size())
      return createStringError(tablesFile.path + ": expected a class below " +
                               Twine(tables->widths.size()) + ", found " +
                               Twine(number));
    const size_t width = tables->widths[number];
    ArrayRef<Cell> own = tables->own[number];
    if ((row + 1) * width > own.size())
      return createStringError(tablesFile.path + ": expected a row of class " +
                               Twine(number) + ", found number " + Twine(row));
    auto rank = RankReader(*text, *tables,
                           TableRows(tables->lists[number],
                                     own.slice(row * width, width)))
                    .read();
    if (!rank)
      return createStringError("rank " + Twine(result.size()) + ", " +
                               toString(rank.takeError()));
    result.push_back(std::move(*rank));
  }
  return result;
}
