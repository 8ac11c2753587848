// TEST PUSH: sends push messages of RESP3 to clients, including the messages with which servers announce maintenance.
#include <array>
#include <optional>
#include <string>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/request_filter.h"

namespace respite {

namespace {

constexpr char kNoPush[] =
    "ERR a message is MOVING, MIGRATING, MIGRATED, FAILING_OVER, FAILED_OVER, SMIGRATING or SMIGRATED with its values, "
    "or a whole push of RESP (>1\\r\\n+hello\\r\\n)";

// A kind of push message with which servers announce maintenance. Its arguments are a sequence number, seconds (if
// has_seconds), and a text, which is optional if may_lack_text is true.
struct Announcement {
  Bytes name;
  bool has_seconds;
  bool may_lack_text;
};
constexpr std::array kAnnouncements = {
    Announcement{"MOVING", true, true},        Announcement{"MIGRATING", true, false},
    Announcement{"MIGRATED", false, false},    Announcement{"FAILING_OVER", true, false},
    Announcement{"FAILED_OVER", false, false}, Announcement{"SMIGRATING", false, false}};

std::string BulkOf(Bytes text) { return StrCat("$", text.size(), "\r\n", text, "\r\n"); }

std::string NumberOf(Bytes word) {
  const auto number = ParseInteger(word);
  if (!number) throw Refusal{refusals::kNotInteger};
  return StrCat(":", *number, "\r\n");
}

std::string TakeAnnouncement(Args& args, const Announcement& kind) {
  std::string text = BulkOf(kind.name) + NumberOf(args.Next());
  if (kind.has_seconds) text += NumberOf(args.Next());
  text += args.AtEnd() && kind.may_lack_text ? "_\r\n" : BulkOf(args.Next());
  return (kind.has_seconds ? ">4\r\n" : ">3\r\n") + text;
}

// Returns the message SMIGRATED: a sequence number, and a list of moves, each an array of the source, the target and
// the slots as text. Throws a syntax error if there is no move, or an incomplete one.
std::string TakeSlotsMigrated(Args& args) {
  constexpr size_t kWordsOfMove = 3;
  std::string text = ">3\r\n" + BulkOf("SMIGRATED") + NumberOf(args.Next());
  const size_t moves = args.Left() / kWordsOfMove;
  if (moves == 0 || args.Left() % kWordsOfMove != 0) throw Refusal{refusals::kSyntax};
  text += StrCat("*", moves, "\r\n");
  while (!args.AtEnd()) {
    text += StrCat("*", kWordsOfMove, "\r\n");
    for (const Bytes word : args.NextMany(kWordsOfMove)) text += BulkOf(word);
  }
  return text;
}

std::string TakeMessage(Args& args) {
  const Bytes word = args.Next();
  if (EqualsIgnoreCase(word, "SMIGRATED")) return TakeSlotsMigrated(args);
  for (const Announcement& kind : kAnnouncements) {
    if (EqualsIgnoreCase(word, kind.name)) return TakeAnnouncement(args, kind);
  }
  if (!word.starts_with('>') || !word.ends_with("\r\n")) throw Refusal{kNoPush};
  return std::string(word);
}

struct TestPush {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|PUSH client:pattern [SUBSCRIBED] message(moving{MOVING number:integer seconds:integer "
      "[endpoint:string]}|migrating"
      "{MIGRATING number:integer seconds:integer shards:string}|migrated{MIGRATED number:integer shards:string}|"
      "failing-over{FAILING_OVER number:integer seconds:integer shards:string}|failed-over{FAILED_OVER number:integer "
      "shards:string}|smigrating{SMIGRATING number:integer slots:string}|smigrated{SMIGRATED number:integer "
      "data{source:string target:string slots:string}...}|resp:string)",
      "Sends a push message to clients that use RESP3.", Where::kEverywhere);
  static void Run(Call& call) {
    const Bytes client = call.args.Next();
    const auto id = ParseInteger(client);
    const TextPattern name(client);
    const bool is_everyone = client == "*";  // also clients without a name, which the pattern does not match
    const bool only_subscribed = call.args.TakeToken("SUBSCRIBED");  // only clients with CLIENT MAINT_NOTIFICATIONS ON
    const std::string message = TakeMessage(call.args);
    call.args.ExpectEnd();
    int64_t reached = 0;
    call.services.clients.registry.ForEach([&](Session& session) {
      const bool is_meant =
          id ? session.id == static_cast<uint64_t>(*id) : is_everyone || name.Matches(session.identity.name);
      const bool hears = session.resp == RespVersion::kResp3 && !session.closing && session.transport != nullptr;
      if (only_subscribed && !session.maint_notifications) return;
      if (!is_meant || !hears || session.kind == SessionKind::kReplica) return;
      call.services.clients.messages.Push(session, message);
      ++reached;
    });
    call.reply.Integer(reached);
  }
};

constexpr auto kTestPushCommands = Family<TestPush>();

}  // namespace

std::span<const CommandCard> TestPushCommands() { return kTestPushCommands; }

}  // namespace respite
