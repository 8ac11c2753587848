// PING ECHO QUIT RESET AUTH HELLO SELECT and MONITOR: commands about the connection itself.
#include <limits>
#include <optional>

#include "base/digest.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_state.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/commands/common_arguments.h"
#include "server/commands/families.h"
#include "server/commands/module_list.h"
#include "server/commands/test/world_command.h"
#include "server/config/named_traits.h"
#include "server/config/usage.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/monitors.h"
#include "server/execution/services.h"
#include "server/replication/replication.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kMonitorDenied[] = "ERR MONITOR isn't allowed for DENY BLOCKING client";
constexpr char kWrongPass[] = "WRONGPASS invalid username-password pair or user is disabled.";
constexpr char kWrongInternalPass[] = "WRONGPASS invalid internal password";
constexpr char kAuthWithoutPassword[] =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
    "configuration is correct?";
constexpr char kProtocolNotInteger[] = "ERR Protocol version is not an integer or out of range";
constexpr char kNoProto[] = "NOPROTO unsupported protocol version";
constexpr char kHelloNoAuth[] =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> "
    "option can be used to authenticate the client and select the RESP protocol version at the same time";
constexpr char kResetOfReplica[] = "ERR can only reset normal client connections";
Refusal HelloOption(Bytes option) { return {"ERR Syntax error in HELLO option '" + std::string(option) + "'"}; }

}  // namespace
}  // namespace refusals

namespace {

// Logs the client in as this user. If the name or the password is wrong, records this in the ACL log, and throws a
// Refusal.
void Authenticate(Call& call, Bytes name, Bytes password) {
  const User* user = call.services.clients.users.FindIfPasswordMatches(name, password);
  if (user == nullptr) {
    call.services.clients.permissions.LogFailedLogin(call.session, call.args.Words()[0], name);
    throw Refusal{refusals::kWrongPass};
  }
  call.session.authenticated = true;
  call.session.user = user;
  call.session.cluster_options.is_internal = false;
}

// Logs in a node of Redis, if the name is the one that such nodes use. The secret is known only to nodes of the
// cluster.
bool LogInNode(Call& call, Bytes name, Bytes secret) {
  constexpr Bytes kNodes = "internal connection";
  if (name != kNodes || call.services.cluster.cluster() == nullptr) return false;
  const std::string known = call.services.cluster.cluster()->view().InternalSecret();
  if (known.empty()) return false;  // no node of Redis is in the cluster
  if (!ConstantTimeEquals(known, secret)) {
    call.services.clients.permissions.LogFailedLogin(call.session, call.args.Words()[0], name);
    throw Refusal{refusals::kWrongInternalPass};
  }
  call.session.authenticated = true;
  call.session.user = &call.services.slot_migrations.internal_user();
  call.session.cluster_options.is_internal = true;
  call.reply.Ok();
  return true;
}

struct AuthCommand {
  static constexpr CommandSpec spec = {.syntax = "AUTH [username@6.0.0] password",
                                       .where = Where::kEverywhere,
                                       .summary = "Logs the connection in.",
                                       .since = "1.0.0",
                                       .complexity = "O(N) for N passwords of the user",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy,
                                       .public_words = 1};
  static void Run(Call& call) {
    if (call.args.Count() > 3) throw Refusal{refusals::kSyntax};
    for (size_t word = 1; word < call.args.Count(); ++word) call.Redact(word);
    if (call.args.Count() == 2 && call.services.clients.users.Default().NeedsNoPassword())
      throw Refusal{refusals::kAuthWithoutPassword};
    const Bytes user = call.args.Count() == 3 ? call.args.Next() : "default";
    const Bytes password = call.args.Next();
    if (LogInNode(call, user, password)) return;
    if (LogInToWorld(call, user, password, {})) return;
    Authenticate(call, user, password);
    call.reply.Ok();
  }
};

struct Echo {
  static constexpr CommandSpec spec = {.syntax = "ECHO message",
                                       .summary = "Replies with its argument.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kLoading | kStale | kFast};
  static void Run(Call& call) { call.reply.Bulk(call.args.Next()); }
};

struct HelloOptions {
  std::optional<RespVersion> version;
  std::optional<Bytes> user;
  Bytes password;
  std::optional<Bytes> name;
};

HelloOptions TakeHelloOptions(Call& call) {
  HelloOptions options;
  if (call.args.AtEnd()) return options;
  int64_t version = call.args.NextInteger(refusals::kProtocolNotInteger);
  if (version < 2 || version > 3) throw Refusal{refusals::kNoProto};
  options.version = static_cast<RespVersion>(version);
  while (!call.args.AtEnd()) {
    if (call.args.TakeTokenWith("AUTH", 2)) {
      size_t at = call.args.Count() - call.args.Left();
      call.Redact(at);
      call.Redact(at + 1);
      options.user = call.args.Next();
      options.password = call.args.Next();
    } else if (call.args.TakeTokenWith("SETNAME", 1)) {
      options.name = call.args.Next();
      CheckClientName(*options.name);
    } else {
      throw refusals::HelloOption(call.args.Next());
    }
  }
  return options;
}

std::vector<std::string> RequestWithoutLogin(const HelloOptions& options) {
  std::vector<std::string> words = {"HELLO", options.version == RespVersion::kResp3 ? "3" : "2"};
  if (options.name) words.insert(words.end(), {"SETNAME", std::string(*options.name)});
  return words;
}

struct Hello {
  static constexpr CommandSpec spec = {
      .syntax = "HELLO [arguments{protover:integer [AUTH auth{username password}] [SETNAME clientname]}]",
      .where = Where::kEverywhere,
      .summary = "Selects the protocol version, logs in, and describes the server.",
      .since = "6.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kConnection,
      .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy,
      .public_words = 2};
  static void Run(Call& call) {
    Session& session = call.session;
    HelloOptions options = TakeHelloOptions(call);
    if (options.user && LogInToWorld(call, *options.user, options.password, RequestWithoutLogin(options))) return;
    if (options.user) Authenticate(call, *options.user, options.password);
    if (!session.authenticated) throw Refusal{refusals::kHelloNoAuth};
    if (options.name) session.identity.name = *options.name;
    if (options.version) session.resp = *options.version;
    WriteGreeting(call);
  }

