#include "scripting/script_cache.h"

#include <utility>

#include "base/digest.h"

namespace respite {

namespace {

constexpr size_t kShaDigits = 40;
constexpr char kScriptChunk[] = "@user_script";

}  // namespace

const Script* ScriptCache::FindByText(Bytes body) {
  if (contents_.last != nullptr && contents_.last->body == body) return contents_.last;
  auto found = contents_.by_text.find(body);
  if (found == contents_.by_text.end()) return nullptr;
  return contents_.last = found->second;
}

const Script* ScriptCache::FindBySha(Bytes sha) {
  if (contents_.last != nullptr && contents_.last->sha == sha) return contents_.last;
  if (sha.size() != kShaDigits) return nullptr;
  auto found = contents_.by_sha.find(sha);
  if (found == contents_.by_sha.end()) found = contents_.by_sha.find(ToLower(sha));
  if (found == contents_.by_sha.end()) return nullptr;
  return contents_.last = found->second.get();
}

Result<const Script*> ScriptCache::Add(Bytes body) {
  if (const Script* known = FindByText(body)) return known;
  const ScriptDialect dialect = host_.Dialect();
  const Result<ScriptHeader> header =
      dialect.has_headers ? ReadScriptHeader(body, dialect.knows_engines) : ScriptHeader();
  if (!header) return Failure(std::string(header.error()));
  const auto function =
      engine().Compile(body.substr(header.value().size), kScriptChunk, ScriptEngine::CompileLimit::kHost);
  if (!function) return Failure("Error compiling script (new function): " + function.error());
  auto script = std::make_unique<Script>(Script{.body = std::string(body),
                                                .sha = HexText(Sha1(body)),
                                                .flags = header.value().flags,
                                                .function = function.value()});
  contents_.used_bytes += sizeof(Script) + script->body.capacity() + script->sha.capacity();
  const Script* added = script.get();
  contents_.by_text.emplace(added->body, added);
  contents_.by_sha.emplace(added->sha, std::move(script));
  return added;
}

ScriptEngine& ScriptCache::engine() {
  if (contents_.engine == nullptr) contents_.engine = std::make_unique<ScriptEngine>(host_);
  return *contents_.engine;
}

}  // namespace respite
