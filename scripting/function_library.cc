#include "scripting/function_library.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "scripting/function_api.h"
#include "scripting/function_header.h"

namespace respite {

namespace {

constexpr char kFunctionChunk[] = "@user_function";

size_t TextBytes(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

constexpr char kTooLongTogether[] = "The libraries are too long together";

std::string FunctionExists(Bytes name) { return "Function " + std::string(name) + " already exists"; }

}  // namespace

// Hashes a name without regard to case. A buffer on the stack avoids an allocation for names of up to 64 bytes.
size_t NameHash::operator()(std::string_view name) const {
  std::array<char, 64> lower;
  if (name.size() > lower.size()) return HashBytes(ToLower(name), key);
  std::transform(name.begin(), name.end(), lower.begin(), LowerChar);
  return HashBytes({lower.data(), name.size()}, key);
}

FunctionLibrary::FunctionLibrary(std::shared_ptr<ScriptEngine> lua_state, std::string library_name, Bytes text)
    : engine(std::move(lua_state)), name(std::move(library_name)), code(text) {}

FunctionLibrary::~FunctionLibrary() {
  for (const auto& function : functions) engine->Release(function->function);
  engine->UnreserveMemory(lua_bytes);
}

size_t FunctionLibrary::UsedBytes() const {
  size_t used_bytes = sizeof *this + TextBytes(name) + TextBytes(code) + functions.capacity() * sizeof functions[0];
  for (const auto& function : functions) {
    used_bytes += sizeof *function + TextBytes(function->name);
    if (function->description) used_bytes += TextBytes(*function->description);
  }
  return used_bytes;
}

const FunctionLibrary* FunctionLibraries::Collection::Find(Bytes name) const {
  const auto found = libraries.find(name);
  return found == libraries.end() ? nullptr : found->second.get();
}

const ScriptFunction* FunctionLibraries::Collection::FindFunction(Bytes name) const {
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

void FunctionLibraries::Collection::Link(std::shared_ptr<const FunctionLibrary> library) {
  used_bytes += library->UsedBytes();
  lua_bytes += library->lua_bytes;
  code_bytes += library->code.size();
  for (const auto& function : library->functions) functions.emplace(function->name, function.get());
  const std::string& name = library->name;
  libraries.emplace(name, std::move(library));
}

void FunctionLibraries::Collection::Unlink(const FunctionLibrary& library) {
  used_bytes -= library.UsedBytes();
  lua_bytes -= library.lua_bytes;
  code_bytes -= library.code.size();
  for (const auto& function : library.functions) functions.erase(function->name);
  libraries.erase(libraries.find(library.name));
}

bool FunctionLibraries::Contents::IsShared() const {
  const auto own = static_cast<int64_t>(loaded.libraries.size()) + 1;
  return engine != nullptr && engine.use_count() > own;
}

ScriptEngine& FunctionLibraries::engine() {
  if (contents_.engine == nullptr) contents_.engine = std::make_shared<ScriptEngine>(host_, OpenFunctionApi);
  return *contents_.engine;
}

int64_t FunctionLibraries::TimeoutMs(Origin origin) const {
  const int64_t limit_ms = origin == Origin::kAccepted ? 10 * kLoadTimeoutMs : kLoadTimeoutMs;
  return limit_ms - (load_time_when_limit_began_ms_ ? total_load_time_ms_ - *load_time_when_limit_began_ms_ : 0);
}

class FunctionLibraries::TimedLoad {
 public:
  TimedLoad(FunctionLibraries& libraries, int64_t timeout_ms) : timer_(libraries) {
    libraries.engine().SetLoadDeadline(timeout_ms);
  }

 private:
  const LoadTimer timer_;
};

std::optional<std::string> FunctionLibraries::CheckTime(Origin origin) const {
  if (TimeoutMs(origin) > 0) return std::nullopt;
  return "Error registering functions: ERR FUNCTION LOAD timeout";
}

Result<const FunctionLibrary*> FunctionLibraries::Load(Bytes code, OnExisting on_existing, Origin origin) {
  if (auto error = CheckTime(origin)) return Failure(std::move(*error));
  const TimedLoad timed(*this, TimeoutMs(origin));
  return LoadInto(contents_.loaded, code, on_existing, origin, {});
}

size_t FunctionLibraries::MemoryFor(Origin origin, const Memory& replaced) {
  const size_t limit = host_.MemoryLimit();
  if (origin == Origin::kAccepted) return 2 * limit;
  // A faulty payload may name a library twice, and then `replaced` counts it twice.
  const size_t reserved = engine().ReservedBytes() - std::min(replaced.lua_bytes, engine().ReservedBytes());
  return limit - std::min(limit, reserved);
}

FunctionLibraries::Memory FunctionLibraries::Replaced(std::span<const std::string> codes, RestorePolicy policy) const {
  const Collection& loaded = contents_.loaded;
  if (policy == RestorePolicy::kFlush) return {loaded.lua_bytes, loaded.used_bytes};
  Memory replaced;
  for (const std::string& code : codes) {
    if (policy != RestorePolicy::kReplace) break;
    const auto header = ReadFunctionHeader(code);
    if (!header) break;  // Restore will end here. Reading all faulty headers could take seconds
    if (const FunctionLibrary* const old = loaded.Find(header.value().name)) replaced.Add(*old);
  }
  return replaced;
}

Result<const FunctionLibrary*> FunctionLibraries::LoadInto(Collection& into, Bytes code, OnExisting on_existing,
                                                           Origin origin, Memory replaced) {
  Result<FunctionHeader> header = ReadFunctionHeader(code);
  if (!header) return Failure(std::move(header).error());
  const FunctionLibrary* old = into.Find(header.value().name);
  if (old != nullptr && on_existing == OnExisting::kRefuse) {
    return Failure("Library '" + header.value().name + "' already exists");
  }
  // Memory that functions have freed since the last collection would make the library look smaller than it is.
  const bool may_free = engine().HasRunSinceCollection() && engine().UsedBytes() > host_.MemoryLimit() / 8;
  if (origin == Origin::kClient && may_free) engine().CollectAll();
  if (old != nullptr) replaced.Add(*old);
  engine().SetLoadMemory(MemoryFor(origin, replaced));
  const size_t bytes_before = engine().UsedBytes();
  const auto library = std::make_shared<FunctionLibrary>(contents_.engine, std::move(header.value().name), code);
  std::optional<std::string> error = Run(*library, code.substr(header.value().size));
  for (size_t i = 0; !error && i < library->functions.size(); ++i) {
    const ScriptFunction* other = into.FindFunction(library->functions[i]->name);
    if (other != nullptr && other->library != old) error = FunctionExists(library->functions[i]->name);
  }
  const size_t held = contents_.loaded.used_bytes + (&into == &contents_.loaded ? 0 : into.used_bytes);
  const bool is_too_long = held - std::min(held, replaced.used_bytes) + library->UsedBytes() > kMaxBytesOfClients;
  if (!error && origin == Origin::kClient && is_too_long) error = kTooLongTogether;
  if (error) return Failure(std::move(*error));
  // Counts the growth of the Lua state as memory of this library, but at least the size of its text: Lua's collector
  // may have freed other memory meanwhile.
  library->lua_bytes = std::max(code.size(), engine().UsedBytes() - std::min(bytes_before, engine().UsedBytes()));
  engine().ReserveMemory(library->lua_bytes);
  if (old != nullptr) into.Unlink(*old);
  into.Link(library);
  return library.get();
}

std::optional<std::string> FunctionLibraries::Run(FunctionLibrary& library, Bytes program) {
  const auto compiled = engine().Compile(program, kFunctionChunk, ScriptEngine::CompileLimit::kLoadLimits);
  if (!compiled) return "Error compiling function: " + compiled.error();
  const std::optional<ScriptFailure> failure = RegisterFunctions(engine(), compiled.value(), library);
  engine().Release(compiled.value());
  if (failure) return "Error registering functions: " + failure->text;
  if (library.functions.empty()) return "No functions registered";
  return std::nullopt;
}

Result<Done> FunctionLibraries::Restore(std::span<const std::string> codes, RestorePolicy policy, Origin origin) {
  Collection added(hash_key_);
  const TimedLoad timed(*this, TimeoutMs(origin));
  const Memory replaced = Replaced(codes, policy);
  for (const std::string& code : codes) {
    auto loaded = LoadInto(added, code, OnExisting::kRefuse, origin, replaced);
    if (!loaded) return Failure(std::move(loaded).error());
  }
  return Join(std::move(added), policy);
}

Result<Done> FunctionLibraries::Join(Collection added, RestorePolicy policy) {
  Collection& loaded = contents_.loaded;
  std::optional<std::string> error;
  if (policy == RestorePolicy::kFlush) {
    loaded = Collection(hash_key_);
  } else if (policy == RestorePolicy::kAppend) {
    for (const auto& [name, library] : added.libraries) {
      if (!error && loaded.Find(name) != nullptr) error = "Library " + name + " already exists";
    }
  }
  for (const auto& [name, function] : added.functions) {
    const ScriptFunction* other = loaded.FindFunction(name);
    // Two functions may not have the same name, unless `added` replaces the library of the existing function.
    if (!error && other != nullptr && added.Find(other->library->name) == nullptr) error = FunctionExists(name);
  }
  if (error) return Failure(std::move(*error));
  for (const auto& [name, library] : added.libraries) {
    if (const FunctionLibrary* old = loaded.Find(name)) loaded.Unlink(*old);
  }
  for (const auto& [name, library] : added.libraries) loaded.Link(library);
  return Done{};
}

bool FunctionLibraries::Delete(Bytes library_name) {
  const FunctionLibrary* library = contents_.loaded.Find(library_name);
  if (library == nullptr) return false;
  contents_.loaded.Unlink(*library);
  return true;
}

}  // namespace respite