 private:
  static Bytes ModeOf(const Services& services) {
    if (services.sentinel.sentinel() != nullptr) return "sentinel";
    return services.env.settings.cluster_enabled ? "cluster" : "standalone";
  }
  static void WriteGreeting(Call& call) {
    const Session& session = call.session;
    const bool has_role = call.services.sentinel.sentinel() == nullptr;
    Reply reply(call.session.out, session.resp, session.reply_form);  // in the new protocol version
    const std::string& zone = call.services.env.settings.availability_zone;
    reply.Map(6u + has_role + !zone.empty());
    const DialectTraits traits = TraitsWithProductNames(call.services.env.settings);
    reply.Bulk("server");
    reply.Bulk(traits.hello_name);
    reply.Bulk("version");
    reply.Bulk(traits.version);
    reply.Bulk("proto");
    reply.Integer(static_cast<int64_t>(session.resp));
    reply.Bulk("id");
    reply.Integer(static_cast<int64_t>(session.id));
    reply.Bulk("mode");
    reply.Bulk(ModeOf(call.services));
    if (has_role) {
      reply.Bulk("role");
      reply.Bulk(call.services.replication.role().is_replica ? "replica" : "master");
    }
    reply.Bulk("modules");
    WriteModuleList(reply, call.services.env.dialect);
    if (zone.empty()) return;
    reply.Bulk("availability_zone");
    reply.Bulk(zone);
  }
};

struct Monitor {
  static constexpr CommandSpec spec = {.syntax = "MONITOR",
                                       .summary = "Sends every command that the server runs.",
                                       .since = "1.0.0",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    // Refuses MONITOR in a transaction or a script, because the lines that MONITOR sends would get into the reply of
    // EXEC or of the script.
    if (!call.services.clients.current_execution.MayBlock()) throw Refusal{refusals::kMonitorDenied};
    if (call.session.monitor) return;  // Redis: no reply at all
    call.services.execution.monitors.Add(call.session);
    call.reply.Ok();
  }
};

struct Ping {
  static constexpr CommandSpec spec = {.syntax = "PING [message]",
                                       .where = Where::kEverywhere,
                                       .summary = "Returns PONG or the message, to test the connection.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kFast,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded",
                                       .runs_when_subscribed = true,
                                       .reports_disk_trouble = true,
                                       .sent_by_slot_source = true};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::WrongArity("ping");
    if (InSubscribedMode(call.session)) return AnswerAsMessage(call);
    if (call.args.AtEnd()) return call.reply.Simple("PONG");
    call.reply.Bulk(call.args.Next());
  }

