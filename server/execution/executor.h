// Executor: runs a request, from its arguments to the written reply. ExecuteForClient, ExecuteAccepted and RunToEnd are
// the way of a request, from top to bottom. No code here depends on a command's name; special
// properties of a command are in its card (CommandSpec).
//
// A command inside a transaction is queued, and later runs through ExecuteWithin, as do the commands of a script.
// CallObservers are notified of every call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/lap_timer.h"
#include "base/late_bound.h"
#include "base/refusal.h"
#include "base/result.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/session.h"
#include "server/clients/waiting_requests.h"
#include "server/execution/call.h"
#include "server/execution/call_observer.h"
#include "server/execution/gate_rules.h"
#include "server/execution/reply_editor.h"
#include "server/execution/request.h"
#include "server/execution/request_faults.h"
#include "server/execution/slot_router.h"
#include "server/execution/stats_recorder.h"
#include "server/runtime/env.h"

namespace respite {

class ClientMemory;
class Clients;
struct Dataset;
class Durability;
class Eviction;
class Gates;
class ClientFaults;
class HttpGuard;
class MigratingKeys;
class Pause;
struct CurrentExecution;
struct Role;
struct Services;
class Tracking;
class BlockedClients;
class WatchedKeys;

class Executor final : public RequestRunner {
 public:
  struct Parts {
    const Env& env;
    const Services& services;  // for handlers
    CurrentExecution& current_execution;
    HttpGuard& http_guard;
    const Gates& gates;
    Dataset& data;
    Eviction& eviction;
    Clients& clients;
    ClientMemory& client_memory;
    Tracking& tracking;
    BlockedClients& blocked_clients;
    WatchedKeys& watched_keys;
    Pause& pause;
    MigratingKeys& migrating_keys;
    ClientFaults& client_faults;
    const RequestFaultsPort& faults;
    const LateBound<ReplyEditor>& reply_editor;
    const LateBound<const Durability>& durability;
    const Role& role;
    StatsRecorder& stats_recorder;
    CallObservers& observers;
  };
  explicit Executor(const Parts& parts)
      : parts_(parts), current_execution_(parts.current_execution), lap_(parts.env.pace) {}

  // Reads the clocks again. Called before a series of requests.
  void StartRun() override;
  // Returns the command or subcommand that the arguments name, or null.
  const Command* Resolve(std::span<const Bytes> words) const;
  // Runs a request and writes its reply to session.out.
  Outcome Execute(Request& request);
  Outcome RunAgain(Session& session, const Command& command, std::span<const Bytes> words,
                   Progress::Stage stage) override {
    Request request{.session = session, .command = &command, .words = words, .progress = {.stage = stage}};
    return Execute(request);
  }

  // Runs one command of a transaction or a script, in the Unit of the enclosing command. Appends its reply; a refusal
  // is written as an error reply.
  void ExecuteWithin(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words);
  // Fixes the output so far of a command that runs others (EXEC): it is sent even if a later command turns replies off.
  // If replies are off already, removes the output instead.
  void SettleReply(Session& session, size_t reply_start);
  // Fixes the output so far of the running command, because it consists of messages. Redis: CLIENT REPLY does not
  // suppress the messages that SUBSCRIBE and similar commands reply with.
  void KeepMessages(const Session& session) {
    if (!session.IsScript()) settled_size_ = session.out.Size();
  }
  // Runs a command of a file that is being loaded. It passes the gates of `path` (kFile or kFixture), is not counted
  // and cannot block; its reply is dropped. Fails with the error that a client would get. Requires: the Unit repeats a
  // record.
  Result<Done> Replay(RequestPath path, Unit& unit, Session& session, const Command& command,
                      std::span<const Bytes> words);
  // Reports a refused command of the running transaction or script; the caller writes the reply. `command` is null if
  // there is no such command.
  void RefuseWithin(Session& session, const Command* command, std::span<const Bytes> words, Bytes error);
  // Applies a fault of TEST FAULT to a command of a transaction. Faults of the connection apply to the reply of the
  // whole request. Returns true if the reply was written and the command must not run.
  bool AnswersWithFault(Session& session, const Command& command, std::span<const Bytes> words);
  // Applies a fault of TEST FAULT to a command of `caller`'s script in database `db`. Throws a fault of kind kError.
  void ApplyFaultInScript(Session& caller, int db, const Command& command, std::span<const Bytes> words);
  // Writes the reply to a request whose wait ended without running it again.
  void ReplyUnblocked(const BlockedClient& blocked, UnblockReason end) override;
  // State of the running command, saved by SaveExecution until RestoreExecution. While a script lets other clients be
  // served, the Executor behaves as if no command were running.
  struct SavedExecution {
    const Command* command;
    const Session* session;
    std::span<const Bytes> words;
    int depth;
    size_t settled_size;
  };
  SavedExecution SaveExecution();
  void RestoreExecution(const SavedExecution& saved);

