// JSON documents, and paths into them. The input is a path, a newline, and a document.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_path.h"
#include "datatypes/json/json_text.h"

namespace respite {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

JsonValue ReadDocument(Bytes text) {
  auto document = ParseJson(text);
  if (!document) return {};
  JsonValue& root = document.value();
  Require(root.IsConsistent() && root.Depth() <= JsonValue::kMaxDepth);
  const std::string printed = JsonText(root);
  const auto again = ParseJson(printed);
  Require(again.ok() && JsonText(again.value()) == printed);
  Require(JsonText(root.Clone()) == printed);
  return std::move(root);
}

void Try(Bytes path_text, Bytes document) {
  JsonValue root = ReadDocument(document);
  const auto path = JsonPath::Parse(path_text);
  if (!path) return;
  JsonBudget budget(100'000);
  if (path.value().IsExpression()) {
    for (const JsonValue& value : path.value().Compute(root, budget)) Require(value.IsConsistent());
    return;
  }
  const std::string printed = JsonText(root);
  const JsonMatches matches = path.value().Select(root, budget);
  if (path.value().IsStatic()) Require(matches.size() <= 1);
  for (const JsonMatch& match : matches) Require((match.Parent() == nullptr) == (&match.Value() == &root));
  if (!path.value().IsRoot()) path.value().SelectParents(root, budget);
  std::vector<std::string> selected;
  for (const JsonMatch& match : std::span(matches).first(std::min<size_t>(matches.size(), 100))) {
    selected.push_back(JsonText(match.Value()));
  }
  const size_t count = matches.size();
  // The selection for a change unpacks arrays of numbers, so `matches` is not valid any more.
  JsonBudget budget_to_change(100'000);
  const JsonMatches changeable = path.value().SelectToChange(root, budget_to_change);
  Require(changeable.size() == count && root.IsConsistent() && JsonText(root) == printed);
  for (size_t i = 0; i < selected.size(); ++i) {
    Require(changeable[i].InMemory() != nullptr && JsonText(*changeable[i].InMemory()) == selected[i]);
  }
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const respite::Bytes input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\n');
  respite::Try(input.substr(0, end), end == respite::Bytes::npos ? respite::Bytes() : input.substr(end + 1));
  return 0;
}
