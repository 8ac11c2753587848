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

struct ScriptFunction {                      // a function that FCALL can call, registered by a library
  std::string name;                          // as registered
  std::optional<std::string> description;    // text that the library gave; nullopt: none
  uint32_t flags = 0;                        // a bit for each ScriptFlag
  ScriptEngine::Function function = 0;       // the compiled code, in the Lua state
  const FunctionLibrary* library = nullptr;  // the library to which the function belongs
};

struct SameName {  // tests whether function names are equal, ignoring case
  bool operator()(std::string_view a, std::string_view b) const { return EqualsIgnoreCase(a, b); }
};
struct NameHash {  // hashes function names, ignoring case
  HashKey key;     // secret key of the hash
  size_t operator()(std::string_view name) const;
};

struct FunctionLibrary {  // a library of FUNCTION LOAD: its code, and the functions that it registers
  FunctionLibrary(std::shared_ptr<ScriptEngine> lua_state, std::string library_name, Bytes text);
  FunctionLibrary(const FunctionLibrary&) = delete;
  FunctionLibrary& operator=(const FunctionLibrary&) = delete;
  ~FunctionLibrary();  // frees the compiled code of the functions in the Lua state, and their reserved memory

  const std::shared_ptr<ScriptEngine> engine;  // the Lua state with the compiled code
  std::string name;
  std::string code;                                        // the whole text, with the header line
  std::vector<std::unique_ptr<ScriptFunction>> functions;  // in the order in which they were registered
  size_t text_bytes = 0;                                   // size of the functions' names and descriptions together
  size_t lua_bytes = 0;                                    // bytes of the Lua state that loading has added and reserved

  size_t UsedBytes() const;  // bytes of code, names and descriptions, without compiled code
};

class FunctionLibraries {  // all libraries of this server, and the Lua state that they share
 public:
  // Redis has the same limit (LOAD_TIMEOUT_MS).
  static constexpr int64_t kLoadTimeoutMs = 500;  // maximum time in ms to load a client's library
  // Maximum of bytes that the texts of all libraries, with the names and descriptions of their functions, have after a
  // client has loaded one. FUNCTION DUMP and FUNCTION LIST read all of them in one step.
  static constexpr size_t kMaxBytesOfClients = size_t{64} << 20;  // limit of the texts of all libraries together
  // Where a library comes from. kClient: from a client. kAccepted: from a file or a primary, so that a server has
  // loaded the library before. All libraries of clients together may add script-memory-limit to the Lua state. A
  // kAccepted library gets ten times the loading time of a client's library, and may itself add twice
  // script-memory-limit. It may need more here than on the other server, where its functions may have freed memory
  // since.
  enum class Origin : uint8_t { kClient, kAccepted };

  using ByName = std::map<std::string, std::shared_ptr<const FunctionLibrary>, std::less<>>;
  struct Collection {  // some libraries by name, and their functions by name
    explicit Collection(const HashKey& key) : functions(0, NameHash{key}) {}

    ByName libraries;                                                                           // the libraries by name
    std::unordered_map<std::string_view, const ScriptFunction*, NameHash, SameName> functions;  // all functions by name
    size_t used_bytes = 0;  // memory of the libraries in bytes, without compiled code
    size_t lua_bytes = 0;   // what the libraries reserve in the Lua state together, in bytes
    size_t code_bytes = 0;  // size of the libraries' texts together

    const FunctionLibrary* Find(Bytes name) const;              // null if there is no such library
    const ScriptFunction* FindFunction(Bytes name) const;       // the function of any library here; null: none
    void Link(std::shared_ptr<const FunctionLibrary> library);  // adds a library with its functions
    void Unlink(const FunctionLibrary& library);                // removes a library
  };
  // A copy shares the libraries and the Lua state, so it costs no more than O(functions). Contents that are not shared
  // may be freed on another thread.
  struct Contents {  // all libraries, together with the Lua state that has their compiled code
    explicit Contents(const HashKey& key) : loaded(key) {}

    bool IsShared() const;  // true: a copy of this, or a library outside of `loaded`, uses the same Lua state

    std::shared_ptr<ScriptEngine> engine;  // the Lua state; null: not made yet, because there was no library
    Collection loaded;                     // the loaded libraries
  };
  enum class OnExisting : uint8_t { kRefuse, kReplace };
  enum class RestorePolicy : uint8_t { kAppend, kReplace, kFlush };

  // `host` must outlive the libraries.
  FunctionLibraries(ScriptHost& host, const HashKey& hash_key)
      : host_(host), hash_key_(hash_key), contents_(hash_key) {}

  FunctionLibraries MakeEmpty() const {  // makes an object with equal settings, but without libraries
    return FunctionLibraries(host_, hash_key_);
  }

