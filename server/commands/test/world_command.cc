// TEST WORLD, which manages isolated servers for tests (worlds, class Worlds). AUTH and HELLO with a user `world.NAME`
// move a client to such a server.
#include "server/commands/test/world_command.h"

#include <array>
#include <optional>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/eviction.h"
#include "server/execution/call.h"
#include "server/execution/gates.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

constexpr Bytes kUserPrefix = "world.";
constexpr char kNoWorlds[] = "ERR this server has no worlds: it is a node of a cluster, or one of several nodes";
constexpr char kCannotMove[] = "ERR this connection cannot go to another world here";
constexpr char kGone[] = "ERR the world was dropped meanwhile";
constexpr char kWrongWorldPassword[] =
    "WRONGPASS a server with a password admits to its worlds with that of its default user only";

Worlds& RequireWorlds(const Call& call) {
  if (call.services.lab.worlds == nullptr) throw Refusal{kNoWorlds};
  return *call.services.lab.worlds;
}

void CheckName(Bytes name) {
  if (!name.empty() && name.size() <= Worlds::kMaxNameBytes) return;
  throw Refusal{StrCat("ERR the name of a world has 1 to ", Worlds::kMaxNameBytes, " bytes")};
}

Bytes NameOfExistingWorld(Call& call) {
  const Bytes name = call.args.Next();
  if (RequireWorlds(call).Has(name)) return name;
  throw Refusal{"ERR no world '" + std::string(refusals::ShownPart(name)) + "'. TEST WORLD LIST shows them"};
}

void MakeWorld(Call& call, Bytes name, const Worlds::WorldOptions& options) {
  const Services& services = call.services;
  Worlds& worlds = RequireWorlds(call);
  CheckName(name);
  if (services.env.settings.maxmemory != 0 && services.data.eviction.LacksMemory())
    throw Refusal{refusals::kOutOfMemory};
  if (worlds.Count() >= Worlds::kMaxWorlds) {
    throw Refusal{StrCat("ERR there are ", Worlds::kMaxWorlds, " worlds already. Drop one first")};
  }
  if (const auto trouble = worlds.Create(name, options)) throw Refusal{"ERR " + *trouble};
}

// Parses the port number of a TEST WORLD. AUTO gives 0, which means any free port.
int PortNumber(Bytes word) {
  if (EqualsIgnoreCase(word, "auto")) return 0;
  const auto port = ParseInteger(word);
  if (port && *port > 0 && *port < 65536) return static_cast<int>(*port);
  throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) + "' is no port. Write AUTO or a number up to 65535"};
}

Emulated VersionNamed(Bytes word) {
  const auto version = ParseEmulatedVersion(word);
  if (version) return *version;
  throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) + "' is no version that can be emulated. There are " +
                EmulatedNames()};
}

