//===- NamePatterns.cpp - --train and --freeze ----------------------------===//

#include "NamePatterns.h"

#include "Constant.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::StringRef;

std::string NamePatterns::Rule::flag() const {
  return (given.isTrained ? "--train '" : "--freeze '") + given.pattern + "'";
}

llvm::Expected<NamePatterns>
NamePatterns::create(llvm::ArrayRef<TrainRule> given) {
  NamePatterns patterns;
  for (const TrainRule &rule : given) {
    patterns.rules.push_back({rule, {}});
    llvm::Expected<llvm::GlobPattern> glob =
        llvm::GlobPattern::create(rule.pattern);
    if (!glob)
      return makeError(patterns.rules.back().flag() + ": expected a pattern, " +
                       llvm::toString(glob.takeError()));
    patterns.rules.back().glob = std::move(*glob);
  }
  return patterns;
}

std::optional<NamePatterns::Answer>
NamePatterns::match(llvm::ArrayRef<std::string> names) {
  std::optional<Answer> answer;
  for (Rule &rule : rules)
    if (llvm::any_of(names, [&](const std::string &name) {
          return !name.empty() &&
                 (name == rule.given.pattern || rule.glob.match(name));
        })) {
      rule.isUsed = true;
      answer = Answer{rule.given.isTrained, rule.flag()};
    }
  for (const std::string &name : names)
    if (!name.empty() && !rules.empty())
      seen.push_back(name);
  return answer;
}

std::optional<NamePatterns::Answer> NamePatterns::matchWhole(StringRef name) {
  std::optional<Answer> answer;
  for (Rule &rule : rules)
    if (name == rule.given.pattern) {
      rule.isUsed = true;
      answer = Answer{rule.given.isTrained, rule.flag()};
    }
  return answer;
}

void NamePatterns::addOther(StringRef name, const std::string &why) {
  if (!rules.empty())
    others[name] = why;
}

llvm::Error NamePatterns::checkUsed() const {
  constexpr size_t kShown = 3;
  for (const Rule &rule : rules) {
    if (rule.isUsed)
      continue;
    const std::string &pattern = rule.given.pattern;
    if (auto other = others.find(pattern); other != others.end())
      return makeError(rule.flag() + ": '" + pattern + "' " + other->second);
    std::vector<std::string> near;
    llvm::StringSet<> known;
    for (const std::string &name : seen)
      if (known.insert(name).second)
        near.push_back(name);
    llvm::stable_sort(near, [&](StringRef a, StringRef b) {
      return a.edit_distance(pattern) < b.edit_distance(pattern);
    });
    std::string list;
    for (const std::string &name :
         llvm::ArrayRef(near).take_front(std::min(kShown, near.size())))
      list += (list.empty() ? ", near it are '" : "', '") + name;
    return makeError(rule.flag() + ": no value of floats has such a name" +
                     (list.empty() ? "" : list + "'") +
                     "; ffc parameters MODEL lists all");
  }
  return llvm::Error::success();
}
