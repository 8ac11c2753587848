// Executor: runs a request, from its arguments to the written reply. ExecuteForClient, ExecuteAccepted and RunToEnd
// show the steps of a request in order. No code here depends on a command's name; special properties of a command are
// in its card (CommandSpec).
//
// A command inside a transaction is queued, and later runs through ExecuteNested, as do the commands of a script.
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

class Executor final : public RequestRunner {  // runs requests, from the arguments to the reply
 public:
  struct Parts {  // the objects that Executor uses; its constructor gets them
    const Env& env;
    const Services& services;             // passed to command handlers
    CurrentExecution& current_execution;  // the command that runs now
    HttpGuard& http_guard;                // closes connections of browsers
    const Gates& gates;                   // refuse commands before they run
    Dataset& data;
    Eviction& eviction;                             // frees memory above maxmemory
    Clients& clients;                               // all sessions
    ClientMemory& client_memory;                    // maxmemory-clients
    Tracking& tracking;                             // client-side caching
    BlockedClients& blocked_clients;                // clients in BLPOP, WAIT …
    WatchedKeys& watched_keys;                      // keys of WATCH
    Pause& pause;                                   // CLIENT PAUSE
    MigratingKeys& migrating_keys;                  // keys that MIGRATE is sending
    ClientFaults& client_faults;                    // TEST FAULT
    const RequestFaultSources& faults;              // attached by TEST FAULT
    const LateBound<ReplyEditor>& reply_editor;     // changes replies on purpose (TEST SHUFFLE)
    const LateBound<const Durability>& durability;  // says whether writes can be persisted
    const Role& role;
    StatsRecorder& stats_recorder;  // counts commands for INFO
    CallObservers& observers;       // are told of commands
  };
  explicit Executor(const Parts& parts)
      : parts_(parts), current_execution_(parts.current_execution), lap_(parts.env.pace) {}

  void ReadClocks() override;  // updates the cached times, before a series of requests
  const Command* Resolve(std::span<const Bytes> arguments) const;  // finds the command or subcommand; null: none
  Outcome Execute(Request& request);                          // runs the request and writes the reply to session.out
  Outcome RunAgain(Session& session, const Command& command,  // runs the request of a blocked client again
                   std::span<const Bytes> arguments, Progress::Stage stage) override {
    Request request{.session = session, .command = &command, .words = arguments, .progress = {.stage = stage}};
    return Execute(request);
  }

  // Runs one command of a transaction or a script, in the Unit of the enclosing command. Appends its reply; a refusal
  // is written as an error reply.
  void ExecuteNested(Unit& unit, Session& session, const Command& command,  // runs a command of EXEC or a script
                     std::span<const Bytes> arguments);
  // Keeps the output so far of a command that runs others (EXEC), so that this output is sent even if a later command
  // turns replies off. If replies are off already, removes the output instead.
  void KeepOutputSoFar(Session& session, size_t reply_start);  // sends it in any case; drops it if replies are off
  // Keeps the output so far, which consists of messages, whatever CLIENT REPLY says. As in Redis, CLIENT REPLY does not
  // suppress the messages with which SUBSCRIBE and similar commands reply.
  void KeepMessages(const Session& session) {  // sends the messages so far, whatever CLIENT REPLY says
    if (!session.IsScript()) kept_output_bytes_ = session.out.Size();
  }
  // Runs a command of a file that is being loaded. The command passes the gates of `path` (kFile or kFixture), is not
  // counted and cannot block; its reply is dropped. Fails with the error that a client would get. Requires: `unit`
  // replays commands (Unit::Origin::kRecord).
  Result<Done> Replay(RequestPath path, Unit& unit, Session& session,  // runs a command of a file; fails with its error
                      const Command& command, std::span<const Bytes> arguments);
  // Reports a refused command of the running transaction or script; the caller writes the reply. `command` is null if
  // there is no such command.
  void ReportNestedRefusal(Session& session, const Command* command,  // tells the observers; writes no reply
                           std::span<const Bytes> arguments, Bytes error);
  // Applies a fault of TEST FAULT to a command of a transaction. A fault of the connection applies to the reply of the
  // whole request. Returns true if a reply was written instead, so that the command must not run.
  bool ApplyFaultInTransaction(Session& session, const Command& command,  // TEST FAULT; true: replied, do not run it
                               std::span<const Bytes> arguments);
  // Applies a fault of TEST FAULT to a command of `caller`'s script in database `db`. A fault of kind kError is thrown
  // as a Refusal.
  void ApplyFaultInScript(Session& caller, int db, const Command& command,  // TEST FAULT; may throw
                          std::span<const Bytes> arguments);
  // Writes the reply to a request whose wait ended without running it again.
  void ReplyToEndedWait(const BlockedClient& blocked, UnblockReason reason) override;  // without running it
  // The state of a slow script's command while the script lets other clients be served. Meanwhile the Executor behaves
  // as if no command were running.
  struct SavedExecution {          // the running command, while other clients are served or a file is replayed
    const Command* command;        // null: no command was running
    const Session* session;        // its session
    std::span<const Bytes> words;  // arguments, with the command's name
    int depth;                     // nesting of commands: 0 outside EXEC and scripts
    size_t kept_output_bytes;      // how much of its output is always sent
  };
  SavedExecution SaveExecution();                      // takes the running command away, until RestoreExecution
  void RestoreExecution(const SavedExecution& saved);  // makes it the running command again

  // Returns the time that TIME shows: when the running Unit began, or when AdvanceUnitWallTime was last called in it.
  int64_t UnitWallUs() const { return unit_wall_us_; }  // Unix time in µs, for TIME
  // Advances the clock of TIME while a script is busy (busy-reply-threshold). As in Redis, the clock for expiry stands
  // still during a script. So keys that had not expired at its start do not expire before its end.
  void AdvanceUnitWallTime();  // sets UnitWallUs to the current time

