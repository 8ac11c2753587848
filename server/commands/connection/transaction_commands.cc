// Transactions: MULTI, EXEC, DISCARD, WATCH, UNWATCH.
//
// Between MULTI and EXEC, the Executor queues commands instead of running them. EXEC runs all of them as one execution
// unit (class Unit), so no command of another client runs between them. Replicas and the append-only file get the
// changes of all these commands or of none.
#include "base/refusal.h"
#include "scripting/function_library.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/watched_keys.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/gate_rules.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNestedMulti[] = "ERR MULTI calls can not be nested";
constexpr char kExecWithoutMulti[] = "ERR EXEC without MULTI";
constexpr char kDiscardWithoutMulti[] = "ERR DISCARD without MULTI";
constexpr char kWatchInMulti[] = "ERR WATCH inside MULTI is not allowed";
constexpr char kExecBroken[] = "EXECABORT Transaction discarded because of previous errors.";

}  // namespace
}  // namespace refusals

namespace {

struct Multi {
  static constexpr CommandSpec spec = {.syntax = "MULTI",
                                       .summary = "Begins a transaction: commands are queued until EXEC.",
                                       .since = "1.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kTransactions,
                                       .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy,
                                       .transaction = TransactionRole::kBegins};
  static void Run(Call& call) {
    if (call.session.InTransaction()) throw Refusal{refusals::kNestedMulti};
    call.session.EnsureTransaction().Begin();
    call.reply.Ok();
  }
};

struct Exec {
  // Returns the flags of EXEC together with those of all commands that the transaction has queued.
  static uint32_t FlagsOf(const Services& services, const Session& session, std::span<const Bytes>, uint32_t flags) {
    return session.InTransaction() ? flags | session.transaction->Flags(services, session) : flags;
  }
  static constexpr CommandSpec spec = {.syntax = "EXEC",
                                       .summary = "Runs the commands queued since MULTI atomically.",
                                       .since = "1.2.0",
                                       .complexity = "Depends on the queued commands",
                                       .group = CommandGroup::kTransactions,
                                       .flags = kNoScript | kLoading | kStale | kSkipSlowlog,
                                       .transaction = TransactionRole::kExecutes,
                                       .flags_of = FlagsOf};
  static void Run(Call& call) {
    if (!call.session.InTransaction()) throw Refusal{refusals::kExecWithoutMulti};
    const Transaction& transaction = *call.session.transaction;
    const bool broken = transaction.HasRefusedCommand();
    const bool stale = transaction.HasWatchedKeyChanged() ||
                       call.services.clients.watched_keys.HasExpiredWatchedKey(call.session, call.now_ms);
    call.services.clients.watched_keys.Forget(
        call.session);  // the queued commands need not check the watches of this session
    if (!broken && !stale) {
      RunAll(call, transaction);
    } else if (!broken) {
      call.reply.NullArray();
    }
    EndTransaction(call.services.clients.watched_keys, call.session);
    if (broken) throw Refusal{refusals::kExecBroken};
  }

 private:
  // Replies with an error instead of running a queued command that the ACL rules no longer allow.
  static void Deny(Call& call, const Command& command, std::span<const Bytes> words, const std::string& text) {
    call.services.execution.executor.TellObserversOfNestedRefusal(call.session, &command, words, text);
    const size_t reply_start = call.session.out.Size();
    call.reply.Error(text);
    call.services.execution.executor.ApplyReplyModeInExec(call.session, reply_start);
  }
  static void RunAll(Call& call, const Transaction& transaction) {
    const size_t reply_start = call.session.out.Size();
    call.reply.Array(transaction.Size());
    call.services.execution.executor.ApplyReplyModeInExec(call.session, reply_start);
    call.effect.SuppressCommandItself();
    const FunctionLibraries::SharedLimit shared_limit(call.services.execution.function_libraries);
    // For each queued command, EXEC repeats only the check of permissions. The other checks were made when the command
    // was queued, and before EXEC, with the flags of all queued commands.
    static_assert(Applies(Gate::kPermissions, RequestPath::kQueued));
    transaction.ForEach([&](const Command& command, std::span<const Bytes> words) {
      if (call.services.env.phase.HasStopped()) return;  // SHUTDOWN NOSAVE during a slow script of this transaction
      // EXEC refuses a queued command if an earlier command of this transaction has deleted the session's user. The
      // session must then log in again.
      if (!call.session.authenticated && call.services.clients.users.IsLoginRequired()) {
        return Deny(call, command, words, refusals::kNotAuthenticated);
      }
      AclRequest request(command, words, {call.session.db, call.services.env.settings.DatabaseCount()});
      const auto verdict = call.services.clients.permissions.Check(call.session, request, AclLogEntry::Context::kMulti);
      if (!verdict.IsAllowed()) return Deny(call, command, words, DenialTextAtExec(verdict.denial));
      if (call.services.execution.executor.ApplyFaultInTransaction(call.session, command, words)) return;
      call.services.execution.executor.ExecuteNested(call.unit, call.session, command, words);
    });
  }
};

struct Discard {
  static constexpr CommandSpec spec = {.syntax = "DISCARD",
                                       .summary = "Discards the queued commands and unwatches all keys.",
                                       .since = "2.0.0",
                                       .complexity = "O(N), N being the number of queued commands",
                                       .group = CommandGroup::kTransactions,
                                       .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy,
                                       .transaction = TransactionRole::kLeaves};
  static void Run(Call& call) {
    if (!call.session.InTransaction()) throw Refusal{refusals::kDiscardWithoutMulti};
    EndTransaction(call.services.clients.watched_keys, call.session);
    call.reply.Ok();
  }
};

struct Watch {
  static constexpr CommandSpec spec = {.syntax = "WATCH key...",
                                       .summary = "Watches keys: the next EXEC fails if one of them changes.",
                                       .since = "2.2.0",
                                       .complexity = "O(1) for each key",
                                       .group = CommandGroup::kTransactions,
                                       .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy,
                                       .keys = {KeyRange(1, -1, 1, kKeyRO)},
                                       .transaction = TransactionRole::kImmediate};
  static void Run(Call& call) {
    if (call.session.InTransaction()) throw Refusal{refusals::kWatchInMulti};
    const bool lost_already = call.session.transaction != nullptr && call.session.transaction->HasWatchedKeyChanged();
    for (Bytes key : call.args.Rest()) {
      if (!lost_already) call.services.clients.watched_keys.Watch(call.session, key, call.now_ms);
    }
    call.reply.Ok();
  }
};

struct Unwatch {
  static constexpr CommandSpec spec = {.syntax = "UNWATCH",
                                       .summary = "Unwatches all keys.",
                                       .since = "2.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kTransactions,
                                       .flags = kNoScript | kLoading | kStale | kFast | kAllowBusy};
  static void Run(Call& call) {
    call.services.clients.watched_keys.Forget(call.session);
    if (call.session.transaction != nullptr) call.session.transaction->ForgetWatchedKeyChange();
    call.reply.Ok();
  }
};

constexpr auto kTransactionCommands = Family<Multi, Exec, Discard, Watch, Unwatch>();

}  // namespace

std::span<const CommandCard> TransactionCommands() { return kTransactionCommands; }

}  // namespace respite
