//===- YamlTree.cpp - a YAML document with positions and limits -----------===//

#include "YamlTree.h"

#include "Text.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

using namespace ffc::plan;

namespace {

/// 65,536 devices written out one by one with their links to a switch are 1.6
/// million nodes, nested four deep.
constexpr size_t kMaxNodes = 2'000'000;
constexpr size_t kMaxDepth = 16;

class TreeBuilder final : public YAML::EventHandler {
public:
  YamlNode root;

  void OnDocumentStart(const YAML::Mark &) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    YamlNode *node = enter(YamlNode::Kind::Scalar, mark, "", anchor);
    // yaml-cpp notices an absent value at the next line that holds something.
    if (!open.empty() && open.back().node->children.size() > 1)
      node->line = (node - 1)->line;
    leave(node);
  }
  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    refuseAlias(mark);
  }
  void OnScalar(const YAML::Mark &mark, const std::string &tag,
                YAML::anchor_t anchor, const std::string &value) override {
    YamlNode *node = enter(YamlNode::Kind::Scalar, mark, tag, anchor);
    node->scalar = value;
    leave(node);
  }
  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open.push_back({enter(YamlNode::Kind::Sequence, mark, tag, anchor), {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark &mark, const std::string &tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open.push_back({enter(YamlNode::Kind::Map, mark, tag, anchor), {}});
  }
  void OnMapEnd() override { close(); }

private:
  struct Open {
    YamlNode *node;
    std::set<std::string> keys; ///< of a map, so far
  };
  /// Collections being read. Their nodes stay put: a vector of children grows
  /// only while its last child is not open.
  std::vector<Open> open;
  size_t count = 0;

  [[noreturn]] static void refuseAlias(const YAML::Mark &mark) {
    throw Malformed{mark.line + 1, "anchors and aliases are not supported"};
  }

  YamlNode *enter(YamlNode::Kind kind, const YAML::Mark &mark,
                  const std::string &tag, YAML::anchor_t anchor) {
    const int line = mark.line + 1;
    if (anchor != 0)
      refuseAlias(mark);
    // Plain scalars carry the tag "?", quoted ones "!".
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Malformed{line, "tags are not supported, found " + quoted(tag)};
    if (++count > kMaxNodes)
      throw Malformed{line, "expected at most " + std::to_string(kMaxNodes) +
                                " YAML values, found more"};
    if (open.size() >= kMaxDepth)
      throw Malformed{line, "nested more than " + std::to_string(kMaxDepth) +
                                " levels deep"};
    YamlNode *node = &root;
    if (!open.empty()) {
      YamlNode *parent = open.back().node;
      if (parent->isMap() && parent->children.size() % 2 == 0 &&
          kind != YamlNode::Kind::Scalar)
        throw Malformed{line, "expected a name as key, found a list or a map"};
      node = &parent->children.emplace_back();
    }
    node->kind = kind;
    node->line = line;
    return node;
  }

  /// A scalar that may have been a key.
  void leave(YamlNode *node) {
    if (open.empty() || !open.back().node->isMap() ||
        open.back().node->children.size() % 2 == 0)
      return;
    if (!open.back().keys.insert(node->scalar).second)
      throw Malformed{node->line,
                      "key " + quoted(node->scalar) + " is given twice"};
  }

  void close() { open.pop_back(); }
};

} // namespace

const YamlNode *YamlNode::find(const std::string &key) const {
  for (size_t i = 0; isMap() && i < children.size(); i += 2)
    if (children[i].scalar == key)
      return &children[i + 1];
  return nullptr;
}

std::string YamlNode::describe() const {
  switch (kind) {
  case Kind::Scalar:
    return scalar.empty() ? "nothing" : quoted(scalar);
  case Kind::Sequence:
    return "a list";
  case Kind::Map:
    return "a map";
  }
  return "";
}

YamlNode ffc::plan::parseYaml(const std::string &text) {
  int line = 1;
  for (char c : text) {
    if (c == '\n')
      ++line;
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r')
      throw Malformed{line, "expected text, found the byte " + quoted({c})};
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder))
      throw Malformed{1, "expected a YAML document, found an empty file"};
    TreeBuilder rest;
    if (parser.HandleNextDocument(rest))
      throw Malformed{rest.root.line, "expected one document, found a second"};
    return std::move(builder.root);
  } catch (const YAML::Exception &exception) {
    throw Malformed{std::max(exception.mark.line, 0) + 1,
                    "not valid YAML: " + exception.msg};
  }
}
