// Sentinel: watches primaries and their replicas together with other Sentinels. It finds replicas and Sentinels
// (InfoReader, HelloProtocol), detects which instances are down (DownWatch), and votes for the Sentinel that carries
// out a failover (LeaderElection). The elected Sentinel replaces the primary by one of its replicas (PrimaryFailover).
// Clients ask any Sentinel for the primary's address.
//
//   Network ─► InstanceConnection ─► InstanceProtocol ─► InfoReader, HelloProtocol, DownWatch ─┐
//                                   ▲                                            ▼
//                                   └────── commands ◄─── PrimaryFailover ◄─ SentinelState ─► clients, file
//
// Sentinel does no I/O of its own: time comes from a RealClock, connections from a Network; clients, file and programs
// from a SentinelHost. So a test can run many Sentinels in one thread without waiting.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "server/sentinel/down_watch.h"
#include "server/sentinel/hello_protocol.h"
#include "server/sentinel/info_reader.h"
#include "server/sentinel/instance_list.h"
#include "server/sentinel/instance_protocol.h"
#include "server/sentinel/leader_election.h"
#include "server/sentinel/primary_failover.h"
#include "server/sentinel/replicaof_sender.h"
#include "server/sentinel/script_queue.h"
#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"
#include "server/sentinel/sentinel_lines_reader.h"

namespace respite {

class Sentinel {  // watches primaries together with other Sentinels
 public:
  struct Parts {                  // the arguments of the constructor
    const RealClock& real_clock;  // monotonic; TEST CLOCK cannot move it
    Logger& log;
    uint64_t random_seed;               // seed for random ids and delays
    const LateBound<Network>& network;  // makes connections
    SentinelHost& host;
  };
  explicit Sentinel(const Parts& parts);
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;

  // Reads the `sentinel` lines of the configuration file. Returns the first invalid line; nullopt if all are valid.
  std::optional<InvalidLine> Read(const std::vector<ConfigLine>& lines);
  void Start();            // chooses an id if sentinel.conf has none, and reports the watched primaries
  void Tick();             // does the periodic work; called ten to twenty times a second
  int64_t RandomTickMs();  // random milliseconds until the next tick, so that Sentinels do not act together

  bool HasHeardFromAllInstances() const;  // true: all servers have sent INFO, all instances answer PING

  const SentinelCore& core() const { return core_; }
  SentinelState& state() { return state_; }  // settings, watched instances and epochs
  InstanceList& list() { return list_; }
  SentinelEvents& events() { return events_; }                 // reports events: log, channels, scripts
  const ScriptQueue& scripts() const { return scripts_; }      // runs the operator's programs
  HelloProtocol& hello_protocol() { return hello_protocol_; }  // sends and handles hello messages
  LeaderElection& election() { return election_; }             // decides which Sentinel carries out a failover
  PrimaryFailover& failover() { return failover_; }            // replaces a primary by a replica

 private:
  void CheckTilt();  // enters tilt mode (PING and INFO, but no failovers) if ticks are late, or time went back
  void LeaveTilt();  // ends tilt mode: this Sentinel acts again
  void TickInstance(Instance& instance);   // sends what is due; may leave tilt mode; checks if the instance is down
  void TickPrimary(Primary& primary);      // ticks the primary, its replicas and its Sentinels; advances the failover
  void AdvanceFailover(Primary& primary);  // checks odown, starts a failover if needed, takes steps that need not wait

  SentinelState state_;  // settings, watched instances and epochs
  Random random_;        // for random ids and delays
  const SentinelCore core_;
  ScriptQueue scripts_;    // runs programs of the operator for events
  SentinelEvents events_;  // reports events in the log, on channels and to scripts
  InstanceList list_;
  ReplicaofSender replicaof_sender_;    // tells servers which primary to follow
  HelloProtocol hello_protocol_;        // hello messages between Sentinels
  DownWatch down_watch_;                // decides which instances are down
  LeaderElection election_;             // decides which Sentinel carries out a failover
  PrimaryFailover failover_;            // replaces a primary by one of its replicas
  InfoReader reader_;                   // reads INFO of servers, and corrects replicas
  InstanceProtocol instance_protocol_;  // keeps links open, and sends PING, INFO and hello messages
  int64_t ticked_at_ms_;                // when Tick was last called (real time)
};

}  // namespace respite
