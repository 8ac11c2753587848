#include "scripting/script_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/digest.h"

namespace respite {

namespace {

constexpr size_t kShaDigits = 40;
constexpr char kScriptChunk[] = "@user_script";

// Returns the bytes of a script without its compiled code.
size_t TextBytes(const Script& script) { return sizeof(Script) + script.body.capacity() + script.sha.capacity(); }

size_t HeldBytes(const Script& script) { return TextBytes(script) + script.lua_bytes; }

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

Result<const Script*> ScriptCache::Add(Bytes body, Retention retention) {
  if (const Script* known = FindByText(body)) {
    if (retention == Retention::kPermanent) MakePermanent(*contents_.by_sha.find(known->sha)->second);
    return known;
  }
  const ScriptDialect dialect = host_.Dialect();
  const Result<ScriptHeader> header =
      dialect.has_headers ? ReadScriptHeader(body, dialect.knows_engines) : ScriptHeader();
  if (!header) return Failure(std::string(header.error()));
  const size_t engine_bytes = engine().UsedBytes();
  const auto function =
      engine().Compile(body.substr(header.value().size), kScriptChunk, ScriptEngine::CompileLimit::kHost);
  if (!function) return Failure("Error compiling script (new function): " + function.error());
  auto script = std::make_unique<Script>(Script{.body = std::string(body),
                                                .sha = HexText(Sha1(body)),
                                                .flags = header.value().flags,
                                                .function = function.value()});
  contents_.used_bytes += TextBytes(*script);
  // Counts the memory that Lua needed for the code, but at least the size of its text, because Lua's collector may have
  // freed something else meanwhile.
  const size_t code_bytes = engine().UsedBytes() - std::min(engine_bytes, engine().UsedBytes());
  script->lua_bytes = std::max(code_bytes, body.size());
  engine().ReserveMemory(script->lua_bytes);
  const Script* added = script.get();
  if (retention == Retention::kEvictable) {
    script->is_evictable = true;
    script->place = contents_.evictable.insert(contents_.evictable.end(), added);
    contents_.evictable_bytes += HeldBytes(*script);
  }
  contents_.by_text.emplace(added->body, added);
  contents_.by_sha.emplace(added->sha, std::move(script));
  return added;
}

Result<Done> ScriptCache::AddAll(std::span<const std::string> bodies) {
  for (const std::string& body : bodies) {
    if (FindByText(body) != nullptr) continue;
    auto added = Add(body, Retention::kPermanent);
    if (!added) return Failure(std::move(added).error());
    // Checks after each script whether the server must stop: the compiler checks this only during a long script, but
    // compiling many short scripts also takes long.
    if (host_.PollStopRequest()) return Failure(ScriptEngine::kKilled);
  }
  return Done{};
}

void ScriptCache::MakePermanent(Script& script) {
  if (!std::exchange(script.is_evictable, false)) return;
  contents_.evictable.erase(script.place);
  contents_.evictable_bytes -= HeldBytes(script);
}

size_t ScriptCache::EvictDownTo(size_t max_scripts) {
  const size_t before = contents_.evictable.size();
  const size_t most = max_scripts == 0 ? SIZE_MAX : max_scripts;
  while (contents_.evictable.size() > 1 &&
         (contents_.evictable.size() > most || contents_.evictable_bytes > kMaxEvictableBytes)) {
    Remove(*contents_.by_sha.find(contents_.evictable.front()->sha)->second);
  }
  return before - contents_.evictable.size();
}

void ScriptCache::KeepOnly(std::span<const std::string> texts) {
  if (texts.empty()) return static_cast<void>(Take());
  std::vector<Script*> others;
  for (const auto& [sha, script] : contents_.by_sha) {
    if (!std::ranges::binary_search(texts, script->body)) others.push_back(script.get());
  }
  for (Script* script : others) Remove(*script);
}

void ScriptCache::Remove(Script& script) {
  if (contents_.last == &script) contents_.last = nullptr;
  MakePermanent(script);  // so that it is not in the list of evictable scripts
  contents_.used_bytes -= TextBytes(script);
  engine().Release(script.function);
  engine().UnreserveMemory(script.lua_bytes);
  contents_.by_text.erase(script.body);
  contents_.by_sha.erase(contents_.by_sha.find(script.sha));
}

ScriptEngine& ScriptCache::engine() {
  if (contents_.engine == nullptr) contents_.engine = std::make_unique<ScriptEngine>(host_);
  return *contents_.engine;
}

}  // namespace respite