 private:
  Outcome ExecuteForClient(Request& request);  // passes the limits and gates, and runs the command
  // Executes a request in the stream of the primary. Such a request passes only the gates of kPrimary, and CLIENT PAUSE
  // pauses it.
  Outcome ExecuteForPrimary(Request& request);  // runs a request in the stream of the primary
  Outcome ExecuteAccepted(Request& request);    // runs a request that has passed the gates
  Outcome RunToEnd(Request& request);           // runs the request and, unless it waits, finishes the reply

  void EnforceLimits(Session& session);           // limits the tracking table, the clients' memory and all memory
  void PassGates(Request& request);               // throws the refusal of the first gate that refuses
  bool IsPaused(const Request& request) const;    // CLIENT PAUSE pauses the request
  static bool MustQueue(const Request& request);  // its transaction queues the request until EXEC
  bool MustWaitForMigration(const Request& request) const;  // MIGRATE is sending one of its keys
  Outcome PauseForClientPause(const Request& request);      // stores the request until CLIENT PAUSE ends
  Outcome Queue(const Request& request);                    // queues the command until EXEC
  Outcome PauseForMigration(const Request& request);        // stores the request until MIGRATE has sent its keys
  void Run(Request& request);                               // calls the handler of its command
  Outcome Block(const Request& request);                    // the handler has blocked the client: tells the observers
  Outcome ContinueLater(const Request& request);  // pauses a request whose handler runs again in the next Turn
  void EndRequest(const Request& request);        // finishes the reply, and tells the observers

  void ReadTime();                                            // updates the cached monotonic time
  void SetCurrentTime(int64_t pace_us);                       // sets the cached time
  std::optional<Outcome> ApplyFault(const Request& request);  // applies TEST FAULT; nullopt: run the request
  void AnswerInstead(const Request& request, Bytes reply);    // sends this RESP reply instead
  // Completes the reply: removes it if the client wants none (CLIENT REPLY), and applies a fault to it. The output
  // before `kept_bytes` is sent in any case.
  void FinishReply(Session& session, size_t reply_start, size_t kept_bytes = 0);  // applies CLIENT REPLY and faults
  void EndFaultyReply(Session& session, size_t reply_start);                      // applies a fault to a complete reply
  void PauseFaultyReply(Session& session, size_t reply_start);  // a reply with a fault continues later: holds it back
  // Stores the request for a later Turn.
  void PauseRequest(Session& session, std::span<const Bytes> arguments, Progress progress);  // for a later Turn
  void Reject(const Request& request, const Refusal& refusal);                               // replies with the refusal
  const Command* FindReplicatedCommand(std::span<const Bytes> arguments) const;  // null: unknown or not allowed
  Refusal UnknownCommand(std::span<const Bytes> arguments) const;                // the error: no such command
  void RunHandler(Request& request);  // opens a Unit and runs the handler in it
  // Returns the error for a blocked session whose wait ends because this server has become a replica. The session
  // closes after the error, unless the error redirects the client.
  std::string EndWaitByRoleChange(Session& session) const;  // the error to reply with
  ExpiryRule ExpiryRuleFor(const Session& session) const;   // whether the session sees expired keys
  void RunHandlerIn(Unit& unit, Request& request);          // runs the handler as part of the Unit
  void Record(Call& call, const Request& request);          // records the command for replicas and the append-only file
  void TrackReads(const Request& request);       // notes the keys that the client has read, for client-side caching
  void SendDeferredPushes(Session& session);     // sends the pushes that waited for the end of the reply
  Bytes ErrorOf(const Request& request) const {  // the error; empty: it succeeded, or the reply has it
    return request.ending == FinishedCall::Ending::kFailed ? Bytes(last_error_) : Bytes();
  }
  static size_t ReplyBytesSince(const Session& session, size_t reply_start) {  // bytes of out from there
    return session.out.Size() - std::min(session.out.Size(), reply_start);
  }
  // Closes a replica that would get a reply, as Redis does, because the reply would corrupt its stream. `error` is the
  // reply if it is an error, else empty.
  void CloseReplicaThatGotReply(Session& session, const Command* command, Bytes error,  // closes it if it got a reply
                                size_t reply_start);
  void Tell(const FinishedCall& call);  // tells the observers
  void Tell(const RefusedCall& call);   // tells the observers
  // Drops the reply as CLIENT REPLY requires. Requires: the mode is not kOn.
  void ApplyReplyMode(Session& session, size_t reply_start);  // drops a reply that the client does not want

  const Parts parts_;                                 // the objects that the constructor got
  CurrentExecution& current_execution_;               // the command that runs now; only the Executor changes it
  LapTimer lap_;                                      // reads the clock of Pace at low cost
  int64_t unit_wall_us_ = 0;                          // Unix time of the running Unit, for TIME
  size_t kept_output_bytes_ = 0;                      // this part of the running command's output is always sent
  static constexpr size_t kMaxKeptErrorBytes = 1024;  // of last_error_, after the observers were told
  std::string last_error_;                            // the error of the last command that a handler refused
};

// Tells the recorder of statistics and the observers. The recorder gets every call, so it is called directly and not as
// an observer.
inline void Executor::Tell(const FinishedCall& call) {
  parts_.stats_recorder.OnCall(call);
  parts_.observers.OnCall(call);
  call.session.redacted_arguments.clear();
  if (!call.error.empty()) [[unlikely]]
    FreeIfLarge(last_error_, kMaxKeptErrorBytes);
}

}  // namespace respite
