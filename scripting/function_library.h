// FunctionLibraries: the functions of FCALL. Each library is one text, which registers its functions when it is loaded.
// A library is loaded completely or not at all.
//
//   #!lua name=mylib
//   redis.register_function('hello', function(keys, args) return 'hello ' .. args[1] end)
//
// All libraries share one Lua state, created with the first of them. Library names are case-sensitive, function names
// are not, and a function belongs to exactly one library.
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

struct ScriptFunction {
  std::string name;  // as registered
  std::optional<std::string> description;
  uint32_t flags = 0;  // ScriptFlag bits
  ScriptEngine::Function function = 0;
  const FunctionLibrary* library = nullptr;
};

// Compares names case-insensitively.
struct SameName {
  bool operator()(std::string_view a, std::string_view b) const { return EqualsIgnoreCase(a, b); }
};
struct NameHash {
  HashKey key;
  size_t operator()(std::string_view name) const;
};

struct FunctionLibrary {
  std::string name;
  std::string code;                                        // the whole text
  std::vector<std::unique_ptr<ScriptFunction>> functions;  // in order of registration

  size_t UsedBytes() const;
};

class FunctionLibraries {
 public:
  // The time limit for loading a library that a client sends. Redis: LOAD_TIMEOUT_MS.
  static constexpr int64_t kLoadTimeoutMs = 500;
  // Where a library comes from: a client, or a file or a primary (kAccepted), so that a server has loaded it before.
  // The latter has ten times the time, because the machine may be slower now or may have paused the process, and twice
  // the memory, because files order libraries by name and other libraries may be loaded before it.
  enum class Origin : uint8_t { kClient, kAccepted };

  using ByName = std::map<std::string, std::unique_ptr<FunctionLibrary>, std::less<>>;
  // A set of libraries, and the index of their functions.
  struct Collection {
    explicit Collection(const HashKey& key) : functions(0, NameHash{key}) {}

    ByName libraries;
    std::unordered_map<std::string_view, const ScriptFunction*, NameHash, SameName> functions;
    size_t used_bytes = 0;

    const FunctionLibrary* Find(Bytes name) const;
    const ScriptFunction* FindFunction(Bytes name) const;
    const FunctionLibrary& Link(std::unique_ptr<FunctionLibrary> library);
    std::unique_ptr<FunctionLibrary> Unlink(const FunctionLibrary& library);
  };
  struct Contents {
    explicit Contents(const HashKey& key) : loaded(key) {}

    std::unique_ptr<ScriptEngine> engine;
    Collection loaded;
  };
  enum class OnExisting : uint8_t { kRefuse, kReplace };
  enum class RestorePolicy : uint8_t { kAppend, kReplace, kFlush };
  // Selects if the time limit is for each library, or for all libraries of one restore. Libraries that this server has
  // already loaded need none: during loading they cannot see the time or other server data, so they end again.
  enum class TimeLimit : uint8_t { kEach, kTogether, kNone };

  // `host` must outlive the libraries.
  FunctionLibraries(ScriptHost& host, const HashKey& hash_key)
      : host_(host), hash_key_(hash_key), contents_(hash_key) {}

  // Returns an empty object with the same settings; its contents can be moved into this object.
  FunctionLibraries EmptyTwin() const { return FunctionLibraries(host_, hash_key_); }

  // Adds a library. If it fails, nothing changes; the error is the text for the client, without "ERR". Cost: O(size of
  // the code), plus running the code.
  Result<const FunctionLibrary*> Load(Bytes code, OnExisting on_existing, Origin origin = Origin::kClient);
  // Returns the total time that Load has taken so far.
  int64_t LoadedForMs() const { return loaded_for_ms_; }
  // Adds all libraries or none. No other client is served meanwhile, so libraries from a client share one time limit.
  Result<Done> Restore(std::span<const std::string> codes, RestorePolicy policy, TimeLimit limit,
                       Origin origin = Origin::kClient);
  // Returns false if there is no library of this name.
  bool Delete(Bytes name);
  // Removes all libraries and their Lua state; another thread may free them.
  Contents Take() { return std::exchange(contents_, Contents(hash_key_)); }
  // Restores the result of Take; drops libraries that were loaded since then.
  void PutBack(Contents contents) { contents_ = std::move(contents); }

  // Returns null if there is no such function. Cost: O(1).
  const ScriptFunction* FindFunction(Bytes name) const { return contents_.loaded.FindFunction(name); }
  // Returns the libraries ordered by name. Persistence writes the code of each.
  const ByName& All() const { return contents_.loaded.libraries; }
  const Collection& Loaded() const { return contents_.loaded; }
  size_t FunctionCount() const { return contents_.loaded.functions.size(); }

  ScriptEngine& engine();
  void CollectGarbage() {
    if (contents_.engine != nullptr) contents_.engine->CollectGarbage();
  }
  // EngineBytes returns the memory of the Lua state, and UsedBytes the memory of the texts and their index.
  size_t EngineBytes() const { return contents_.engine == nullptr ? 0 : contents_.engine->UsedBytes(); }
  size_t UsedBytes() const { return contents_.loaded.used_bytes; }

 private:
  static int64_t TimeoutMs(Origin origin) { return origin == Origin::kClient ? kLoadTimeoutMs : 10 * kLoadTimeoutMs; }
  Result<const FunctionLibrary*> LoadInto(Collection& into, Bytes code, OnExisting on_existing);
  std::optional<std::string> Run(FunctionLibrary& library, Bytes program);
  Result<Done> Join(Collection added, RestorePolicy policy);
  void Release(const FunctionLibrary& library);
  void Release(const Collection& collection);

  ScriptHost& host_;
  HashKey hash_key_;
  Contents contents_;
  int64_t loaded_for_ms_ = 0;
};

}  // namespace respite
