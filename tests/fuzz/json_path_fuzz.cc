// JSON documents, and paths into them. The input is a path, a newline, and a document.
#include <cstdint>
#include <cstdlib>
#include <string>

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
  const JsonMatches matches = path.value().Select(root, budget);
  if (path.value().IsStatic()) Require(matches.size() <= 1);
  for (const JsonMatch& match : matches) Require((match.parent == nullptr) == (match.value == &root));
  if (!path.value().IsRoot()) path.value().SelectParents(root, budget);
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const respite::Bytes input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\n');
  respite::Try(input.substr(0, end), end == respite::Bytes::npos ? respite::Bytes() : input.substr(end + 1));
  return 0;
}
