// TEST LOAD runs the commands of a fixture (data as text), and TEST DUMP writes the data as text. TEST SEED and TEST
// SHUFFLE control random behaviour.
#include "scripting/function_library.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/role.h"
#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/gates.h"
#include "server/execution/services.h"
#include "server/lab/fixture_formats.h"
#include "server/lab/fixture_loader.h"
#include "server/lab/fixture_text.h"
#include "server/lab/lab.h"
#include "server/replication/replication.h"

namespace respite {

namespace {

constexpr char kLoadOnReplica[] = "ERR this server is a replica, which has the data of its primary. Load it there";

Fixture ReadFixture(Bytes format, Bytes text) {
  const auto known = FixtureFormatOf(format);
  if (!known || *known == FixtureFormat::kRdb || *known == FixtureFormat::kAof) {
    throw Refusal{"ERR the format is REDIS, RESP or JSON, not '" + std::string(refusals::ShownPart(format)) + "'"};
  }
  auto fixture = ReadFixtureText(text, *known);
  if (!fixture) throw Refusal{"ERR " + fixture.error()};
  return std::move(fixture).value();
}

// Runs one command of a fixture in the same way as EXEC runs a queued command. Skips MULTI and EXEC. Returns an error
// text if the command fails, or if it is not allowed in a fixture because it makes no data. Otherwise returns nullopt.
std::optional<std::string> RunWithin(Call& call, Session& session, const std::vector<std::string>& request) {
  const std::vector<Bytes> words(request.begin(), request.end());
  Executor& executor = call.services.execution.executor;
  const Command* const command = executor.Resolve(words);
  if (command == nullptr) return "unknown command " + Quoted(words[0]);
  const TransactionRole role = command->Spec().transaction;
  if (role == TransactionRole::kBegins || role == TransactionRole::kExecutes) return std::nullopt;
  if (!IsAllowedInStreams(*command)) return command->full_name + " makes no data, so it has no place in a fixture";
  try {
    call.services.execution.gates.Pass(RequestPath::kFixture, {session, command, words, command->flags});
  } catch (const Refusal& refusal) {
    return refusal.text;
  }
  executor.ExecuteNested(call.unit, session, *command, words);
  const std::string reply = session.out.Text();
  session.out.Clear();
  if (!reply.starts_with('-')) return std::nullopt;
  return command->full_name + ": " + reply.substr(1, reply.find('\r') - 1);
}

std::optional<std::string> RunAll(Call& call, const Fixture& fixture) {
  // The libraries in the fixture of a TEST LOAD share one time limit, because no other client is served while they are
  // loaded.
  const FunctionLibraries::SharedLimit shared_limit(call.services.execution.function_libraries);
  const std::unique_ptr<Session> session = call.services.clients.registry.CreateDetached();
  session->user = call.session.user;
  session->runs_fixture = true;
  for (const Fixture::Request& request : fixture.requests) {
    if (auto reason = RunWithin(call, *session, request.words)) return request.place + ": " + *reason;
  }
  return std::nullopt;
}

struct TestLoad {
  static constexpr CommandSpec spec =
      TestSpec("TEST|LOAD format(REDIS|RESP|JSON) text", "Runs the commands of a fixture, all of them or none.");
  // TEST LOAD loads the whole fixture or nothing: if one command fails, undoes the changes of the commands before it.
  static void Run(Call& call) {
    if (call.services.replication.role().is_replica) throw Refusal{kLoadOnReplica};
    const Bytes format = call.args.Next();
    const Fixture fixture = ReadFixture(format, call.args.Next());
    call.effect.SuppressCommandItself();  // its commands are propagated instead
    NamedSnapshots& snapshots = call.services.lab.snapshots;
    const auto before = snapshots.data().Save();
    const auto programs = snapshots.CurrentPrograms();
    if (const auto reason = RunAll(call, fixture)) {
      snapshots.data().Restore(*before, call.unit);
      snapshots.UndoPrograms(programs, call.unit);
      call.failed = true;
      return call.reply.Error("ERR " + *reason);
    }
    call.reply.Integer(static_cast<int64_t>(fixture.requests.size()));
  }
};

struct TestDump {
  static constexpr CommandSpec spec =
      TestSpec("TEST|DUMP [pattern:pattern]", "Returns the data as sorted commands. Equal data gives equal text.");
  static void Run(Call& call) {
    const Bytes pattern = call.args.AtEnd() ? Bytes("*") : call.args.Next();
    call.reply.Verbatim(FixtureText(call.services.data.dataset.keyspace, pattern, call.now_ms), "txt");
  }
};

struct TestSeed {
  static constexpr CommandSpec spec =
      TestSpec("TEST|SEED seed:integer", "Makes later random choices the same in each run.");
  static void Run(Call& call) {
    const int64_t seed = call.args.NextInteger();
    call.services.data.dataset.random = Random(static_cast<uint64_t>(seed));
    call.services.lab.faults.Seed(static_cast<uint64_t>(seed));
    call.services.lab.shuffle.Seed(static_cast<uint64_t>(seed));
    call.reply.Ok();
  }
};

struct TestShuffle {
  static constexpr CommandSpec spec = TestSpec("TEST|SHUFFLE [setting(ON|OFF)]",
                                               "Returns elements without a promised order in another order each time.");
  static void Run(Call& call) {
    Shuffle& shuffle = call.services.lab.shuffle;
    if (call.args.AtEnd()) return call.reply.Simple(shuffle.IsOn() ? "on" : "off");
    const bool is_on = ParseOnOff(call.args.Next());
    call.args.ExpectEnd();
    is_on ? shuffle.TurnOn() : shuffle.TurnOff();
    call.reply.Ok();
  }
};

constexpr auto kTestFixtureCommands = Family<TestDump, TestLoad, TestSeed, TestShuffle>();

}  // namespace

std::span<const CommandCard> TestFixtureCommands() { return kTestFixtureCommands; }

}  // namespace respite
