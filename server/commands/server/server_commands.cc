#include <algorithm>
#include <complex>
#include <numbers>
#include <string>

#include "base/log.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/module_list.h"
#include "server/commands/server/pictures.h"
#include "server/config/usage.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"
#include "server/observe/info/info.h"
#include "server/storage/shutdown.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kModuleLoad[] = "ERR Error loading the extension. Please check the server logs.";
constexpr char kModuleUnload[] = "ERR Error unloading module: no such module with that name";
constexpr char kShutdownFailed[] = "ERR Errors trying to SHUTDOWN. Check logs.";
constexpr char kFractalSyntax[] = "ERR Syntax error. Use: LOLWUT [columns rows] [real imaginary]";
constexpr char kNoShutdown[] = "ERR No shutdown in progress.";

}  // namespace
}  // namespace refusals

namespace {

// --- The commands MODULE …. LOAD, LOADEX and UNLOAD always refuse, because modules are compiled against the structures
// of Redis.

struct ModuleHelp {
  static constexpr CommandSpec spec = {.syntax = "MODULE|HELP",
                                       .summary = "Lists the subcommands of MODULE.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"LIST", "    The parts of this server that are modules in the emulated version.",  //
                     "LOAD <path> [<arg> ...]", "    Refused: modules of Redis cannot run here.",       //
                     "LOADEX <path> [CONFIG <name> <value> ...] [ARGS <arg> ...]", "    Refused likewise.",
                     "UNLOAD <name>", "    Refused: there is no module to unload."});
  }
};

struct ModuleList {
  static constexpr CommandSpec spec = {
      .syntax = "MODULE|LIST",
      .summary = "Lists the parts of the server that are modules in the emulated version.",
      .since = "4.0.0",
      .complexity = "O(N) for N modules",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kNoScript,
      .tips = "nondeterministic_output_order"};
  static void Run(Call& call) { WriteModuleList(call.reply, call.services.env.dialect); }
};

struct WithoutModules {
  static constexpr std::string_view kRefuses = "there are no modules";
};

[[noreturn]] void RefuseModule(Call& call) {
  call.services.env.log.Warning("Module " + std::string(call.args.Next()) +
                                " failed to load: this server cannot load modules");
  throw Refusal{refusals::kModuleLoad};
}

struct ModuleLoad : WithoutModules {
  static constexpr CommandSpec spec = {.syntax = "MODULE|LOAD path [arg...]",
                                       .summary = "Refuses to load a module.",
                                       .since = "4.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kProtected,
                                       .protection = Protection::kModuleCommand};
  static void Run(Call& call) { RefuseModule(call); }
};

struct ModuleLoadEx : WithoutModules {
  static constexpr CommandSpec spec = {.syntax = "MODULE|LOADEX path [CONFIG... configs{name value}] [ARGS args...]",
                                       .summary = "Refuses to load a module, with settings.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kProtected,
                                       .protection = Protection::kModuleCommand};
  static void Run(Call& call) { RefuseModule(call); }
};

struct ModuleUnload : WithoutModules {
  static constexpr CommandSpec spec = {.syntax = "MODULE|UNLOAD name",
                                       .summary = "Refuses to unload a module: there is none.",
                                       .since = "4.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kProtected,
                                       .protection = Protection::kModuleCommand};
  static void Run(Call& call) {
    call.services.env.log.Warning("Error unloading module " + std::string(call.args.Next()) +
                                  ": no such module with that name");
    throw Refusal{refusals::kModuleUnload};
  }
};

