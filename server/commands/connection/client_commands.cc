// CLIENT: lists, names, pauses, closes and configures connections. client_tracking_commands.cc has CLIENT TRACKING.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_state.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/commands/common_arguments.h"
#include "server/commands/connection/client_selection.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNoSuchClient[] = "ERR No such client";
constexpr char kNoImportMode[] = "ERR Server is not in import mode";
constexpr char kEndpointType[] =
    "ERR moving-endpoint-type must be internal-ip, internal-fqdn, external-ip, external-fqdn or none";
constexpr char kNotificationsNeedResp3[] = "ERR CLIENT MAINT_NOTIFICATIONS ON requires RESP3";
constexpr char kPauseMode[] = "ERR CLIENT PAUSE mode must be WRITE or ALL";
constexpr char kUnblockReason[] = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR";
Refusal ClientAttribute(Bytes attribute) {
  return {"ERR " + std::string(attribute) + " cannot contain spaces, newlines or special characters."};
}
Refusal UnrecognizedOption(Bytes option) { return {"ERR Unrecognized option '" + std::string(option) + "'"}; }

}  // namespace
}  // namespace refusals

namespace {

enum class Switch : uint8_t { kOff, kOn };

Switch TakeSwitch(Args& args) {
  if (args.TakeToken("ON")) return Switch::kOn;
  if (args.TakeToken("OFF")) return Switch::kOff;
  throw Refusal{refusals::kSyntax};
}

std::string LineOf(Call& call, const Session& session) {
  std::span<const Bytes> running;
  if (&session == &call.session) running = call.args.Words();
  return ClientText(session, call.services.env.clock.MonotonicMs(), running, call.services.env.dialect.traits) + "\n";
}

// Throws the usage error of CLIENT if there are more arguments. As in Redis, this is not the arity error of the
// subcommand.
void ExpectAtMost(Call& call, size_t arguments) {
  if (call.args.Left() > arguments) throw refusals::SubcommandSyntax(call.services.env.dialect, "client", call.args[1]);
}

struct ClientCapa {
  static constexpr CommandSpec spec = {
      .syntax = "CLIENT|CAPA capability...",
      .where = Where::kEverywhere,
      .summary = "Declares an ability of the client: following redirections of a replica.",
      .since = "valkey:8.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kConnection,
      .flags = kNoScript | kLoading | kStale};
  // Ignores unknown capabilities of CLIENT CAPA, because a client may name capabilities that only newer servers know.
  static void Run(Call& call) {
    for (Bytes capability : call.args.Rest()) {
      if (EqualsIgnoreCase(capability, "redirect")) call.session.identity.follows_redirects = true;
    }
    call.reply.Ok();
  }
};

struct ClientImportSource {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|IMPORT-SOURCE enabled(ON|OFF)",
                                       .summary = "Lets the connection use expired keys, while import-mode keeps them.",
                                       .since = "valkey:8.1.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    const bool is_off = call.args.Rest().size() == 1 && EqualsIgnoreCase(call.args.Rest().front(), "off");
    if (!is_off && !call.services.env.settings.import_mode) throw Refusal{refusals::kNoImportMode};
    call.session.import_source = TakeSwitch(call.args) == Switch::kOn;
    call.reply.Ok();
  }
};

struct ClientGetName {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|GETNAME",
                                       .where = Where::kEverywhere,
                                       .summary = "Returns the name of the connection.",
                                       .since = "2.6.9",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    if (call.session.identity.name.empty()) return call.reply.Null();
    call.reply.Bulk(call.session.identity.name);
  }
};