  // Returns the time for TIME: when the running Unit began, or when other clients were last served during it.
  int64_t UnitWallUs() const { return unit_wall_us_; }
  // Moves the clock of TIME forward in a script that is busy (busy-reply-threshold). Redis: the clock for expiry stands
  // still, so that keys that had not expired at the start of the script do not expire before its end.
  void LetTimePass();

 private:
  Outcome ExecuteForClient(Request& request);
  // Runs a request of the primary's stream: it passes only the gates of kPrimary, and CLIENT PAUSE pauses it.
  Outcome ExecuteForPrimary(Request& request);
  // Runs a request that has passed the gates.
  Outcome ExecuteAccepted(Request& request);
  Outcome RunToEnd(Request& request);

  // Enforces the limits of the tracking table, of the clients' memory and of all memory.
  void EnforceLimits(Session& session);
  void PassGates(Request& request);
  // IsPaused, IsToQueue and IsOfMigratingKeys return whether the request must wait: for the end of CLIENT PAUSE, for
  // EXEC, or for a MIGRATE of its keys.
  bool IsPaused(const Request& request) const;
  static bool IsToQueue(const Request& request);
  bool IsOfMigratingKeys(const Request& request) const;
  Outcome PauseForClients(const Request& request);
  Outcome Queue(const Request& request);
  Outcome PauseForMigration(const Request& request);
  void Run(Request& request);
  // Block returns the outcome of a request whose client is blocked. ContinueLater returns the outcome of a request that
  // needs more than one Turn.
  Outcome Block(const Request& request);
  Outcome ContinueLater(const Request& request);
  void EndRequest(const Request& request);

  // Reads the time at the end of one command, which is the start of the next.
  void ReadTime();
  void TakeTime(int64_t pace_us);
  // Applies the fault that matches the request, if any. Returns the outcome if the request must not run now.
  std::optional<Outcome> ApplyFault(const Request& request);
  // Writes these bytes as the reply instead of running the request.
  void AnswerInstead(const Request& request, Bytes reply);
  // Ends a reply: removes it if the client wants none (CLIENT REPLY), and applies a fault to it. The output before
  // `settled` is sent in any case.
  void FinishReply(Session& session, size_t reply_start, size_t settled = 0);
  // EndFaultyReply reports that the request has written its reply, and PauseFaultyReply that it has written part of it.
  // Requires: session.fault_state exists.
  void EndFaultyReply(Session& session, size_t reply_start);
  void PauseFaultyReply(Session& session, size_t reply_start);
  // Stores the request for a later Turn.
  void PauseRequest(Session& session, std::span<const Bytes> words, Progress progress);
  void Reject(const Request& request, const Refusal& refusal);
  // Returns the command of a replicated or imported request by its original name, or null.
  const Command* FindForRecord(std::span<const Bytes> words) const;
  Refusal UnknownCommand(std::span<const Bytes> words) const;
  void RunHandler(Request& request);
  // Returns the error for a client whose wait ended because this server has become a replica.
  std::string UnblockByRole(Session& session) const;
  ExpiryRule RuleFor(const Session& session) const;
  void RunHandlerIn(Unit& unit, Request& request);
  void Record(Call& call, const Request& request);
  // Remembers the keys that the session has read, for client-side caching.
  void NoteReads(const Request& request);
  void SendDeferredPushes(Session& session);
  // Returns the handler's error, if it refused the command.
  Bytes ErrorOf(const Request& request) const {
    return request.ending == FinishedCall::Ending::kFailed ? Bytes(last_error_) : Bytes();
  }
  // Returns the bytes that the reply has added to the output, except those already sent.
  static size_t BytesSince(const Session& session, size_t reply_start) {
    return session.out.Size() - std::min(session.out.Size(), reply_start);
  }
  // Closes a replica that would get a reply, as Redis does, because the reply would corrupt its stream. `error` is the
  // reply if it is an error, else empty.
  void CloseReplicaThatGotReply(Session& session, const Command* command, Bytes error, size_t reply_start);
  void Tell(const FinishedCall& call);
  void Tell(const RefusedCall& call);
  // CLIENT REPLY: removes a reply that the client does not want. Requires: the mode is not kOn.
  void ApplyReplyMode(Session& session, size_t reply_start);

  const Parts parts_;
  CurrentExecution& current_execution_;
  LapTimer lap_;
  int64_t unit_wall_us_ = 0;
  size_t settled_size_ = 0;  // this many bytes of the running command's output are kept; see SettleReply, KeepMessages
  std::string last_error_;   // of the last command that a handler refused
};

// Statistics are always recorded, so the recorder is called directly.
inline void Executor::Tell(const FinishedCall& call) {
  parts_.stats_recorder.OnCall(call);
  parts_.observers.OnCall(call);
  call.session.redacted_words.clear();
}

}  // namespace respite
