// Scripts: EVAL, EVALSHA and SCRIPT.
#include "base/refusal.h"
#include "base/str_cat.h"
#include "scripting/script_cache.h"
#include "server/catalogue/dialect.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/scripting/script_arguments.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/monitors.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"
#include "server/runtime/stats.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kScriptFlushMode[] = "ERR SCRIPT FLUSH only support SYNC|ASYNC option";
constexpr char kNoSuchScript[] = "NOSCRIPT No matching script.";
constexpr char kScriptDebugMode[] = "ERR Use SCRIPT DEBUG YES/SYNC/NO";
constexpr char kNoScriptDebugger[] = "ERR Scripts cannot be debugged: there is no debugger";

}  // namespace
}  // namespace refusals

namespace {

using Access = ScriptRunner::Access;

// Returns the flags of an EVAL or EVAL_RO request, which depend on the flags of its script. If the script is not
// cached, reads the script's flags from its first line (`#!lua …`, only in versions that have it).
uint32_t FlagsOfText(const Services& services, const Session&, std::span<const Bytes> words, uint32_t flags) {
  if (words.size() < 2) return flags;
  if (const Script* known = services.execution.script_cache.FindByText(words[1]))
    return FlagsForScript(flags, known->flags);
  if (!services.env.dialect.traits.scripts_have_headers) return FlagsForScript(flags, kScriptUndeclared);
  const Result<ScriptHeader> header = ReadScriptHeader(words[1]);
  return header ? FlagsForScript(flags, header.value().flags) : flags;
}

uint32_t FlagsOfSha(const Services& services, const Session&, std::span<const Bytes> words, uint32_t flags) {
  const Script* known = words.size() < 2 ? nullptr : services.execution.script_cache.FindBySha(words[1]);
  return known == nullptr ? flags : FlagsForScript(flags, known->flags);
}

const Script& Compiled(Call& call, Bytes body, ScriptCache::Retention retention) {
  ScriptCache& cache = call.services.execution.script_cache;
  const auto script = call.services.execution.scripts.RunCompiler(call, [&] { return cache.Add(body, retention); });
  if (!script) throw Refusal{"ERR " + script.error()};
  call.services.env.stats.evicted_scripts += cache.EvictDownTo(call.services.env.dialect.traits.max_eval_scripts);
  return *script.value();
}

// Returns the script of an EVAL. A script from an append-only file or a primary is never evicted from the cache. The
// file or the primary may name the script by its SHA-1 later.
const Script& CompiledToRun(Call& call, Bytes body) {
  using Retention = ScriptCache::Retention;
  const bool must_stay = call.unit.IsReplaying();
  const Script* const known = must_stay ? nullptr : call.services.execution.script_cache.FindByText(body);
  if (known != nullptr) return *known;
  return Compiled(call, body, must_stay ? Retention::kPermanent : Retention::kEvictable);
}

const Script& Known(Call& call, Bytes sha) {
  const Script* script = call.services.execution.script_cache.FindBySha(sha);
  if (script == nullptr) throw Refusal{std::string(call.services.env.dialect.traits.no_script_error)};
  return *script;
}

using FindScript = const Script& (*)(Call& call, Bytes name);

void RunScript(Call& call, FindScript find, Access access) {
  const Services& services = call.services;
  services.execution.monitors.ShowRunningScript(call.session, call.args.Words());  // before the commands of the script
  const Bytes name = call.args.Next();
  const ScriptArguments arguments = ScriptArguments::Take(call.args);
  const Script& script = find(call, name);
  services.execution.script_cache.NoteUse(script);
  services.execution.scripts.Run(
      call, {.engine = services.execution.script_cache.engine(),
             .kind = ScriptRunner::Kind::kScript,
             .flags = script.flags,
             .access = access,
             .invocation = {
                 .function = script.function, .name = script.sha, .keys = arguments.keys, .args = arguments.args}});
}

constexpr char kScriptComplexity[] = "Depends on the script";

struct Eval {
  static constexpr CommandSpec spec = {.syntax = "EVAL script numkeys:integer [key...] [arg...]",
                                       .summary = "Runs a Lua script atomically.",
                                       .since = "2.6.0",
                                       .complexity = kScriptComplexity,
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript | kStale | kSkipMonitor | kMayReplicate | kNoMandatoryKeys,
                                       .keys = {CountedKeys(2, kKeyRW | kKeyAccess | kKeyUpdate)},
                                       .flags_of = FlagsOfText};
  static void Run(Call& call) { RunScript(call, CompiledToRun, Access::kReadWrite); }
};

struct EvalRo {
  static constexpr CommandSpec spec = {.syntax = "EVAL_RO script numkeys:integer [key...] [arg...]",
                                       .summary = "Runs a read-only Lua script.",
                                       .since = "7.0.0",
                                       .complexity = kScriptComplexity,
                                       .group = CommandGroup::kScripting,
                                       .flags = kReadOnly | kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys,
                                       .keys = {CountedKeys(2, kKeyRO | kKeyAccess)},
                                       .flags_of = FlagsOfText};
  static void Run(Call& call) { RunScript(call, CompiledToRun, Access::kReadOnly); }
};

struct EvalSha {
  static constexpr CommandSpec spec = {.syntax = "EVALSHA sha1 numkeys:integer [key...] [arg...]",
                                       .summary = "Runs a cached Lua script, by the SHA-1 of its text.",
                                       .since = "2.6.0",
                                       .complexity = kScriptComplexity,
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript | kStale | kSkipMonitor | kMayReplicate | kNoMandatoryKeys,
                                       .keys = {CountedKeys(2, kKeyRW | kKeyAccess | kKeyUpdate)},
                                       .flags_of = FlagsOfSha};
  static void Run(Call& call) { RunScript(call, Known, Access::kReadWrite); }
};

struct EvalShaRo {
  static constexpr CommandSpec spec = {.syntax = "EVALSHA_RO sha1 numkeys:integer [key...] [arg...]",
                                       .summary = "Runs a cached read-only Lua script, by the SHA-1 of its text.",
                                       .since = "7.0.0",
                                       .complexity = kScriptComplexity,
                                       .group = CommandGroup::kScripting,
                                       .flags = kReadOnly | kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys,
                                       .keys = {CountedKeys(2, kKeyRO | kKeyAccess)},
                                       .flags_of = FlagsOfSha};
  static void Run(Call& call) { RunScript(call, Known, Access::kReadOnly); }
};

struct ScriptDebug {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|DEBUG mode(YES|SYNC|NO) [engine@valkey:9.1.0]",
                                       .summary = "Turns the script debugger off; this server has none.",
                                       .since = "3.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript,
                                       .former_arity = {"valkey:9.1.0", 3}};
  static void Run(Call& call) {
    if (call.args.Left() > 2) throw refusals::SubcommandSyntax(call.services.env.dialect, "script", "debug");
    const bool debugs = call.args.TakeToken("YES") || call.args.TakeToken("SYNC");
    if (!debugs && !call.args.TakeToken("NO")) throw Refusal{refusals::kScriptDebugMode};
    if (!call.args.AtEnd()) CheckEngine(call.args.Next());
    if (debugs) throw Refusal{refusals::kNoScriptDebugger};
    call.reply.Ok();
  }