struct ClientHelp {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|HELP",
                                       .where = Where::kEverywhere,
                                       .summary = "Lists the subcommands of CLIENT.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call,
              {"CACHING (YES|NO)",
               "    Track the keys of the next command or not, with OPTIN or OPTOUT.",
               "CAPA <capability> [<capability> ...]",
               "    Say what this client can do: REDIRECT lets a replica send it to its primary.",
               "GETNAME",
               "    The name of this connection.",
               "GETREDIR",
               "    The client that receives invalidations for this one.",
               "ID",
               "    The ID of this connection.",
               "IMPORT-SOURCE (ON|OFF)",
               "    Let this connection use expired keys, while import-mode keeps them.",
               "INFO",
               "    Information about this connection.",
               "KILL <ip:port>",
               "    Close the connection from this address.",
               "KILL <option> <value> [<option> <value> [...]]",
               "    Close all connections that match all of the options; SKIPME NO may include this one:",
               "    ID <client-id> [...], TYPE (NORMAL|MASTER|REPLICA|PUBSUB), USER, ADDR, LADDR, IP, NAME, FLAGS,",
               "    LIB-NAME, LIB-VER, DB, CAPA, each also with NOT- before it; MAXAGE and IDLE <seconds or more>.",
               "LIST [<option> <value> [<option> <value> [...]]]",
               "    Information about all connections, or about those that match the options of KILL.",
               "NO-EVICT (ON|OFF)",
               "    Do not close this connection when clients use too much memory.",
               "NO-TOUCH (ON|OFF)",
               "    Let this connection use keys without updating their LRU or LFU data.",
               "PAUSE <timeout> [WRITE|ALL]",
               "    Delay writes, or all commands, for this number of milliseconds.",
               "REPLY (ON|OFF|SKIP)",
               "    Turn replies to this connection on or off, or skip the next one.",
               "SETINFO (LIB-NAME|LIB-VER) <value>",
               "    Set the name or version of the client library.",
               "SETNAME <name>",
               "    Name this connection.",
               "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]] [OPTIN] [OPTOUT] [NOLOOP]",
               "    Turn invalidations of keys that this connection caches on or off.",
               "TRACKINGINFO",
               "    The tracking state of this connection.",
               "UNBLOCK <client-id> [TIMEOUT|ERROR]",
               "    Unblock a blocked client.",
               "UNPAUSE",
               "    End the pause."});
  }
};

struct ClientId {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|ID",
                                       .where = Where::kEverywhere,
                                       .summary = "Returns the ID of the connection.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) { call.reply.Integer(static_cast<int64_t>(call.session.id)); }
};

struct ClientInfo {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|INFO",
                                       .where = Where::kEverywhere,
                                       .summary = "Describes the connection.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { call.reply.Verbatim(LineOf(call, call.session), "txt"); }
};

// Closes the clients that match, and returns their number. Closes the calling client only if filter.skips_caller is
// false, and only after its reply. Cost: O(clients).
int64_t Kill(Call& call, const ClientSelection& filter) {
  int64_t killed = 0;
  filter.ForEachMatch(call.services.clients.registry, [&](Session& session) {
    const bool is_me = &session == &call.session;
    if (is_me && filter.skips_caller.value_or(true)) return;
    ++killed;
    if (is_me) {
      session.close_after_reply = true;
    } else {
      call.services.clients.registry.Close(session);
    }
  });
  return killed;
}

