// ScriptCache: the scripts of EVAL, compiled once, indexed by their text and by the SHA-1 of their text.
//
// Clients may send any number of different texts to EVAL, so scripts that only EVAL has cached can be evicted, the
// least recently used first. All other scripts (from SCRIPT LOAD, an AOF, a primary or TEST SNAPSHOT) are never
// evicted.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
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

struct Script {                                   // a compiled script of EVAL or SCRIPT LOAD, with its text
  std::string body;                               // the whole text of the script
  std::string sha;                                // SHA-1 of the text: 40 hexadecimal digits in lower case
  uint32_t flags = 0;                             // a bit for each ScriptFlag
  ScriptEngine::Function function = 0;            // the compiled code, in the Lua state
  size_t lua_bytes = 0;                           // estimated size of the compiled code, which the Lua state reserves
  bool is_evictable = false;                      // true: only EVAL has cached it
  std::list<const Script*>::iterator place = {};  // if is_evictable: the position in the list `evictable`
};

class ScriptCache {  // the compiled scripts of EVAL and SCRIPT LOAD, by text and by SHA-1
 public:
  static constexpr size_t kMaxEvictableBytes = size_t{64} << 20;  // bytes of all evictable scripts together
  // Whether a script may be evicted. kEvictable: a client sent the script with EVAL. kPermanent: the script is from
  // SCRIPT LOAD or TEST SNAPSHOT, or from an AOF or a primary, which may later refer to the script by its SHA-1.
  enum class Retention : uint8_t { kEvictable, kPermanent };

  struct Hash {   // hashes texts with a secret key
    HashKey key;  // the secret key
    size_t operator()(std::string_view text) const { return HashBytes(text, key); }
  };
  struct Contents {  // all scripts, together with the Lua state that has their compiled code
    explicit Contents(const HashKey& key) : by_sha(0, Hash{key}), by_text(0, Hash{key}) {}

    std::unique_ptr<ScriptEngine> engine;  // the Lua state; null: not made yet, because there was no script
    std::unordered_map<std::string_view, std::unique_ptr<Script>, Hash> by_sha;  // all scripts, by SHA-1
    std::unordered_map<std::string_view, const Script*, Hash> by_text;           // all scripts, by text
    const Script* last = nullptr;             // the script found last, because most requests repeat it
    size_t used_bytes = 0;                    // bytes of all Script structs and their texts, without compiled code
    std::list<const Script*> evictable = {};  // the evictable scripts, the least recently used first
    size_t evictable_bytes = 0;               // bytes of all evictable scripts together, with their compiled code
  };

  // The engine is created with the first script. `host` must outlive the cache.
  ScriptCache(ScriptHost& host, const HashKey& hash_key) : host_(host), hash_key_(hash_key), contents_(hash_key) {}

  // Cost: FindByText computes at most one hash of the text, which is much cheaper than its SHA-1; FindBySha is O(1).
  const Script* FindByText(Bytes body);  // the script with exactly this text; null: not stored
  const Script* FindBySha(Bytes sha);    // the script with this SHA-1, in upper or lower case; null: not stored
  // The error is the text for the client, without "ERR". With kPermanent, the script can never be evicted, even if it
  // was already stored as evictable.
  Result<const Script*> Add(Bytes body,  // compiles and stores a script; returns the stored one
                            Retention retention);
  // Adds the scripts that are not stored yet, as permanent ones. Scripts that are stored already stay as they are,
  // evictable or not. Returns an error if a script is faulty or if the host wants to stop; the scripts added before
  // stay stored.
  Result<Done> AddAll(std::span<const std::string> bodies);  // compiles and stores scripts; fails at the first bad one
  void NoteUse(const Script& script) {  // called before a script runs: makes it the last one to be evicted
    if (!script.is_evictable || contents_.evictable.back() == &script) return;
    contents_.evictable.splice(contents_.evictable.end(), contents_.evictable, script.place);
  }
  // The limits are `max_scripts` (0: any number) and kMaxEvictableBytes of evictable scripts. Never evicts the script
  // that was used or added last. Requires: no script runs.
  size_t EvictDownTo(size_t max_scripts);  // evicts the least recently used scripts above the limits; returns how many
  // Requires: no script runs. Cost: O(scripts).
  void KeepOnly(std::span<const std::string> texts);  // removes scripts with other source texts; `texts` is sorted
  // The caller may pass the result to another thread, which frees the scripts and their Lua state.
  Contents Take() { return std::exchange(contents_, Contents(hash_key_)); }  // moves all out, with the Lua state

  // ForEach visits the scripts in unspecified order.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(const Script&) for each stored script
    for (const auto& [sha, script] : contents_.by_sha) visit(*script);
  }
  ScriptEngine& engine();  // the Lua state of all scripts, created if there is none
  void CollectGarbage() {  // between scripts: runs a step of Lua's collector if there is enough garbage
    if (contents_.engine != nullptr) contents_.engine->CollectGarbage();
  }
  size_t Size() const { return contents_.by_sha.size(); }  // number of stored scripts
  size_t EngineBytes() const {                             // bytes of memory of the Lua state; 0: there is none
    return contents_.engine == nullptr ? 0 : contents_.engine->UsedBytes();
  }
  size_t UsedBytes() const { return contents_.used_bytes; }  // bytes of scripts, without compiled code

 private:
  void MakePermanent(Script& script);  // from now on, the script cannot be evicted
  void Remove(Script& script);         // removes a script

  ScriptHost& host_;   // the server, as scripts use it
  HashKey hash_key_;   // secret key to hash texts, so that clients cannot choose collisions
  Contents contents_;  // all scripts and their Lua state
};

}  // namespace respite