 private:
  // Replies to PING from a RESP2 client with subscriptions, which expects the reply in the form of a message.
  static void AnswerAsMessage(Call& call) {
    call.reply.Array(2);
    call.reply.Bulk("pong");
    call.reply.Bulk(call.args.AtEnd() ? Bytes() : call.args.Next());
  }
};

struct Quit {
  static constexpr CommandSpec spec = {.syntax = "QUIT",
                                       .summary = "Ends the connection.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy,
                                       .deprecated_since = "7.2.0",
                                       .replaced_by = "just closing the connection",
                                       .arity = -1,
                                       .transaction = TransactionRole::kLeaves,
                                       .runs_when_subscribed = true};
  static void Run(Call& call) {
    call.reply.Ok();
    call.session.close_after_reply = true;
  }
};

struct Reset {
  static constexpr CommandSpec spec = {.syntax = "RESET",
                                       .summary = "Resets the connection to the state of a new one.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy,
                                       .transaction = TransactionRole::kLeaves,
                                       .runs_when_subscribed = true};
  static void Run(Call& call) {
    Session& session = call.session;
    if (session.kind == SessionKind::kReplica) throw Refusal{refusals::kResetOfReplica};
    call.services.execution.monitors.Remove(session);
    DropAllSubscriptions(session);
    EndTransaction(call.services.clients.watched_keys, session);
    call.services.clients.tracking.Disable(session);
    session.db = 0;
    session.resp = RespVersion::kResp2;
    session.user = &call.services.clients.users.Default();
    session.authenticated = !call.services.clients.users.IsLoginRequired();
    session.identity.name.clear();
    session.no_evict = session.no_touch = session.import_source = session.maint_notifications = false;
    call.services.slot_migrations.Forget(session);
    session.cluster_options = {};
    session.field_sets.reset();
    session.replies.Reset();  // keeps the library's name, since the library is the same
    call.reply.Simple("RESET");
  }
};

struct Select {
  static constexpr CommandSpec spec = {.syntax = "SELECT index:integer",
                                       .summary = "Selects the database of the connection.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kLoading | kStale | kFast,
                                       .selects_database = true,
                                       .sent_by_slot_source = true,
                                       .database_words = [](std::span<const Bytes>) { return std::vector<size_t>{1}; }};
  static void Run(Call& call) {
    using Limits = std::numeric_limits<int32_t>;
    int64_t index = call.args.NextInteger();
    if (index < Limits::min() || index > Limits::max()) throw Refusal{refusals::kNotInt};
    if (IsConfinedToOneDb(call) && index != 0) throw refusals::NotInCluster("SELECT");
    if (index < 0 || index >= call.services.data.dataset.keyspace.Count()) throw Refusal{refusals::kDbIndex};
    call.session.db = static_cast<int>(index);
    call.reply.Ok();
  }
};

constexpr auto kConnectionCommands = Family<AuthCommand, Echo, Hello, Monitor, Ping, Quit, Reset, Select>();

}  // namespace

std::span<const CommandCard> ConnectionCommands() { return kConnectionCommands; }

}  // namespace respite
