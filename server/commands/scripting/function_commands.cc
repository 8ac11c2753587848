// Functions: FCALL, FCALL_RO and FUNCTION.
#include <optional>
#include <string>
#include <vector>

#include "base/glob.h"
#include "persistence/function_payload.h"
#include "scripting/function_header.h"
#include "scripting/function_library.h"
#include "server/catalogue/refusals.h"
#include "server/commands/data/payload_words.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/scripting/script_arguments.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/monitors.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNoFunction[] = "ERR Function not found";
constexpr char kBadKeyCount[] = "ERR Bad number of keys provided";
constexpr char kNoLibrary[] = "ERR Library not found";
constexpr char kRestorePolicy[] = "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.";
constexpr char kFunctionDraft[] = "ERR Pre-GA function format not supported";
constexpr char kNotAFunction[] = "ERR given type is not a function";
constexpr char kLibrariesTooLarge[] = "ERR The libraries in the payload are too long together";
constexpr char kAllLibrariesTooLarge[] = "ERR The libraries are too long together";
constexpr char kLibraryPayload[] = "ERR Failed loading library payload";
constexpr char kFunctionFlushMode[] = "ERR FUNCTION FLUSH only supports SYNC|ASYNC option";
constexpr char kLibraryNameMissing[] = "ERR library name argument was not given";
Refusal UnknownLoadOption(Bytes option) { return {"ERR Unknown option given: " + std::string(option)}; }
Refusal UnknownArgument(Bytes argument) { return {"ERR Unknown argument " + std::string(argument)}; }

}  // namespace
}  // namespace refusals

namespace {

using Access = ScriptRunner::Access;
using OnExisting = FunctionLibraries::OnExisting;
using RestorePolicy = FunctionLibraries::RestorePolicy;

FunctionLibraries::Origin OriginOf(const Call& call) {
  return call.unit.IsReplaying() ? FunctionLibraries::Origin::kAccepted : FunctionLibraries::Origin::kClient;
}

// Returns how many bytes of code one FUNCTION RESTORE may load: 64 MB for a client, 1 GB from a primary or a file.
// Loading more could exceed the time limit for loading functions.
uint64_t MostRestoredBytes(FunctionLibraries::Origin origin) {
  return origin == FunctionLibraries::Origin::kClient ? FunctionLibraries::kMaxBytesOfClients : uint64_t{1} << 30;
}

// Throws a Refusal if a client adds these libraries, and the source texts of all libraries would then have more than
// kMaxBytesOfClients bytes together. Loading them would be refused only after they have run. A loaded library does not
// count if one of the same name is added: the new one replaces it, or is refused.
void CheckTotalSize(const Call& call, std::span<const Bytes> codes) {
  if (OriginOf(call) != FunctionLibraries::Origin::kClient) return;
  FunctionLibraries& libraries = call.services.execution.function_libraries;
  const FunctionLibraries::LoadTimer timer(libraries);
  auto total_bytes = static_cast<int64_t>(libraries.Loaded().code_bytes);
  for (Bytes code : codes) {
    const Result<FunctionHeader> header = ReadFunctionHeader(code);
    if (!header) break;  // loading will end here. Reading all faulty headers could take seconds
    const FunctionLibrary* const former = libraries.Loaded().Find(header.value().name);
    total_bytes +=
        static_cast<int64_t>(code.size()) - static_cast<int64_t>(former == nullptr ? 0 : former->code.size());
  }
  if (total_bytes > static_cast<int64_t>(FunctionLibraries::kMaxBytesOfClients))
    throw Refusal{refusals::kAllLibrariesTooLarge};
}

// ---------------------------------------------------------------------------------------------------------------------
// FCALL

uint32_t FlagsOfFunction(const Services& services, const Session&, std::span<const Bytes> words, uint32_t flags) {
  const ScriptFunction* function =
      words.size() < 2 ? nullptr : services.execution.function_libraries.FindFunction(words[1]);
  return function == nullptr ? flags : FlagsForScript(flags, function->flags);
}

void RunFunction(Call& call, Access access) {
  const Services& services = call.services;
  services.execution.monitors.ShowRunningScript(call.session,
                                                call.args.Words());  // before the commands of the function
  const ScriptFunction* function = services.execution.function_libraries.FindFunction(call.args.Next());
  if (function == nullptr) throw Refusal{refusals::kNoFunction};
  const ScriptArguments arguments = ScriptArguments::Take(call.args, refusals::kBadKeyCount);
  services.execution.scripts.Run(
      call,
      {.engine = services.execution.function_libraries.engine(),
       .kind = ScriptRunner::Kind::kFunction,
       .flags = function->flags,
       .access = access,
       .invocation = {
           .function = function->function, .name = function->name, .keys = arguments.keys, .args = arguments.args}});
}

constexpr char kFunctionComplexity[] = "Depends on the function";

struct FCall {
  static constexpr CommandSpec spec = {.syntax = "FCALL function numkeys:integer [key...] [arg...]",
                                       .summary = "Runs a function of a library atomically.",
                                       .since = "7.0.0",
                                       .complexity = kFunctionComplexity,
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript | kStale | kSkipMonitor | kMayReplicate | kNoMandatoryKeys,
                                       .keys = {CountedKeys(2, kKeyRW | kKeyAccess | kKeyUpdate)},
                                       .flags_of = FlagsOfFunction};
  static void Run(Call& call) { RunFunction(call, Access::kReadWrite); }
};

struct FCallRo {
  static constexpr CommandSpec spec = {.syntax = "FCALL_RO function numkeys:integer [key...] [arg...]",
                                       .summary = "Runs a read-only function.",
                                       .since = "7.0.0",
                                       .complexity = kFunctionComplexity,
                                       .group = CommandGroup::kScripting,
                                       .flags = kReadOnly | kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys,
                                       .keys = {CountedKeys(2, kKeyRO | kKeyAccess)},
                                       .flags_of = FlagsOfFunction};
  static void Run(Call& call) { RunFunction(call, Access::kReadOnly); }
};

// ---------------------------------------------------------------------------------------------------------------------
// FUNCTION

struct FunctionDelete {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|DELETE library-name",
                                       .summary = "Removes a library and its functions.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kWrite | kNoScript,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    if (!call.services.execution.function_libraries.Delete(call.args.Next())) throw Refusal{refusals::kNoLibrary};
    call.unit.CountChanges(1);
    call.reply.Ok();
  }
};

