//===- ProgramText.cpp - the text of a program, read ----------------------===//

#include "ProgramText.h"

#include "Tokens.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

namespace {

class TextReader {
public:
  explicit TextReader(TokenReader in) : in(in) {}

  Expected<ProgramText> read() {
    while (!in.atEnd()) {
      if (in.skip({"struct"})) {
        const std::string name = in.next().text.str();
        if (Error error = in.expect({":", "Layer", "{"}))
          return error;
        if (Error error = readClass(result.classes[name], name))
          return error;
      } else if (in.skip({"class", "Train", "final", ":", "public", "Program",
                          "{"}) ||
                 in.skip({"class", "Evaluate", "final", ":", "public",
                          "Program", "{"})) {
        if (Error error = readProgram())
          return error;
        return std::move(result);
      } else {
        in.next();
      }
    }
    return in.fail("'class Train final : public Program'");
  }

private:
  Error readClass(ClassText &text, StringRef name) {
    while (!in.skip({"}", ";"})) {
      if (in.skip({"using", "Layer", "::", "Layer", ";"}))
        continue;
      if (in.skip({name, "("})) {
        in.leave(); // the parameters
        while (!in.atEnd() && !in.skip({"{", "}"}))
          in.next();
        continue;
      }
      if (in.atEnd())
        return in.fail("'}'");
      if (in.skip({"const"})) {
        const bool isShards = in.skip({"Shards", "&"});
        if (!isShards && in.skip({"std", "::"}))
          in.next();
        else if (!isShards)
          in.next(); // the type
        (isShards ? text.given : text.parameters)
            .push_back(in.next().text.str());
        if (Error error = in.expect({";"}))
          return error;
        continue;
      }
      if (in.skip({"void"})) {
        std::vector<CallText> &calls = text.methods[in.next().text];
        if (Error error = in.expect({"(", ")", "{"}))
          return error;
        if (Error error = readCalls(calls))
          return error;
        continue;
      }
      text.members.emplace_back();
      if (Error error = readMember(text.members.back()))
        return error;
    }
    return Error::success();
  }

  Error readMember(MemberText &member) {
    if (in.skip({"Shards"})) {
      member.name = in.next().text.str();
      return in.expect({"=", "shards", "(", ")", ";"});
    }
    if (in.skip({"Kernel", "<"})) {
      member.kind = MemberText::Kind::Kernel;
      for (int depth = 1; depth > 0 && !in.atEnd();) {
        const StringRef word = in.next().text;
        depth += word == "<" ? 1 : word == ">" ? -1 : 0;
        if (depth > 0)
          member.callee += word;
      }
    } else if (in.skip({"Reshard"})) {
      member.kind = MemberText::Kind::Reshard;
    } else if (in.skip({"Dump"})) {
      member.kind = MemberText::Kind::Dump;
    } else {
      return in.fail("a member of a layer");
    }
    member.name = in.next().text.str();
    if (Error error = in.expect({"{", "*", "this"}))
      return error;
    if (member.kind == MemberText::Kind::Kernel)
      for (auto *names : {&member.ins, &member.outs}) {
        if (Error error = in.expect({",", "{"}))
          return error;
        while (!in.atEnd() && !in.skip({"}"})) {
          names->push_back(in.next().text.str());
          in.skip({","});
        }
      }
    while (in.skip({","}))
      member.args.push_back(in.takeArgument());
    return in.expect({"}", ";"});
  }

  /// "a();", "a.start();" up to a closing brace.
  Error readCalls(std::vector<CallText> &calls) {
    while (!in.skip({"}"})) {
      if (in.atEnd())
        return in.fail("'}'");
      CallText &call = calls.emplace_back();
      call.line = in.peek().line;
      call.object = in.next().text.str();
      if (in.skip({"."}))
        call.method = in.next().text.str();
      if (Error error = in.expect({"("}))
        return error;
      call.argument = in.takeArgument();
      if (Error error = in.expect({")", ";"}))
        return error;
    }
    return Error::success();
  }

  /// "void" was read.
  Error readMethod() {
    const StringRef name = in.next().text;
    if (Error error = in.expect({"(", ")"}))
      return error;
    const bool isOfPipeline = !in.skip({"override"});
    if (Error error = in.expect({"{"}))
      return error;
    if (isOfPipeline)
      return readCalls(result.passes[name]);
    if (name != "step")
      return readCalls(result.update);
    if (!in.skip({"run", "<", "Train", ">", "(", "{"}))
      return readCalls(result.step);
    while (in.skip({"&", "Train", "::"})) {
      result.passNames.push_back(in.next().text.str());
      in.skip({","});
    }
    return in.expect({"}", ")", ";", "}"});
  }

  Error readProgram() {
    while (!in.skip({"}", ";"})) {
      if (in.atEnd())
        return in.fail("'}'");
      if (in.skip({"public", ":"}) || in.skip({"private", ":"}))
        continue;
      if (in.skip({"explicit"})) {
        while (!in.atEnd() && !in.skip({"{", "}"}))
          in.next();
        continue;
      }
      if (in.skip({"void"})) {
        if (Error error = readMethod())
          return error;
        continue;
      }
      ObjectText &object = result.objects.emplace_back();
      object.className = in.next().text.str();
      object.name = in.next().text.str();
      if (Error error = in.expect({"{", "*", "this", ","}))
        return error;
      if (in.peek().text.getAsInteger(10, object.number))
        return in.fail("the number of a layer");
      in.next();
      while (in.skip({","}))
        object.arguments.push_back(in.takeArgument());
      if (Error error = in.expect({"}", ";"}))
        return error;
    }
    return Error::success();
  }

  TokenReader in;
  ProgramText result;
};

} // namespace

Expected<ProgramText> codegen::readText(const SourceFile &text) {
  const std::vector<Token> tokens = tokensOf(text.contents);
  auto result = TextReader(TokenReader(text.path, tokens)).read();
  if (result)
    result->file = text.path;
  return result;
}