struct ClientKill {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLIENT|KILL filter(old-format<ip:port>@-2.8.12|new-format([ID client-id:integer@2.8.12]|[TYPE "
          "client-type(NORMAL|MASTER@3.2.0|SLAVE|REPLICA@5.0.0|PUBSUB|PRIMARY@valkey:8.0.0)@2.8.12]|[USER "
          "username]|[ADDR addr<ip:port>]|[LADDR laddr<ip:port>@6.2.0]|[SKIPME skipme(YES|NO)]|[MAXAGE "
          "maxage:integer@7.4.0,valkey:8.0.0]|[NAME name@valkey:9.0.0]|[IDLE idle:integer@valkey:9.0.0]|[FLAGS "
          "flags@valkey:9.0.0]|[LIB-NAME lib-name@valkey:9.0.0]|[LIB-VER lib-ver@valkey:9.0.0]|[DB "
          "db:integer@valkey:9.0.0]|[CAPA capa@valkey:9.0.0]|[IP ip@valkey:9.0.0]|[NOT-TYPE "
          "not-client-type(NORMAL|MASTER|PRIMARY|SLAVE|REPLICA|PUBSUB)@valkey:9.0.0]|[NOT-ID "
          "not-client-id:integer@valkey:9.0.0]|[NOT-USER not-username@valkey:9.0.0]|[NOT-ADDR "
          "not-addr@valkey:9.0.0]|[NOT-LADDR not-laddr@valkey:9.0.0]|[NOT-NAME not-name@valkey:9.0.0]|[NOT-FLAGS "
          "not-flags@valkey:9.0.0]|[NOT-LIB-NAME not-lib-name@valkey:9.0.0]|[NOT-LIB-VER "
          "not-lib-ver@valkey:9.0.0]|[NOT-DB not-db:integer@valkey:9.0.0]|[NOT-CAPA "
          "not-capa@valkey:9.0.0]|[NOT-IP not-ip@valkey:9.0.0])...)",
      .where = Where::kEverywhere,
      .summary = "Closes connections.",
      .since = "2.4.0",
      .complexity = "O(N) for N connections",
      .group = CommandGroup::kConnection,
      .flags = kAdmin | kNoScript | kLoading | kStale,
      .arity = -3};
  static void Run(Call& call) {
    if (call.args.Left() > 1)
      return call.reply.Integer(Kill(call, TakeClientSelection(call, ClientSelectingCommand::kKill)));
    ClientSelection by_address = ClientsFrom(call.args.Next());  // the old form; it may close the caller
    by_address.skips_caller = false;
    if (Kill(call, by_address) == 0) throw Refusal{refusals::kNoSuchClient};
    call.reply.Ok();
  }
};

struct ClientList {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLIENT|LIST [TYPE client-type(NORMAL|MASTER|REPLICA|PUBSUB)@5.0.0] [ID client-id:integer@6.2.0...] [USER "
          "username@valkey:8.1.0] [ADDR addr<ip:port>@valkey:8.1.0] [LADDR laddr<ip:port>@valkey:8.1.0] [SKIPME "
          "skipme(YES|NO)@valkey:8.1.0] [MAXAGE maxage:integer@valkey:8.1.0] [NAME name@valkey:9.0.0] [IDLE "
          "idle:integer@valkey:9.0.0] [FLAGS flags@valkey:9.0.0] [LIB-NAME lib-name@valkey:9.0.0] [LIB-VER "
          "lib-ver@valkey:9.0.0] [DB db:integer@valkey:9.0.0] [CAPA capa@valkey:9.0.0] [IP ip@valkey:9.0.0] [NOT-TYPE "
          "not-client-type(NORMAL|MASTER|REPLICA|PUBSUB)@valkey:9.0.0] [NOT-ID not-client-id:integer@valkey:9.0.0...] "
          "[NOT-USER not-username@valkey:9.0.0] [NOT-ADDR not-addr@valkey:9.0.0] [NOT-LADDR not-laddr@valkey:9.0.0] "
          "[NOT-NAME not-name@valkey:9.0.0] [NOT-FLAGS not-flags@valkey:9.0.0] [NOT-LIB-NAME "
          "not-lib-name@valkey:9.0.0] [NOT-LIB-VER not-lib-ver@valkey:9.0.0] [NOT-DB not-db:integer@valkey:9.0.0] "
          "[NOT-CAPA not-capa@valkey:9.0.0] [NOT-IP not-ip@valkey:9.0.0]",
      .where = Where::kEverywhere,
      .summary = "Describes all connections, or some.",
      .since = "2.4.0",
      .complexity = "O(N) for N connections",
      .group = CommandGroup::kConnection,
      .flags = kAdmin | kNoScript | kLoading | kStale,
      .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    if (!call.services.env.dialect.traits.client_list_combines_filters) CheckOnlyFilter(call.args.Rest());
    const ClientSelection filter = TakeClientSelection(call, ClientSelectingCommand::kList);
    std::string lines;
    filter.ForEachMatch(call.services.clients.registry, [&](const Session& session) {
      const bool is_skipped = &session == &call.session && filter.skips_caller.value_or(false);
      if (!is_skipped) lines += LineOf(call, session);
    });
    call.reply.Verbatim(lines, "txt");
  }

 private:
  // Throws a Refusal if CLIENT LIST has more than one option. Called for emulated versions in which it takes only one.
  // The option ID may have several numbers.
  static void CheckOnlyFilter(std::span<const Bytes> words) {
    if (words.size() <= 2) return;
    if (!EqualsIgnoreCase(words[0], "ID")) throw Refusal{refusals::kSyntax};
    for (const Bytes id : words.subspan(1)) {
      if (!ParseInteger(id)) throw Refusal{"ERR Invalid client ID"};
    }
  }
};

// Implements CLIENT MAINT_NOTIFICATIONS, which only managed services of Redis have, to announce maintenance to their
// clients. MOVING-ENDPOINT-TYPE is checked but has no effect, because TEST PUSH writes the whole announcement,
// including the endpoint.
struct ClientMaintNotifications {
  static constexpr CommandSpec spec = {.syntax =
                                           "CLIENT|MAINT_NOTIFICATIONS status(ON|OFF) [MOVING-ENDPOINT-TYPE "
                                           "type(INTERNAL-IP|INTERNAL-FQDN|EXTERNAL-IP|EXTERNAL-FQDN|NONE)]",
                                       .where = Where::kEverywhere,
                                       .summary = "Subscribes the connection to announcements of maintenance.",
                                       .required_directive = &Settings::test_maint_notifications,
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    const bool is_on = TakeSwitch(call.args) == Switch::kOn;
    if (is_on && call.args.TakeTokenWith("MOVING-ENDPOINT-TYPE", 1)) CheckEndpointType(call.args.Next());
    call.args.ExpectEnd();
    if (is_on && call.session.resp != RespVersion::kResp3) throw Refusal{refusals::kNotificationsNeedResp3};
    call.session.maint_notifications = is_on;
    call.reply.Ok();
  }

 private:
  static void CheckEndpointType(Bytes word) {
    constexpr std::array<Bytes, 5> kTypes = {"internal-ip", "internal-fqdn", "external-ip", "external-fqdn", "none"};
    const bool is_known = std::ranges::any_of(kTypes, [word](Bytes type) { return EqualsIgnoreCase(word, type); });
    if (!is_known) throw Refusal{refusals::kEndpointType};
  }
};

struct ClientNoEvict {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|NO-EVICT enabled(ON|OFF)",
                                       .where = Where::kEverywhere,
                                       .summary = "Protects the connection from eviction of clients.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kAdmin | kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    call.session.no_evict = TakeSwitch(call.args) == Switch::kOn;
    call.reply.Ok();
  }
};

struct ClientNoTouch {
  static constexpr CommandSpec spec = {
      .syntax = "CLIENT|NO-TOUCH enabled(ON|OFF)",
      .summary = "Lets the connection use keys without updating their LRU or LFU data.",
      .since = "7.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kConnection,
      .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    call.session.no_touch = TakeSwitch(call.args) == Switch::kOn;
    call.reply.Ok();
  }
};

struct ClientPause {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|PAUSE timeout:integer [mode(WRITE|ALL)@6.2.0]",
                                       .where = Where::kEverywhere,
                                       .summary = "Delays the commands of all clients for a time.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kAdmin | kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    ExpectAtMost(call, 2);
    Bytes timeout = call.args.Next();
    Pause::Scope scope = Pause::Scope::kAll;
    if (call.args.TakeToken("WRITE")) {
      scope = Pause::Scope::kWrites;
    } else if (!call.args.TakeToken("ALL") && !call.args.AtEnd()) {
      throw Refusal{refusals::kPauseMode};
    }
    int64_t timeout_ms = ParseTimeoutMs(call, timeout);
    const int64_t now_ms = call.services.env.clock.MonotonicMs();
    call.services.clients.pause.Start(scope, timeout_ms == 0 ? 0 : now_ms + timeout_ms, now_ms);
    call.reply.Ok();
  }
};