struct FunctionDump {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|DUMP",
                                       .summary = "Returns all libraries in a format for FUNCTION RESTORE.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N functions",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript};
  static void Run(Call& call) {
    std::vector<Bytes> codes;
    for (const auto& [name, library] : call.services.execution.function_libraries.All())
      codes.emplace_back(library->code);
    call.reply.Bulk(FunctionPayload(codes, CompressionOf(call.services.env.settings)));
  }
};

struct FunctionFlush {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|FLUSH [flush-type(ASYNC|SYNC)]",
                                       .summary = "Removes all libraries.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N functions",
                                       .group = CommandGroup::kScripting,
                                       .flags = kWrite | kNoScript,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax(call.services.env.dialect, "function", call.args[1]);
    const FreeMode mode = TakeFlushMode(call, refusals::kFunctionFlushMode);
    FunctionLibraries::Contents contents = call.services.execution.function_libraries.Take();
    const size_t functions = contents.loaded.functions.size();
    if (mode == FreeMode::kLater && functions > 0 && !contents.IsShared())
      call.services.data.lazy_free_thread.Free(std::move(contents), functions);
    call.unit.CountChanges(1);
    call.reply.Ok();
  }
};

struct FunctionHelp {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|HELP",
                                       .summary = "Lists the subcommands of FUNCTION.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call,
              {"DELETE <library>", "    Remove a library and its functions.", "DUMP",
               "    All libraries in a format for RESTORE.", "FLUSH [ASYNC|SYNC]",
               "    Remove all libraries, now or in the background. Without a mode the directive",
               "    lazyfree-lazy-user-flush decides.", "KILL", "    Stop the running function, unless it has written.",
               "LIST [LIBRARYNAME <pattern>] [WITHCODE]",
               "    The libraries with their functions, all of them or those whose names match.",
               "LOAD [REPLACE] <code>", "    Load a library. With REPLACE it may replace another one of the same name.",
               "RESTORE <payload> [APPEND|REPLACE|FLUSH]",
               "    Load the libraries of a DUMP, all or none. APPEND refuses existing names,",
               "    REPLACE puts the new libraries in their place, FLUSH removes all others first.", "STATS",
               "    The running function, and the numbers of libraries and functions."});
  }
};

