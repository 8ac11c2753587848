// ScriptCache: the scripts of EVAL, compiled once, indexed by their text and by its SHA-1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "scripting/engine.h"
#include "scripting/script_header.h"

namespace respite {

struct Script {
  std::string body;
  std::string sha;     // 40 lower-case digits
  uint32_t flags = 0;  // ScriptFlag bits
  ScriptEngine::Function function = 0;
};

class ScriptCache {
 public:
  struct Hash {
    HashKey key;
    size_t operator()(std::string_view text) const { return HashBytes(text, key); }
  };
  struct Contents {
    explicit Contents(const HashKey& key) : by_sha(0, Hash{key}), by_text(0, Hash{key}) {}

    std::unique_ptr<ScriptEngine> engine;
    std::unordered_map<std::string_view, std::unique_ptr<Script>, Hash> by_sha;
    std::unordered_map<std::string_view, const Script*, Hash> by_text;
    const Script* last = nullptr;  // the script found last, because most requests repeat it
    size_t used_bytes = 0;
  };

  // The engine is created with the first script. `host` must outlive the cache.
  ScriptCache(ScriptHost& host, const HashKey& hash_key) : host_(host), hash_key_(hash_key), contents_(hash_key) {}

  // FindText and FindSha return null if there is no such script. Cost: FindText computes one hash of the text, much
  // cheaper than its SHA-1; FindSha is O(1).
  const Script* FindText(Bytes body);
  const Script* FindSha(Bytes sha);  // case-insensitive
  // Compiles a script, or returns the existing one. The error is the text for the client, without "ERR".
  Result<const Script*> Add(Bytes body);
  // Removes all scripts and their Lua state; another thread may free them.
  Contents Take() { return std::exchange(contents_, Contents(hash_key_)); }

  // Calls visit(const Script&) for each script, in no order.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [sha, script] : contents_.by_sha) visit(*script);
  }
  ScriptEngine& engine();
  void CollectGarbage() {
    if (contents_.engine != nullptr) contents_.engine->CollectGarbage();
  }
  size_t Size() const { return contents_.by_sha.size(); }
  // EngineBytes returns the memory of the Lua state, and UsedBytes the memory of the texts and their index.
  size_t EngineBytes() const { return contents_.engine == nullptr ? 0 : contents_.engine->UsedBytes(); }
  size_t UsedBytes() const { return contents_.used_bytes; }

 private:
  ScriptHost& host_;
  HashKey hash_key_;
  Contents contents_;
};

}  // namespace respite