struct ClientReply {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|REPLY action(ON|OFF|SKIP)",
                                       .where = Where::kEverywhere,
                                       .summary = "Turns replies to the connection on or off, or skips the next one.",
                                       .since = "3.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    ReplyState& replies = call.session.replies;
    if (call.args.TakeToken("ON")) {
      replies.TurnOn();
      call.reply.Ok();
    } else if (call.args.TakeToken("OFF")) {
      replies.TurnOff();
    } else if (call.args.TakeToken("SKIP")) {
      replies.SkipNextReply();
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
};

struct ClientSetInfo {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|SETINFO attr(LIB-NAME libname|LIB-VER libver)",
                                       .where = Where::kEverywhere,
                                       .summary = "Sets the name or version of the client library.",
                                       .since = "7.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) {
    auto [attribute, value] = call.args.Take<Bytes, Bytes>();
    bool is_name = EqualsIgnoreCase(attribute, "lib-name");
    if (!is_name && !EqualsIgnoreCase(attribute, "lib-ver")) throw refusals::UnrecognizedOption(attribute);
    if (!IsValidClientAttribute(value)) throw refusals::ClientAttribute(attribute);
    (is_name ? call.session.identity.lib_name : call.session.identity.lib_version) = value;
    call.reply.Ok();
  }
};

