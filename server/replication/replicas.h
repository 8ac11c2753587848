// Replicas: the replicas of this server. Knows their addresses and acknowledged offsets, and sends the stream to them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/clients/replica.h"
#include "server/clients/session.h"
#include "server/runtime/env.h"
#include "server/storage/shutdown.h"

namespace respite {

class ClientLimits;
class Clients;
struct Dataset;
class ReplicationStream;
struct Role;

class Replicas final : public Followers {
 public:
  struct Parts {
    const Env& env;
    Dataset& data;
    Clients& clients;
    ClientLimits& limits;
    ReplicationStream& stream;
    Role& role;
  };
  explicit Replicas(const Parts& parts);

  // --- The list of replicas

  // Makes the session a replica. Requires: it is not one yet.
  void Attach(Session& session);
  // Removes a session that closes. Returns true if it was attached.
  bool Forget(Session& session);
  const std::vector<Session*>& All() const { return all_; }
  bool Empty() const { return all_.empty(); }
  void CloseAll();
  // Closes each replica after it has received the stream so far.
  void EndAll();
  // Returns the name for the log and INFO, for example "127.0.0.1:6380".
  static std::string NameOf(const Session& session);
  static std::string HostOf(const Session& session);
  // Returns the state as in INFO, for example "online".
  static Bytes StateNameOf(const Replica& replica);

  // --- The stream

  // Sends the stream to the replica from now on, from Replica::sent_to.
  void PutOnline(Session& session);
  // Sends the appended stream to the replicas. Called at the end of a turn, before replies are sent. Cost: O(replicas +
  // parts).
  void Deliver();

  // --- Acknowledgements

  void Acknowledge(Session& session, int64_t offset, int64_t offset_on_disk);
  // Requests acknowledgements from all replicas at the end of the turn, unless this offset was already requested.
  void AskForAcks(int64_t offset);
  // Returns whether a replica has acknowledged more since the last call.
  bool TakeProgress() { return std::exchange(has_progress_, false); }
  // Returns whether the replica is online and has loaded its data.
  static bool IsUsable(const Replica& replica);
  int64_t CountAcked(int64_t offset) const;
  int64_t CountOnDisk(int64_t offset) const;
  // Counts the replicas that are online and have acknowledged within min-replicas-max-lag.
  void RefreshGood();

  // Returns the memory of the stream for all replicas together: the backlog, which reaches back to the slowest replica.
  size_t BufferBytes() const;

  // Followers, for a shutdown
  bool HaveEverything() const override;
  void AskForEverything() override;
  void LogLag() const override;

  // Pings replicas, and closes silent ones. Called once a second. kPaused: the stream must not grow (FAILOVER).
  enum class Pings : uint8_t { kAllowed, kPaused };
  void Cron(Pings pings);
  // Gives the replicas from before a restart or a promotion repl-backlog-ttl seconds to reconnect.
  void AwaitReturn();
  // Returns true if no replica has been connected for repl-backlog-ttl seconds.
  bool IsBacklogStale() const;

 private:
  void SendStream(Session& session, Replica& replica);
  void PingWaiting(Session& session);
  void NoteSignsOfLife(Session& session);
  void CloseSilent();
  // Returns the memory of the replicas' output, without the Blobs of the backlog.
  size_t OwnBytes() const;

  const Parts parts_;
  std::vector<Session*> all_;
  bool wants_acks_ = false;
  int64_t asked_to_ = -1;  // the end of the history when replicas were last asked
  bool has_progress_ = false;
  int64_t pinged_at_ms_ = 0;
  int64_t nobody_since_ms_ = 0;
};

}  // namespace respite
