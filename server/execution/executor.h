// Executor: takes a request from "words" to "reply written": finds the command, asks the gates, opens a Unit, runs the
// handler, turns a refusal into an error reply, and keeps the books (INFO commandstats, SLOWLOG, LATENCY, MONITOR). A
// command inside a transaction is queued instead, and comes back through ExecuteWithin, as do the commands of a script.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/refusal.h"
#include "base/result.h"
#include "server/clients/held_request.h"
#include "server/clients/session.h"
#include "server/clients/waiting.h"
#include "server/execution/call.h"

namespace respite {

class Durability;
class ClientLimits;
class ClientMemory;
class Clients;
class Clock;
class CommandTable;
class Gates;
class Pace;
struct Running;
struct Services;
struct Dataset;
class Eviction;
class LatencyMonitor;
class Logger;
class Pause;
class ScriptRunner;
struct ServerStats;
struct Settings;
class SlowLog;
class Tracking;
class Waiting;
class WatchedKeys;

class Executor final : public RequestRunner {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    const Services& services;  // for handlers
    Running& running;
    const Gates& gates;
    Dataset& data;
    Eviction& eviction;
    Clients& clients;
    ClientLimits& limits;
    ClientMemory& client_memory;
    Tracking& tracking;
    Waiting& waiting;
    WatchedKeys& watched_keys;
    Pause& pause;
    CommandTable& commands;
    ScriptRunner& scripts;
    const Durability& durability;
    ServerStats& stats;
    SlowLog& slowlog;
    LatencyMonitor& latency;
  };
  explicit Executor(const Parts& parts) : parts_(parts), running_(parts.running) {}

  // Reads the clocks anew; called before a run of requests.
  void StartRun() override;
  // The command that the words name, with its subcommand; null when there is none (or none of that name).
  const Command* Resolve(std::span<const Bytes> words) const;
  struct Request {
    const Command* command;  // Resolve(words)
    std::span<const Bytes> words;
    std::span<const BlobRef> blobs = {};  // own the big arguments
    HashedText key = {};                  // the first key, if its hash is known
    Progress progress = {};
  };
  // The reply is in session.out.
  Outcome Execute(Session& session, const Request& request);
  Outcome RunAgain(Session& session, const Command& command, std::span<const Bytes> words) override {
    return Execute(session, {.command = &command, .words = words, .progress = {.stage = Progress::Stage::kAgain}});
  }

  // One command of a transaction or a script, in the Unit of the command that runs it. Its reply stands behind what is
  // there; a refusal is part of it.
  void ExecuteWithin(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words);
  // For a command that runs others (EXEC): what it has written is sent, whatever they say of replies. Takes it back at
  // once where none is wanted.
  void SettleReply(Session& session, size_t reply_start);
  // What the running command has written so far is sent, since it is messages. Redis: CLIENT REPLY does not silence
  // those with which SUBSCRIBE and its kin answer.
  void KeepMessages(const Session& session) {
    if (!session.IsScript()) settled_size_ = session.out.Size();
  }
  // A command of a file that is loaded: no gate keeps it out, nobody counts it, and its reply is dropped. Nothing in it
  // can wait. Fails with the error that a client would get. Requires: the Unit repeats a record.
  Result<Done> Replay(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words);
  // A command that was not let in: counts it and its error, as for a client.
  void CountRejected(const Command* command, Bytes error);
  // Tells monitors of the running command before it does anything. Requires: its card has kSkipMonitor.
  void ShowToMonitors(Session& session);
  // Answers a request whose wait ended without it running again.
  void AnswerWaiter(const Waiter& waiter, WaitEnd end) override;
  // False where a command has to answer at once though it has nothing: inside a transaction or a script.
  bool MayWait() const { return depth_ == 0; }

  // While a script lets others run, they have an Executor as if nothing ran: what is running stands aside until
  // GoOn(it).
  struct Aside {
    const Command* command;
    const Session* session;
    std::span<const Bytes> words;
    int depth;
    size_t settled_size;
  };
  Aside StandAside();
  void GoOn(const Aside& aside);

  // What TIME tells: when the Unit that is running began, or when others were served besides it last.
  int64_t UnitWallUs() const { return unit_wall_us_; }
  // Redis: a script that lets others be served sees TIME go on, and nothing else of it: what has not expired when it
  // began does not expire before its end.
  void LetTimePass();

 private:
  // Takes the time anew: one command has ended, the next begins.
  void ReadTime();

  struct Run {
    Session& session;
    const Command& command;
    std::span<const Bytes> words;
    std::span<const BlobRef> blobs = {};
    HashedText key = {};
    Progress progress = {};
  };
  // Requires: the request names a command.
  static Run RunOf(Session& session, const Request& request) {
    return {session, *request.command, request.words, request.blobs, request.key, request.progress};
  }
  // How a handler ended.
  enum class Ending : uint8_t { kSucceeded, kFailed, kUnfinished };

  // Past the gates.
  Outcome Perform(const Run& run);
  // Keeps the request for a later Turn.
  void Hold(Session& session, std::span<const Bytes> words, Progress progress);
  void Reject(Session& session, const Command* command, const Refusal& refusal);
  // What is wrong with words that name no command.
  Refusal UnknownCommand(std::span<const Bytes> words) const;
  Ending RunHandler(const Run& run);
  Ending RunHandlerIn(Unit& unit, const Run& run);
  void Record(Call& call, const Run& run);
  // For client-side caching: what the session has read.
  void NoteReads(const Run& run);
  void Queue(Session& session, const Command& command, std::span<const Bytes> words, uint32_t flags);
  void SendDeferredPushes(Session& session);
  void KeepBooks(const Run& run, int64_t started_us, Ending ending);
  // Tells SLOWLOG and MONITOR.
  void Publish(const Run& run, int64_t duration_us);
  void FeedMonitors(const Run& run);
  void ShowRun(const Run& run);
  std::string MonitoredPeer(const Session& session) const;
  // What may be shown of the words.
  static std::vector<Bytes> ShownWords(const Run& run);
  // CLIENT REPLY: takes back a reply that is not wanted. Requires: the mode is not kOn.
  void ApplyReplyMode(Session& session, size_t reply_start);
  // A POST or Host: line comes from a browser that was tricked into talking to us.
  void AbortAttack(Session& session);

  const Parts parts_;
  Running& running_;
  int64_t unit_wall_us_ = 0;
  size_t settled_size_ = 0;        // so much of the running command's output stays; see SettleReply, KeepMessages
  int depth_ = 0;                  // of commands within commands
  int64_t attack_logged_ms_ = -1;  // of the Pace; -1: never
};

}  // namespace respite