struct ClientSetName {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|SETNAME connection-name",
                                       .where = Where::kEverywhere,
                                       .summary = "Names the connection.",
                                       .since = "2.6.9",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) {
    Bytes name = call.args.Next();
    CheckClientName(name);
    call.session.identity.name = name;
    call.reply.Ok();
  }
};

struct ClientUnblock {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|UNBLOCK client-id:integer [unblock-type(TIMEOUT|ERROR)]",
                                       .where = Where::kEverywhere,
                                       .summary = "Unblocks a blocked client.",
                                       .since = "5.0.0",
                                       .complexity = "O(log N) for N connections",
                                       .group = CommandGroup::kConnection,
                                       .flags = kAdmin | kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    ExpectAtMost(call, 2);
    Bytes word = call.args.Next();
    auto end = UnblockReason::kTimeout;
    if (call.args.TakeToken("ERROR")) {
      end = UnblockReason::kUnblocked;
    } else if (!call.args.TakeToken("TIMEOUT") && !call.args.AtEnd()) {
      throw Refusal{refusals::kUnblockReason};
    }
    Session* session = call.services.clients.registry.Find(static_cast<uint64_t>(Args::Integer(word)));
    const bool waits =
        session != nullptr && session->blocked_client != nullptr && session->blocked_client->can_be_unblocked;
    if (waits) call.services.clients.blocked.End(*session, end);
    call.reply.Integer(waits ? 1 : 0);
  }
};

struct ClientUnpause {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|UNPAUSE",
                                       .where = Where::kEverywhere,
                                       .summary = "Ends the pause that CLIENT PAUSE began.",
                                       .since = "6.2.0",
                                       .complexity = "O(N) for N clients that wait",
                                       .group = CommandGroup::kConnection,
                                       .flags = kAdmin | kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    call.services.clients.pause.End();
    call.reply.Ok();
  }
};

struct Client {
  static constexpr CommandSpec spec = {.syntax = "CLIENT",
                                       .where = Where::kEverywhere,
                                       .summary = "Contains the subcommands about connections.",
                                       .since = "2.4.0",
                                       .group = CommandGroup::kConnection,
                                       .arity = -2,
                                       .keeps_caching_choice = true};
};

constexpr auto kClientCommands =
    Family<Client, ClientCapa, ClientGetName, ClientHelp, ClientId, ClientImportSource, ClientInfo, ClientKill,
           ClientList, ClientMaintNotifications, ClientNoEvict, ClientNoTouch, ClientPause, ClientReply, ClientSetInfo,
           ClientSetName, ClientUnblock, ClientUnpause>();

}  // namespace

std::span<const CommandCard> ClientCommands() { return kClientCommands; }

}  // namespace respite
