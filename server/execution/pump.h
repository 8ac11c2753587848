// Pump: runs the requests that a session has sent.
//
// It parses waiting requests in groups, and prefetches their data into the cache before it executes them.
#pragma once

#include <cstdint>

#include "protocol/request_parser.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/current_execution.h"
#include "server/execution/prefetcher.h"
#include "server/runtime/env.h"

namespace respite {

class ClientLimits;
class ClientMemory;
class Clients;
class Executor;
class Keyspace;
struct Services;
struct Session;
class Users;

class Pump {
 public:
  enum class Outcome : uint8_t {
    kIdle,     // all input has been processed
    kMore,     // the session used its share of this Turn; call again in the next
    kPaused,   // paused by CLIENT PAUSE, or blocked
    kClosing,  // the session is closed, or closes when its output has been sent
  };

  explicit Pump(const Services& services);

  // Executes the requests in session.in. The parser then keeps the rest of the input by itself.
  Outcome Run(Session& session);

 private:
  struct Parts {
    const Env& env;
    const Keyspace& keyspace;
    Clients& clients;
    ClientLimits& limits;
    ClientMemory& client_memory;
    Users& users;
    Executor& executor;
    const CurrentExecution& current_execution;
  };

  static constexpr size_t kShareOfTurn = 1024;  // requests of one session per Turn
  // Time limit for the pipelines of all sessions in one Turn. When it is used up, each session runs one more request
  // and the rest waits for the next Turn. So pipelines of slow commands do not delay other clients for longer. The
  // first request of each session does not count, because it always runs.
  static constexpr int64_t kPipelinesUs = 4000;

  Outcome RunAll(Session& session);
  Outcome RunGroups(Session& session);
  Outcome RunGroup(Session& session);
  void MeasureBigArguments(Session& session);
  void QueueReplies(Session& session, bool caused_messages);
  Outcome RunPaused(Session& session);
  // Notes the requests before `next` of the batch as applied. Requests of an open transaction and a request that waits
  // are not applied yet: after a disconnection the primary sends them again. A request that closes the link by failing
  // is not applied either.
  void NoteApplied(Session& session, size_t next);
  // Returns the outcome for the session: kIdle if the request is done, kMore if it is unfinished, and kPaused if it is
  // paused or blocked.
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
  int64_t pipelines_us_ = 0;                   // time of the finished pipelines in this Turn
  int64_t pipeline_began_us_ = kNoRequestYet;  // when its first request ended
  RequestBatch batch_;
  Prefetcher prefetcher_;
};

}  // namespace respite
