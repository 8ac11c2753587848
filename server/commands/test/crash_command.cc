// TEST CRASH: ends this server as if it had been killed, and restarts it within the process, with the data on the disk.
#include <optional>

#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"
#include "server/storage/append_only_file.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

constexpr char kCannotRestart[] =
    "ERR this server cannot begin again: it is a Sentinel, or has a thread of its own (node-threads yes)";
constexpr char kCannotStay[] = "ERR this connection cannot outlive its server here";
constexpr char kNoFile[] =
    "ERR this server has no append-only file whose end could be lost. Start it with --appendonly yes, or write AOF "
    "ALWAYS";

std::optional<AppendFsync> PolicyIn(Call& call) {
  if (call.args.AtEnd()) return std::nullopt;
  if (!call.args.TakeTokenWith("AOF", 1)) throw Refusal{refusals::kSyntax};
  const Bytes word = call.args.Next();
  call.args.ExpectEnd();
  if (EqualsIgnoreCase(word, "always")) return AppendFsync::kAlways;
  if (EqualsIgnoreCase(word, "everysec")) return AppendFsync::kEverySecond;
  if (EqualsIgnoreCase(word, "no")) return AppendFsync::kNever;
  throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) + "' is no policy. Write ALWAYS, EVERYSEC or NO"};
}

Restarts::DataAfterCrash RemainsAfter(const Call& call, std::optional<AppendFsync> policy) {
  const bool has_file = call.services.storage.aof.IsOn();
  if (has_file) return {.policy = policy.value_or(call.services.env.settings.appendfsync)};
  if (!policy) return {};
  if (*policy != AppendFsync::kAlways) throw Refusal{kNoFile};
  return {.from = Restarts::DataAfterCrash::From::kAll};
}

struct TestCrash {
  static constexpr CommandSpec spec =
      TestSpec("TEST|CRASH [AOF policy(ALWAYS|EVERYSEC|NO)]",
               "Ends this server as if it was killed, and restarts it with the data on the disk.");
  static void Run(Call& call) {
    Restarts* const restarts = call.services.lab.restarts;
    const Restarts::DataAfterCrash remains = RemainsAfter(call, PolicyIn(call));
    if (restarts == nullptr) throw Refusal{kCannotRestart};
    if (call.is_resumed) return call.reply.Error(kCannotStay);
    if (!call.MayContinueLater() || !restarts->Crash(call.session, remains)) throw Refusal{kCannotStay};
    call.ContinueInNextTurn();
  }
};

constexpr auto kTestCrashCommands = Family<TestCrash>();

}  // namespace

std::span<const CommandCard> TestCrashCommands() { return kTestCrashCommands; }

}  // namespace respite