void CreateWorld(Call& call) {
  const Bytes name = call.args.Next();
  Worlds::WorldOptions options;
  while (!call.args.AtEnd()) {
    if (call.args.TakeTokenWith("PORT", 1)) {
      options.port = PortNumber(call.args.Next());
    } else if (call.args.TakeTokenWith("FROM", 1)) {
      options.snapshot = call.args.Next();
      options.snapshots = &call.services.lab.snapshots;
    } else if (call.args.TakeTokenWith("VERSION", 1)) {
      options.version = VersionNamed(call.args.Next());
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (RequireWorlds(call).Has(name)) {
    throw Refusal{"ERR there is a world '" + std::string(refusals::ShownPart(name)) + "' already"};
  }
  if (options.snapshots != nullptr && !options.snapshots->Has(options.snapshot)) {
    throw Refusal{"ERR no snapshot '" + options.snapshot + "'. TEST SNAPSHOT LIST shows them"};
  }
  MakeWorld(call, name, options);
  if (!options.port) return call.reply.Ok();
  call.reply.Integer(RequireWorlds(call).PortOf(name));
}

// Moves the connection to an isolated server (world), or back to the main server, in the next turn of the event loop.
// After the move, the other server sends entry.reply or runs entry.request. The executor resumes this command only if
// the move has failed.
void GoToWorld(Call& call, Worlds::Entry entry) {
  if (call.is_resumed) return call.reply.Error(kGone);
  if (!call.MayContinueLater() || !RequireWorlds(call).Enter(call.session, std::move(entry)))
    throw Refusal{kCannotMove};
  call.ContinueInNextTurn();
}

void MakeAndEnterWorld(Call& call, Bytes name, std::vector<std::string> request) {
  if (!call.is_resumed && !RequireWorlds(call).Has(name)) {
    if (!call.MayContinueLater() || !RequireWorlds(call).MayMove(call.session)) throw Refusal{kCannotMove};
    MakeWorld(call, name, {});
  }
  GoToWorld(call, {.world = std::string(name), .request = std::move(request)});
}

void EnterWorld(Call& call) {
  const Bytes name = call.args.Next();
  call.args.ExpectEnd();
  MakeAndEnterWorld(call, name, {});
}

void LeaveWorld(Call& call) {
  call.args.ExpectEnd();
  GoToWorld(call, {.world = {}});
}

void ListWorlds(Call& call) {
  call.args.ExpectEnd();
  const auto list = RequireWorlds(call).List();
  call.reply.Array(list.size());
  for (const auto& world : list) {
    call.reply.Map(5);
    call.reply.Bulk("name");
    call.reply.Bulk(world.name);
    call.reply.Bulk("clients");
    call.reply.Integer(static_cast<int64_t>(world.clients));
    call.reply.Bulk("keys");
    call.reply.Integer(static_cast<int64_t>(world.keys));
    call.reply.Bulk("port");
    world.port == 0 ? call.reply.Null() : call.reply.Integer(world.port);
    call.reply.Bulk("version");
    world.version.empty() ? call.reply.Null() : call.reply.Bulk(world.version);
  }
}

void DropWorld(Call& call) {
  const Bytes name = NameOfExistingWorld(call);
  call.args.ExpectEnd();
  RequireWorlds(call).Drop(name);
  call.reply.Ok();
}

constexpr std::array kWorldActions = {TestAction{"create", CreateWorld}, TestAction{"enter", EnterWorld},
                                      TestAction{"leave", LeaveWorld}, TestAction{"list", ListWorlds},
                                      TestAction{"drop", DropWorld}};

struct TestWorld {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|WORLD action(create{CREATE create-name<name>:string [PORT port:string] [FROM snapshot:string]}|ENTER "
      "enter-name<name>:string|LEAVE|LIST|DROP drop-name<name>:string)",
      "Creates, enters, lists and drops isolated servers behind the port of this one.");
  static void Run(Call& call) { RunTestAction(call, kWorldActions); }
};

constexpr auto kTestWorldCommands = Family<TestWorld>();

}  // namespace

std::span<const CommandCard> TestWorldCommands() { return kTestWorldCommands; }

bool LogInToWorld(Call& call, Bytes user, Bytes password, std::vector<std::string> request) {
  const Services& services = call.services;
  if (services.lab.worlds == nullptr || !user.starts_with(kUserPrefix)) return false;
  const Permission permission = services.env.settings.test_commands;
  if (permission == Permission::kLocalConnections && !call.session.addresses.IsLocal()) return false;
  const bool is_open = !services.clients.users.IsLoginRequired() ||
                       services.clients.users.FindIfPasswordMatches("default", password) != nullptr;
  if (!is_open) {
    services.clients.permissions.LogFailedLogin(call.session, call.args.Words()[0], user);
    throw Refusal{kWrongWorldPassword};
  }
  MakeAndEnterWorld(call, user.substr(kUserPrefix.size()), std::move(request));
  return true;
}

}  // namespace respite
