// Pump: runs the requests that a session has sent.
//
// Pump parses waiting requests in groups, and prefetches their data into the CPU cache before the requests run.
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
struct Request;
struct Services;
struct Session;
class Users;

class Pump {  // runs the requests that a session has sent
 public:
  enum class Outcome : uint8_t {  // why Run has ended
    kIdle,                        // no complete request is left in the input
    kMore,                        // the session used its share of this Turn; call again in the next
    kPaused,                      // a request is blocked or delayed (CLIENT PAUSE, MIGRATE, TEST FAULT)
    kClosing,                     // the session is closed, or closes when its output has been sent
  };

  explicit Pump(const Services& services);

  // Runs the requests in session.in. The parser copies the input that was not processed, so the caller need not keep
  // the input. `received`: how many bytes of the input have arrived just now, for the statistics of the client.
  Outcome Run(Session& session, size_t received = 0);  // runs the requests in the session's input
  void StartTurnInLongTask() { used_turn_us_ = 0; }    // inside a long task: clients are served again, as in a new Turn

 private:
  struct Parts {  // the objects that Pump uses; its constructor gets them
    const Env& env;
    const Keyspace& keyspace;                   // all databases
    Clients& clients;                           // all sessions
    ClientLimits& limits;                       // closes clients that exceed client-output-buffer-limit
    ClientMemory& client_memory;                // enforces maxmemory-clients
    Users& users;                               // all ACL users
    Executor& executor;                         // runs requests
    const CurrentExecution& current_execution;  // the command that runs now
  };

  static constexpr size_t kMaxRequestsPerTurn = 1024;  // about how many requests a session may run per loop iteration
  // Time limits in µs in one Turn (iteration of the event loop), for all pipelines of this Pump together and for one of
  // them. When a limit is reached, the running pipeline waits for the next Turn. Once kMaxUsForAllPipelines are used
  // up, each later session runs only its first request. So pipelines of slow commands, or of hundreds of requests, do
  // not delay other clients for long. Both limits also hold for the stream from a primary. The time of each session's
  // first request does not count, because this request always runs.
  static constexpr int64_t kMaxUsForAllPipelines = 4000;  // how long all pipelines may run in one Turn
  static constexpr int64_t kMaxUsForOnePipeline = 500;    // how long one pipeline may run in one Turn

  Outcome RunWithinShare(Session& session);  // runs requests until the input or this session's time is used up
  Outcome RunGroups(Session& session);       // parses and runs requests in groups, to prefetch their data
  Outcome RunGroup(Session& session);        // runs the requests of batch_
  void MeasureBatchBlobs(Session& session);  // counts the large arguments of batch_ as client memory
  void QueueReplies(Session& session, bool caused_messages);  // queues the session's replies for sending
  Outcome RunPaused(Session& session);  // runs the request that was set aside (paused, delayed or half done), if any
  // Called only on a replica, for its primary's session. Counts the first `next` requests of the batch as applied:
  // session.unapplied_bytes becomes the number of bytes after them, so that the replication offset covers only these
  // requests. After a disconnection, the primary sends the rest again. Does nothing while a transaction is open, while
  // a request is blocked or paused, or if a failure closes the link.
  void NoteApplied(Session& session, size_t next);  // replica: counts requests of batch_ before `next` as applied
  static Outcome PumpOutcomeOf(RequestRunner::Outcome outcome);  // kDone becomes kIdle, kUnfinished kMore, else kPaused
  RequestLimits LimitsOf(const Session& session) const;          // how large the session's next requests may be
  static bool MayChangeLimits(const Request& request);           // kNoScript: as CONFIG SET, ACL SETUSER, RESET, EXEC
  RequestParser::Status ParseGroup(Session& session);            // parses requests into the empty batch_
  void BeginPipelineTime();                                      // begins to measure the time of a session's pipeline
  void EndPipelineTime() { used_turn_us_ += ThisPipelineUs(); }  // adds this pipeline's time
  int64_t ThisPipelineUs() const {  // µs since the pipeline's first request ended; 0: none has ended
    return pipeline_began_us_ == kNoRequestYet ? 0 : parts_.current_execution.real_us - pipeline_began_us_;
  }
  bool IsTimeUsedUp() const {  // whether this pipeline, or all together, have used up their time in this Turn
    const int64_t pipeline_us = ThisPipelineUs();
    return pipeline_us >= kMaxUsForOnePipeline || used_turn_us_ + pipeline_us >= kMaxUsForAllPipelines;
  }
  void CloseAfterProtocolError(Session& session);  // replies with the error, and closes the session

  const Parts parts_;                           // the objects that the constructor got
  static constexpr int64_t kNoRequestYet = -1;  // value of pipeline_began_us_ until the first request has ended
  uint64_t turn_ = UINT64_MAX;                  // number of the loop iteration (Turn) that used_turn_us_ belongs to
  int64_t used_turn_us_ = 0;                    // µs that all pipelines have used in this Turn
  int64_t pipeline_began_us_ = kNoRequestYet;   // when the pipeline's first request ended (real time)
  RequestLimits limits_;                        // the limits with which the requests of batch_ were parsed
  RequestBatch batch_;                          // the requests that run next
  Prefetcher prefetcher_;                       // fetches the data of batch_ into the CPU cache
};

}  // namespace respite