struct FunctionKill {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|KILL",
                                       .summary = "Stops the running function, unless it has written.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript | kAllowBusy,
                                       .tips = "request_policy:all_shards response_policy:one_succeeded"};
  static void Run(Call& call) {
    call.services.execution.scripts.Kill(ScriptRunner::Kind::kFunction);
    call.reply.Ok();
  }
};

struct FunctionListOptions {
  bool with_code = false;
  std::optional<Glob> pattern;

  bool Shows(Bytes name) const { return !pattern || pattern->Matches(name); }
};

FunctionListOptions ParseListOptions(Args& args) {
  FunctionListOptions options;
  while (!args.AtEnd()) {
    if (!options.with_code && args.TakeToken("WITHCODE")) {
      options.with_code = true;
    } else if (!options.pattern && args.TakeToken("LIBRARYNAME")) {
      if (args.AtEnd()) throw Refusal{refusals::kLibraryNameMissing};
      options.pattern.emplace(args.Next(), CaseMode::kIgnore);
    } else {
      throw refusals::UnknownArgument(args.Next());
    }
  }
  return options;
}

void WriteFunction(Reply& reply, const ScriptFunction& function) {
  reply.Map(3);
  reply.Bulk("name");
  reply.Bulk(function.name);
  reply.Bulk("description");
  if (function.description) {
    reply.Bulk(*function.description);
  } else {
    reply.Null();
  }
  reply.Bulk("flags");
  const std::vector<std::string_view> flags = ScriptFlagNames(function.flags);
  reply.Set(flags.size());
  for (std::string_view flag : flags) reply.Simple(flag);
}

void WriteLibrary(Reply& reply, const FunctionLibrary& library, const FunctionListOptions& options) {
  reply.Map(options.with_code ? 4 : 3);
  reply.Bulk("library_name");
  reply.Bulk(library.name);
  reply.Bulk("engine");
  reply.Bulk("LUA");
  reply.Bulk("functions");
  reply.Array(library.functions.size());
  for (const auto& function : library.functions) WriteFunction(reply, *function);
  if (!options.with_code) return;
  reply.Bulk("library_code");
  reply.Bulk(library.code);
}

struct FunctionList {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|LIST [LIBRARYNAME library-name-pattern] [WITHCODE]",
                                       .summary = "Lists the libraries and their functions.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N functions",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript,
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    const FunctionListOptions options = ParseListOptions(call.args);
    std::vector<const FunctionLibrary*> shown;
    for (const auto& [name, library] : call.services.execution.function_libraries.All()) {
      if (options.Shows(name)) shown.push_back(library.get());
    }
    call.reply.Array(shown.size());
    for (const FunctionLibrary* library : shown) WriteLibrary(call.reply, *library, options);
  }
};

struct FunctionLoad {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|LOAD [REPLACE] function-code",
                                       .summary = "Loads a library of functions.",
                                       .since = "7.0.0",
                                       .complexity = "O(1), and what the code does when it is loaded",
                                       .group = CommandGroup::kScripting,
                                       .flags = kWrite | kDenyOom | kNoScript,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    OnExisting on_existing = OnExisting::kRefuse;
    while (call.args.Left() > 1) {
      if (!call.args.TakeToken("REPLACE")) throw refusals::UnknownLoadOption(call.args.Next());
      on_existing = OnExisting::kReplace;
    }
    const Bytes code = call.args.Next();
    CheckTotalSize(call, {&code, 1});
    const auto library = call.services.execution.function_libraries.Load(code, on_existing, OriginOf(call));
    if (!library) throw Refusal{"ERR " + library.error()};
    call.unit.CountChanges(1);
    call.reply.Bulk(library.value()->name);
  }
};

RestorePolicy TakePolicy(Args& args) {
  if (args.AtEnd() || args.TakeToken("APPEND")) return RestorePolicy::kAppend;
  if (args.TakeToken("REPLACE")) return RestorePolicy::kReplace;
  if (args.TakeToken("FLUSH")) return RestorePolicy::kFlush;
  throw Refusal{refusals::kRestorePolicy};
}

const char* PayloadErrorText(FunctionPayloadError error) {
  switch (error) {
    case FunctionPayloadError::kPreRelease:
      return refusals::kFunctionDraft;
    case FunctionPayloadError::kNoFunction:
      return refusals::kNotAFunction;
    case FunctionPayloadError::kTooLarge:
      return refusals::kLibrariesTooLarge;
    case FunctionPayloadError::kTruncated:
      break;
  }
  return refusals::kLibraryPayload;
}

