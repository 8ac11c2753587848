// FunctionLibraries: the functions of FCALL. They come in libraries, each one text that registers its functions when it
// is loaded. A library is loaded whole or not at all.
//
//   #!lua name=mylib
//   redis.register_function('hello', function(keys, args) return 'hello ' .. args[1] end)
//
// All libraries share one Lua state, made with the first of them. Names of libraries are told apart by the case of
// their letters, names of functions are not, and a function belongs to one library only.
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
  std::string name;  // as it was registered
  std::optional<std::string> description;
  uint32_t flags = 0;  // ScriptFlag bits
  ScriptEngine::Function function = 0;
  const FunctionLibrary* library = nullptr;
};

// Names that are equal apart from the case of their letters.
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
  std::vector<std::unique_ptr<ScriptFunction>> functions;  // in the order of their registration

  size_t UsedBytes() const;
};

class FunctionLibraries {
 public:
  // What a library may do at most before it has registered everything. Redis: LOAD_TIMEOUT_MS.
  static constexpr int64_t kLoadTimeoutMs = 500;
  // For libraries that were accepted once: from a file, or a primary.
  static constexpr int64_t kNoTimeout = 0;

  using ByName = std::map<std::string, std::unique_ptr<FunctionLibrary>, std::less<>>;
  // Libraries, and what finds their functions.
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

  // `host` must outlive the libraries.
  FunctionLibraries(ScriptHost& host, const HashKey& hash_key)
      : host_(host), hash_key_(hash_key), contents_(hash_key) {}

  // Adds a library. When it fails everything is as before; the error is the text for the client, without "ERR".
  // Cost: O(size of the code), and what the code does.
  Result<const FunctionLibrary*> Load(Bytes code, OnExisting on_existing, int64_t timeout_ms);
  // Adds several, all or none.
  Result<Done> Restore(std::span<const std::string> codes, RestorePolicy policy);
  // False: there is none of this name.
  bool Delete(Bytes name);
  // Takes out all libraries, and the state that ran them; another thread may free them.
  Contents Take() { return std::exchange(contents_, Contents(hash_key_)); }
  // Brings back what Take gave; what was loaded since goes.
  void PutBack(Contents contents) { contents_ = std::move(contents); }

  // Null when there is none. Cost: O(1).
  const ScriptFunction* FindFunction(Bytes name) const { return contents_.loaded.FindFunction(name); }
  // In the order of their names. What persistence writes is the code of each.
  const ByName& All() const { return contents_.loaded.libraries; }
  size_t FunctionCount() const { return contents_.loaded.functions.size(); }

  ScriptEngine& engine();
  void CollectGarbage() {
    if (contents_.engine != nullptr) contents_.engine->CollectGarbage();
  }
  void RestIfIdle() {
    if (contents_.engine != nullptr) contents_.engine->RestIfIdle();
  }
  // Memory of the Lua state, and of the texts and what finds them.
  size_t EngineBytes() const { return contents_.engine == nullptr ? 0 : contents_.engine->UsedBytes(); }
  size_t UsedBytes() const { return contents_.loaded.used_bytes; }

 private:
  Result<const FunctionLibrary*> LoadInto(Collection& into, Bytes code, OnExisting on_existing, int64_t timeout_ms);
  std::optional<std::string> Run(FunctionLibrary& library, Bytes program, int64_t timeout_ms);
  Result<Done> Join(Collection added, RestorePolicy policy);
  void Release(const FunctionLibrary& library);
  void Release(const Collection& collection);

  ScriptHost& host_;
  HashKey hash_key_;
  Contents contents_;
};

}  // namespace respite
