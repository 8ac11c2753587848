// FunctionLibraries: the functions of FCALL. A library is one text, which registers its functions when it is loaded. A
// library is loaded completely or not at all.
//
//   #!lua name=mylib
//   redis.register_function('hello', function(keys, args) return 'hello ' .. args[1] end)
//
// All libraries share one Lua state, which is created when it is first needed. Library names are case-sensitive,
// function names are not, and a function belongs to exactly one library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "scripting/engine.h"
#include "scripting/script_header.h"

namespace respite {

struct FunctionLibrary;

struct ScriptFunction {  // one function that FCALL can call
  std::string name;      // as registered
  std::optional<std::string> description;
  uint32_t flags = 0;                        // ScriptFlag bits
  ScriptEngine::Function function = 0;       // the compiled code
  const FunctionLibrary* library = nullptr;  // the library that has registered the function
};

struct SameName {  // compares names case-insensitively
  bool operator()(std::string_view a, std::string_view b) const { return EqualsIgnoreCase(a, b); }
};
struct NameHash {  // hashes names case-insensitively
  HashKey key;
  size_t operator()(std::string_view name) const;
};

struct FunctionLibrary {  // the unit of FUNCTION LOAD: one text that registers functions
  std::string name;
  std::string code;                                        // the whole text
  std::vector<std::unique_ptr<ScriptFunction>> functions;  // in order of registration

  size_t UsedBytes() const;  // memory of the texts
};

class FunctionLibraries {  // all libraries of this server, and the Lua state that they share
 public:
  // The time limit for loading a library that a client sends. Redis has the same limit (LOAD_TIMEOUT_MS).
  static constexpr int64_t kLoadTimeoutMs = 500;  // for a library that a client sends
  // Where a library comes from: a client, or a file or a primary (kAccepted), so that a server has loaded it before. A
  // kAccepted library gets ten times the time of kClient, because the machine may be slower now or may have paused the
  // process. It also gets twice the memory: files order libraries by name, so other libraries may now be loaded before
  // it.
  enum class Origin : uint8_t { kClient, kAccepted };

  using ByName = std::map<std::string, std::unique_ptr<FunctionLibrary>, std::less<>>;
  struct Collection {  // a set of libraries, and the index of their functions
    explicit Collection(const HashKey& key) : functions(0, NameHash{key}) {}

    ByName libraries;                                                                           // ordered by name
    std::unordered_map<std::string_view, const ScriptFunction*, NameHash, SameName> functions;  // by name
    size_t used_bytes = 0;  // memory of the texts and the index

    const FunctionLibrary* Find(Bytes name) const;
    const ScriptFunction* FindFunction(Bytes name) const;  // null if absent
    const FunctionLibrary& Link(std::unique_ptr<FunctionLibrary> library);
    std::unique_ptr<FunctionLibrary> Unlink(const FunctionLibrary& library);  // removes the library and its functions
  };
  struct Contents {  // everything that Take moves out
    explicit Contents(const HashKey& key) : loaded(key) {}

    std::unique_ptr<ScriptEngine> engine;  // null until the first library is loaded
    Collection loaded;                     // the loaded libraries
  };
  enum class OnExisting : uint8_t { kRefuse, kReplace };
  enum class RestorePolicy : uint8_t { kAppend, kReplace, kFlush };
  // Selects whether the time limit is for each library, or for all libraries of one Restore together. Libraries that
  // this server has already loaded need no limit. During loading they cannot see the time or other server data, so they
  // end as they did before.
  enum class TimeLimit : uint8_t { kEach, kTogether, kNone };

  // `host` must outlive the libraries.
  FunctionLibraries(ScriptHost& host, const HashKey& hash_key)
      : host_(host), hash_key_(hash_key), contents_(hash_key) {}

  FunctionLibraries MakeEmpty() const {  // has the same settings but no libraries; contents can be exchanged
    return FunctionLibraries(host_, hash_key_);
  }

  // Adds a library. If that fails, nothing changes; the error is the text for the client, without "ERR". Cost: O(size
  // of the code), plus running the code.
  Result<const FunctionLibrary*> Load(Bytes code, OnExisting on_existing, Origin origin = Origin::kClient);
  int64_t TotalLoadTimeMs() const { return total_load_time_ms_; }  // the total time that Load has taken so far
  // Adds all libraries or none. The server serves no other client during the call, so libraries from a client should
  // share one time limit.
  Result<Done> Restore(std::span<const std::string> codes, RestorePolicy policy, TimeLimit limit,
                       Origin origin = Origin::kClient);
  bool Delete(Bytes library_name);  // false: there is no library of this name
  // Moves out all libraries and their Lua state, which another thread may then free.
  Contents Take() { return std::exchange(contents_, Contents(hash_key_)); }
  void PutBack(Contents contents) {  // restores the result of Take, and drops what was loaded since
    contents_ = std::move(contents);
  }

  // Returns null if there is no such function. Cost: O(1).
  const ScriptFunction* FindFunction(Bytes name) const { return contents_.loaded.FindFunction(name); }
  // Returns the libraries ordered by name. Persistence writes the `code` of each.
  const ByName& All() const { return contents_.loaded.libraries; }
  const Collection& Loaded() const { return contents_.loaded; }  // all libraries with the index of their functions
  size_t FunctionCount() const { return contents_.loaded.functions.size(); }

  ScriptEngine& engine();
  void CollectGarbage() {  // runs a step of Lua's collector if there is enough garbage
    if (contents_.engine != nullptr) contents_.engine->CollectGarbage();
  }
  // EngineBytes returns the memory of the Lua state, and UsedBytes the memory of the texts and their index.
  size_t EngineBytes() const {  // memory of the Lua state
    return contents_.engine == nullptr ? 0 : contents_.engine->UsedBytes();
  }
  size_t UsedBytes() const { return contents_.loaded.used_bytes; }  // memory of the texts and their index

 private:
  static int64_t TimeoutMs(Origin origin) {  // time limit for loading one library
    return origin == Origin::kClient ? kLoadTimeoutMs : 10 * kLoadTimeoutMs;
  }
  Result<const FunctionLibrary*> LoadInto(Collection& into, Bytes code, OnExisting on_existing);  // runs and adds it
  std::optional<std::string> Run(FunctionLibrary& library, Bytes program);
  Result<Done> Join(Collection added, RestorePolicy policy);
  void Release(const FunctionLibrary& library);  // frees the compiled functions
  void Release(const Collection& collection);    // frees the compiled functions

  ScriptHost& host_;
  HashKey hash_key_;  // for the hash of names, so that clients cannot choose collisions
  Contents contents_;
  int64_t total_load_time_ms_ = 0;  // total time of loading so far
};

}  // namespace respite