struct FunctionRestore {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|RESTORE serialized-value [policy(FLUSH|APPEND|REPLACE)]",
                                       .summary = "Loads the libraries that FUNCTION DUMP returned.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N functions in the payload",
                                       .group = CommandGroup::kScripting,
                                       .flags = kWrite | kDenyOom | kNoScript,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    if (call.args.Left() > 2) throw refusals::SubcommandSyntax(call.services.env.dialect, "function", call.args[1]);
    const Bytes payload = call.args.Next();
    const RestorePolicy policy = TakePolicy(call.args);
    const std::optional<Bytes> libraries = VerifyPayload(payload, PayloadChecksOf(call));
    if (!libraries) throw Refusal{refusals::kPayloadChecksum};
    FunctionLibraries& loaded = call.services.execution.function_libraries;
    const auto codes = [&] {
      if (const auto error = loaded.CheckTime(OriginOf(call))) throw Refusal{"ERR " + *error};
      const FunctionLibraries::LoadTimer timer(loaded);
      return ReadFunctionPayload(*libraries, MostRestoredBytes(OriginOf(call)));
    }();
    if (!codes) throw Refusal{PayloadErrorText(codes.error())};
    if (policy != RestorePolicy::kFlush)
      CheckTotalSize(call, std::vector<Bytes>(codes.value().begin(), codes.value().end()));
    const Result<Done> restored = loaded.Restore(codes.value(), policy, OriginOf(call));
    if (!restored) throw Refusal{"ERR " + restored.error()};
    call.unit.CountChanges(1);
    call.reply.Ok();
    Record(call, payload);
  }

 private:
  // Propagates the payload of FUNCTION RESTORE with the version of Redis 7.0, because an older replica refuses a later
  // version. The contents are the same in all versions.
  static void Record(Call& call, Bytes payload) {
    if (!call.effect.IsRecording()) return;
    const std::span<const Bytes> request = call.args.Words();
    std::vector<std::string> words(request.begin(), request.end());
    words[2] = PayloadWithVersion(payload, rdb::kVersionOf70);
    call.effect.Replace(words);
  }
};

void WriteRunning(Reply& reply, const ScriptRunner& scripts) {
  if (!scripts.IsRunning()) return reply.Null();
  reply.Map(3);
  reply.Bulk("name");
  reply.Bulk(scripts.RunningName());
  reply.Bulk("command");
  reply.BulkArray(scripts.RunningArguments());
  reply.Bulk("duration_ms");
  reply.Integer(scripts.RunningMs());
}

struct FunctionStats {
  static constexpr CommandSpec spec = {
      .syntax = "FUNCTION|STATS",
      .summary = "Returns the running function, and the number of functions.",
      .since = "7.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kScripting,
      .flags = kNoScript | kAllowBusy,
      .tips = "nondeterministic_output request_policy:all_shards response_policy:special"};
  static void Run(Call& call) {
    const ScriptRunner& scripts = call.services.execution.scripts;
    if (scripts.IsRunning() && scripts.RunningKind() != ScriptRunner::Kind::kFunction) throw scripts.BusyRefusal();
    const FunctionLibraries& libraries = call.services.execution.function_libraries;
    call.reply.Map(2);
    call.reply.Bulk("running_script");
    WriteRunning(call.reply, scripts);
    call.reply.Bulk("engines");
    call.reply.Map(1);
    call.reply.Bulk("LUA");
    call.reply.Map(2);
    call.reply.Bulk("libraries_count");
    call.reply.Integer(static_cast<int64_t>(libraries.All().size()));
    call.reply.Bulk("functions_count");
    call.reply.Integer(static_cast<int64_t>(libraries.FunctionCount()));
  }
};

struct Function {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION",
                                       .summary = "Contains the subcommands about functions.",
                                       .since = "7.0.0",
                                       .group = CommandGroup::kScripting,
                                       .arity = -2};
};

constexpr auto kFunctionCommands =
    Family<FCall, FCallRo, Function, FunctionDelete, FunctionDump, FunctionFlush, FunctionHelp, FunctionKill,
           FunctionList, FunctionLoad, FunctionRestore, FunctionStats>();

}  // namespace

std::span<const CommandCard> FunctionCommands() { return kFunctionCommands; }

}  // namespace respite