 private:
  static void CheckEngine(Bytes engine) {
    if (EqualsIgnoreCase(engine, "lua")) return;
    throw Refusal{
        StrCat("ERR No scripting engine found with name '", refusals::ShownPart(engine), "' to enable debug")};
  }
};

struct ScriptExists {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|EXISTS sha1...",
                                       .summary = "Returns which of these scripts are cached.",
                                       .since = "2.6.0",
                                       .complexity = "O(N) for N scripts requested",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript,
                                       .tips = "request_policy:all_shards response_policy:agg_logical_and"};
  static void Run(Call& call) {
    call.reply.Array(call.args.Left());
    for (Bytes sha : call.args.Rest()) {
      call.reply.Integer(call.services.execution.script_cache.FindBySha(sha) == nullptr ? 0 : 1);
    }
  }
};

struct ScriptFlush {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|FLUSH [flush-type(ASYNC|SYNC)@6.2.0]",
                                       .summary = "Forgets all scripts.",
                                       .since = "2.6.0",
                                       .complexity = "O(N) for N scripts",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) {
    const FreeMode mode = TakeFlushMode(call, refusals::kScriptFlushMode);
    ScriptCache::Contents contents = call.services.execution.script_cache.Take();
    const size_t scripts = contents.by_sha.size();
    if (mode == FreeMode::kLater && scripts > 0) call.services.data.lazy_free_thread.Free(std::move(contents), scripts);
    call.reply.Ok();
  }
};

struct ScriptHelp {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|HELP",
                                       .summary = "Lists the subcommands of SCRIPT.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"DEBUG (YES|SYNC|NO)", "    There is no debugger: NO is accepted, the others are refused.",
                     "EXISTS <sha1> [<sha1> ...]", "    Which of these scripts are known.", "FLUSH [ASYNC|SYNC]",
                     "    Remove all cached scripts, now or in the background. Without a mode the directive",
                     "    lazyfree-lazy-user-flush decides.", "KILL",
                     "    Stop the running script, unless it has written.", "LOAD <script>",
                     "    Cache a script without running it.", "SHOW <sha1>", "    The text of a cached script."});
  }
};

struct ScriptKill {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|KILL",
                                       .summary = "Stops the running script, unless it has written.",
                                       .since = "2.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript | kAllowBusy,
                                       .tips = "request_policy:all_shards response_policy:one_succeeded"};
  static void Run(Call& call) {
    call.services.execution.scripts.Kill(ScriptRunner::Kind::kScript);
    call.reply.Ok();
  }
};

struct ScriptLoad {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|LOAD script",
                                       .summary = "Caches a Lua script without running it.",
                                       .since = "2.6.0",
                                       .complexity = "O(N) for a script of N bytes",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript | kStale,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) {
    call.reply.Bulk(Compiled(call, call.args.Next(), ScriptCache::Retention::kPermanent).sha);
  }
};

struct ScriptShow {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT|SHOW sha1",
                                       .summary = "Returns the text of a cached script.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript};
  static void Run(Call& call) {
    const Script* const script = call.services.execution.script_cache.FindBySha(call.args.Next());
    if (script == nullptr) throw Refusal{refusals::kNoSuchScript};
    call.reply.Bulk(script->body);
  }
};

struct ScriptContainer {
  static constexpr CommandSpec spec = {.syntax = "SCRIPT",
                                       .summary = "Contains the subcommands about scripts.",
                                       .since = "2.6.0",
                                       .group = CommandGroup::kScripting,
                                       .arity = -2};
};

constexpr auto kScriptingCommands = Family<Eval, EvalRo, EvalSha, EvalShaRo, ScriptContainer, ScriptDebug, ScriptExists,
                                           ScriptFlush, ScriptHelp, ScriptKill, ScriptLoad, ScriptShow>();

}  // namespace

std::span<const CommandCard> ScriptingCommands() { return kScriptingCommands; }

}  // namespace respite