  // The error is the text for the client, without "ERR". Cost: O(size of the code), plus running the code.
  Result<const FunctionLibrary*> Load(Bytes code,  // FUNCTION LOAD; after an error, nothing has changed
                                      OnExisting on_existing, Origin origin = Origin::kClient);
  int64_t TotalLoadTimeMs() const { return total_load_time_ms_; }  // ms that all loading took together
  // For EXEC and TEST LOAD, during which the server serves no other client. Without a SharedLimit, each call of Load or
  // Restore has a time limit of its own.
  class SharedLimit {  // while a SharedLimit exists, all libraries that clients load share one time limit
   public:
    explicit SharedLimit(FunctionLibraries& libraries) : libraries_(libraries) {
      libraries.load_time_when_limit_began_ms_ = libraries.total_load_time_ms_;
    }
    ~SharedLimit() { libraries_.load_time_when_limit_began_ms_.reset(); }
    SharedLimit(const SharedLimit&) = delete;
    SharedLimit& operator=(const SharedLimit&) = delete;

   private:
    FunctionLibraries& libraries_;  // the libraries whose limit is shared
  };
  // A LoadTimer must exist while libraries are loaded, and while FUNCTION RESTORE unpacks its payload, because the time
  // limit of a SharedLimit includes both.
  class LoadTimer {  // adds the processor time of its life to the time of loading libraries
   public:
    explicit LoadTimer(FunctionLibraries& libraries) : libraries_(libraries), started_ms_(libraries.host_.CpuMs()) {}
    ~LoadTimer() { libraries_.total_load_time_ms_ += libraries_.host_.CpuMs() - started_ms_; }
    LoadTimer(const LoadTimer&) = delete;
    LoadTimer& operator=(const LoadTimer&) = delete;

   private:
    FunctionLibraries& libraries_;  // the libraries whose total_load_time_ms_ grows
    const int64_t started_ms_;      // when the LoadTimer was made
  };
  std::optional<std::string> CheckTime(Origin origin) const;  // nullopt, or the error if a SharedLimit is used up
  // All libraries share one time limit, because the server serves no other client while Restore runs.
  Result<Done> Restore(std::span<const std::string> codes,  // FUNCTION RESTORE: adds all libraries or none
                       RestorePolicy policy, Origin origin = Origin::kClient);
  bool Delete(Bytes library_name);  // removes a library; false: no library has this name
  Contents Take() { return std::exchange(contents_, Contents(hash_key_)); }  // moves all out, with the Lua state
  Contents Copy() const { return contents_; }  // a copy; the libraries also stay loaded here
  void PutBack(Contents contents) {  // replaces all libraries by a result of Take or Copy, of this object or another
    contents_ = std::move(contents);
  }

  // Cost: O(1).
  const ScriptFunction* FindFunction(Bytes name) const {  // the function of any library; null: no such function
    return contents_.loaded.FindFunction(name);
  }
  // Persistence writes the `code` of each library.
  const ByName& All() const { return contents_.loaded.libraries; }            // the libraries by name
  const Collection& Loaded() const { return contents_.loaded; }               // all libraries, and all functions
  size_t FunctionCount() const { return contents_.loaded.functions.size(); }  // functions of all libraries

  ScriptEngine& engine();  // the Lua state of all libraries, created if there is none
  void CollectGarbage() {  // between functions: runs a step of Lua's collector if there is enough garbage
    if (contents_.engine != nullptr) contents_.engine->CollectGarbage();
  }
  size_t EngineBytes() const {  // bytes of memory of the Lua state; 0: there is none
    return contents_.engine == nullptr ? 0 : contents_.engine->UsedBytes();
  }
  size_t UsedBytes() const { return contents_.loaded.used_bytes; }  // bytes of code, names and descriptions

 private:
  class TimedLoad;  // while it exists, libraries are loaded: sets the deadline of the engine, and measures the time
  struct Memory {   // the memory of some libraries
    size_t lua_bytes = 0;   // bytes that they reserve in the Lua state
    size_t used_bytes = 0;  // bytes of their code, names and descriptions

    void Add(const FunctionLibrary& library) {
      lua_bytes += library.lua_bytes;
      used_bytes += library.UsedBytes();
    }
  };
  // Returns how many bytes the next library may add to the Lua state. `replaced` are the libraries that it will
  // replace.
  size_t MemoryFor(Origin origin, const Memory& replaced);  // bytes that the next library may add to the Lua state
  Memory Replaced(std::span<const std::string> codes, RestorePolicy policy) const;  // memory that Restore will release
  int64_t TimeoutMs(Origin origin) const;  // ms that loading a library may take now; 0 or less: used up
  // If `into` has a library of this name, replaces that library, or with kRefuse returns an error. `replaced`: the
  // memory of other libraries that FUNCTION RESTORE will remove afterwards.
  Result<const FunctionLibrary*> LoadInto(Collection& into, Bytes code,  // runs the code, and adds the library
                                          OnExisting on_existing, Origin origin, Memory replaced);
  std::optional<std::string> Run(FunctionLibrary& library, Bytes program);  // runs the library; returns the error
  Result<Done> Join(Collection added, RestorePolicy policy);  // adds libraries to the loaded ones, as FUNCTION RESTORE

  ScriptHost& host_;                // the server, as functions use it
  HashKey hash_key_;                // secret key to hash function names, so that clients cannot choose collisions
  Contents contents_;               // all libraries and their Lua state
  int64_t total_load_time_ms_ = 0;  // ms that all LoadTimers measured: Load, Restore, and unpacking of payloads
  std::optional<int64_t> load_time_when_limit_began_ms_;  // total_load_time_ms_ when SharedLimit began; nullopt: none
};

}  // namespace respite