struct Module {
  static constexpr CommandSpec spec = {.syntax = "MODULE",
                                       .summary = "Contains the subcommands about modules.",
                                       .since = "4.0.0",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

struct Time {
  static constexpr CommandSpec spec = {.syntax = "TIME",
                                       .summary = "Returns the unix time in seconds, and microseconds.",
                                       .since = "2.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale | kFast,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const int64_t now_us = call.services.execution.executor.UnitWallUs();
    call.reply.Array(2);
    call.reply.BulkInteger(now_us / 1'000'000);
    call.reply.BulkInteger(now_us % 1'000'000);
  }
};

struct Lolwut {
  static constexpr CommandSpec spec = {.syntax = "LOLWUT [VERSION version:integer]",
                                       .summary = "Draws a picture with the version.",
                                       .since = "5.0.0",
                                       .group = CommandGroup::kServer,
                                       .flags = kReadOnly | kFast};
  // LOLWUT draws the picture of version 5, 6 or 9, given by VERSION. Otherwise it draws the picture of the emulated
  // version, if it has one: Redis has none since 7.0, and the one of Valkey 9.1 is a Julia set.
  static void Run(Call& call) {
    const DialectTraits& traits = call.services.env.dialect.traits;
    const int64_t version = call.args.TakeTokenWith("VERSION", 1) ? call.args.NextInteger() : 9;
    std::string text = Picture(call, version);
    text += (traits.lolwut_draws_fractal ? "Valkey ver. " : "Redis ver. ") + std::string(traits.version) + "\n";
    call.reply.Verbatim(text, "txt");
  }

 private:
  static std::string Picture(Call& call, int64_t version) {
    if (version == 5) return Labyrinth(call.random, TakeSize(call.args, {.columns = 66, .rows = 12}));
    if (version == 6) return Skyline(call.random, TakeSize(call.args, {.columns = 80, .rows = 20}));
    if (version == 9 && call.services.env.dialect.traits.lolwut_draws_fractal) return TakeFractal(call);
    return {};
  }
  static std::string TakeFractal(Call& call) {
    const size_t arguments = call.args.Left();
    if (arguments != 0 && arguments != 2 && arguments != 4) throw Refusal{refusals::kFractalSyntax};
    PictureSize size{.columns = 80, .rows = 40};
    std::complex<double> constant = std::polar(0.7885, call.random.Unit() * 2 * std::numbers::pi);
    if (arguments > 0) size.columns = std::clamp<int64_t>(call.args.NextInteger(), 1, 160);
    if (arguments > 0) size.rows = std::clamp<int64_t>(call.args.NextInteger(), 1, 80);
    if (arguments > 2) {
      const double real = call.args.NextDouble();
      constant = {real, call.args.NextDouble()};
    }
    return JuliaSet(size, constant);
  }
  static PictureSize TakeSize(Args& args, PictureSize size) {
    if (!args.AtEnd()) size.columns = std::clamp<int64_t>(args.NextInteger(), 1, 1000);
    if (!args.AtEnd()) size.rows = std::clamp<int64_t>(args.NextInteger(), 1, 200);
    return size;
  }
};

// The arguments of SHUTDOWN.
struct ShutdownOptions {
  uint32_t flags = kShutdownDefault;
  bool abort = false;
  bool safe = false;  // SAFE: a primary with slots does not stop

  static ShutdownOptions Take(Args& args) {
    ShutdownOptions options;
    while (!args.AtEnd()) options.TakeOne(args);
    constexpr uint32_t kContradiction = kShutdownNoSave | kShutdownSave;
    const bool contradicts = (options.flags & kContradiction) == kContradiction;
    if (contradicts || (options.abort && (options.safe || options.flags != kShutdownDefault)))
      throw Refusal{refusals::kSyntax};
    return options;
  }

 private:
  void TakeOne(Args& args) {
    if (args.TakeToken("NOSAVE")) {
      flags |= kShutdownNoSave;
    } else if (args.TakeToken("SAVE")) {
      flags |= kShutdownSave;
    } else if (args.TakeToken("NOW")) {
      flags |= kShutdownNow;
    } else if (args.TakeToken("FORCE")) {
      flags |= kShutdownForce;
    } else if (args.TakeToken("SAFE")) {
      safe = true;
    } else if (args.TakeToken("FAILOVER")) {
      flags |= kShutdownFailover;
    } else if (args.TakeToken("ABORT")) {
      abort = true;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
};

struct ShutdownCommand {
  static constexpr CommandSpec spec = {.syntax =
                                           "SHUTDOWN [save-selector(NOSAVE|SAVE)] [NOW@7.0.0] [FORCE@7.0.0] "
                                           "[SAFE@valkey:9.0.0] [FAILOVER@valkey:9.0.0] [ABORT@7.0.0]",
                                       .where = Where::kEverywhere,
                                       .summary = "Saves the data as configured and stops the server.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys when they are saved, else O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale | kNoMulti | kAllowBusy};
  static void Run(Call& call) {
    const ShutdownOptions options = ShutdownOptions::Take(call.args);
    const Services& services = call.services;
    if (options.abort) return Abort(call);
    if (!services.clients.current_execution.MayBlock() && (options.flags & kShutdownNow) == 0)
      throw Refusal{kNotInScripts};
    if ((options.flags & kShutdownFailover) != 0 && services.cluster.cluster() == nullptr) throw Refusal{kNeedsCluster};
    if (options.safe && (options.flags & kShutdownForce) == 0) RefuseIfOwnerOfSlots(call);
    const bool saves = (options.flags & kShutdownNoSave) == 0;
    if (services.execution.scripts.Busy() && saves) throw services.execution.scripts.BusyRefusal();
    switch (services.storage.shutdown.Begin(options.flags)) {
      case Shutdown::Outcome::kFailed:
        throw Refusal{refusals::kShutdownFailed};
      case Shutdown::Outcome::kWaiting:
        services.storage.shutdown.AddWaitingClient(call.session);
        return call.Wait({.answer = ReplyFailed});
      case Shutdown::Outcome::kStopping:
        call.session.close_after_reply = true;  // later requests get no reply
    }
  }

 private:
  static constexpr char kNeedsCluster[] = "ERR SHUTDOWN FAILOVER is only supported in cluster mode.";
  static constexpr char kNotInScripts[] = "ERR SHUTDOWN without NOW or ABORT isn't allowed for DENY BLOCKING client";

  static void ReplyFailed(Reply& reply, const Services&, const Session&) { reply.Error(refusals::kShutdownFailed); }

  static void RefuseIfOwnerOfSlots(const Call& call) {
    const Cluster* cluster = call.services.cluster.cluster();
    if (cluster == nullptr || !cluster->view().me().IsPrimary() || cluster->view().me().slot_count == 0) return;
    call.services.env.log.Warning("SHUTDOWN SAFE is refused: this node is a primary with slots");
    throw Refusal{refusals::kShutdownFailed};
  }
  static void Abort(Call& call) {
    if (!call.services.storage.shutdown.Abort()) throw Refusal{refusals::kNoShutdown};
    call.reply.Ok();
  }
};

struct Info {
  static constexpr CommandSpec spec = {
      .syntax = "INFO [section...]",
      .where = Where::kEverywhere,
      .summary = "Reports on the server and its figures, section by section.",
      .since = "1.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kLoading | kStale,
      .categories = kAclDangerous,
      .tips = "nondeterministic_output request_policy:all_shards response_policy:special"};
  static void Run(Call& call) { call.reply.Verbatim(InfoReport(call.services, call.args.Rest()), "txt"); }
};

constexpr auto kInfoCommands = Family<Info>();
constexpr auto kServerCommands =
    Family<Module, ModuleHelp, ModuleList, ModuleLoad, ModuleLoadEx, ModuleUnload, Time, Lolwut, ShutdownCommand>();

}  // namespace

std::span<const CommandCard> InfoCommands() { return kInfoCommands; }
std::span<const CommandCard> ServerCommands() { return kServerCommands; }

}  // namespace respite
