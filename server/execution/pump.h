// Pump: runs the requests that a session has sent.
//
// It parses the waiting requests in groups and has their data fetched into the cache before it executes them.
#pragma once

#include <cstdint>

#include "protocol/request_parser.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/current_execution.h"
#include "server/execution/prefetcher.h"

namespace respite {

class ClientLimits;
class ClientMemory;
class Clients;
class Executor;
class Keyspace;
class Logger;
struct ServerStats;
struct Session;
struct Settings;
class ServerPhase;
class Users;

class Pump {
 public:
  enum class Outcome : uint8_t {
    kIdle,     // everything that was there is done
    kMore,     // the session had its share of this Turn; call again in the next
    kPaused,   // held back by CLIENT PAUSE, or waits for a key
    kClosing,  // the session is finished, or will be when its output is sent
  };

  struct Parts {
    const Settings& settings;
    const Keyspace& keyspace;
    Logger& log;
    Clients& clients;
    ClientLimits& limits;
    ClientMemory& client_memory;
    Users& users;
    Executor& executor;
    const CurrentExecution& current_execution;
    const ServerPhase& phase;
    ServerStats& stats;
  };
  explicit Pump(const Parts& parts) : parts_(parts), prefetcher_({parts.keyspace, parts.executor}) {}

  // Executes the requests that are in session.in. Leaves the parser parked.
  Outcome Run(Session& session);

 private:
  static constexpr size_t kShareOfTurn = 1024;  // requests of one session per Turn
  // Pipelines of all sessions together may take so long in a Turn; then each session gets one more request, and the
  // rest waits for the next Turn: many clients with pipelines of slow commands hold up the others no longer than this.
  // The first request of each does not count, since it runs anyway.
  static constexpr int64_t kPipelinesUs = 4000;

  Outcome RunAll(Session& session);
  Outcome RunGroups(Session& session);
  Outcome RunGroup(Session& session);
  void MeasureBigArguments(Session& session);
  void QueueReplies(Session& session, bool caused_messages);
  Outcome RunPaused(Session& session);
  // The requests before `next` of the batch have run. Those of an open transaction do not count before its end, nor
  // does one that waits: after a break the primary sends them again. Nor does one that has failed, after which the link
  // ends.
  void NoteApplied(Session& session, size_t next);
  // What follows for the session from the way its request ended.
  static Outcome After(RequestRunner::Outcome outcome);
  RequestParser::Status ParseGroup(Session& session);
  void StartRun();
  void EndRun() { pipelines_us_ += ThisPipelineUs(); }
  int64_t ThisPipelineUs() const {
    return pipeline_began_us_ == kNoRequestYet ? 0 : parts_.current_execution.pace_us - pipeline_began_us_;
  }
  bool IsTurnUsedUp() const { return pipelines_us_ + ThisPipelineUs() >= kPipelinesUs; }
  void FailProtocol(Session& session);

  const Parts parts_;
  static constexpr int64_t kNoRequestYet = -1;
  uint64_t turn_ = UINT64_MAX;                 // none yet
  int64_t pipelines_us_ = 0;                   // what the finished ones took in this Turn
  int64_t pipeline_began_us_ = kNoRequestYet;  // when its first request was done
  RequestBatch batch_;
  Prefetcher prefetcher_;
};

}  // namespace respite
