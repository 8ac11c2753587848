// Replicas: the replicas of this server: who they are, how far they have come, and how the stream gets to them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/clients/replica.h"
#include "server/clients/session.h"
#include "server/storage/shutdown.h"

namespace respite {

class Backlog;
class ClientLimits;
class Clock;
class Clients;
struct Dataset;
class Logger;
class Pace;
class ReplicationStream;
struct Role;
struct Settings;

class Replicas final : public Followers {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    Dataset& data;
    Clients& clients;
    ClientLimits& limits;
    ReplicationStream& stream;
    Role& role;
  };
  explicit Replicas(const Parts& parts);

  // --- Those that are there.

  // From here on the session is a replica. Requires: it is none.
  void Attach(Session& session);
  // The session closes. True: it was attached.
  bool Forget(Session& session);
  const std::vector<Session*>& All() const { return all_; }
  bool Empty() const { return all_.empty(); }
  void CloseAll();
  // How the log and INFO call it: "127.0.0.1:6380".
  static std::string NameOf(const Session& session);
  static std::string HostOf(const Session& session);
  // As INFO says it: "online".
  static Bytes StateNameOf(const Replica& replica);

  // --- The stream.

  // The replica gets the stream from now on, from Replica::sent_to.
  void PutOnline(Session& session);
  // At the end of a Turn, before replies leave: hands on what was appended. Cost: O(replicas + parts).
  void Deliver();

  // --- What they acknowledge.

  void Acknowledge(Session& session, int64_t offset, int64_t offset_on_disk);
  // Asks all of them, at the end of the Turn, unless they were asked for this much already.
  void AskForAcks(int64_t offset);
  // Somebody has acknowledged more since the last call.
  bool TakeProgress() { return std::exchange(has_progress_, false); }
  int64_t CountAcked(int64_t offset) const;
  int64_t CountOnDisk(int64_t offset) const;
  // Counts those that are online and have spoken within min-replicas-max-lag.
  void RefreshGood();

  // Memory of the stream for all replicas together: the backlog, which reaches back to the replica that is behind most.
  size_t BufferBytes() const;

  // Followers, for a shutdown.
  bool HaveEverything() const override;
  void AskForEverything() override;
  void LogLag() const override;

  // Once a second: pings, and closes those that are silent. kPaused: the stream must not grow (FAILOVER).
  enum class Pings : uint8_t { kAllowed, kPaused };
  void Cron(Pings pings);
  // Replicas of before a restart or a promotion get repl-backlog-ttl seconds to come back.
  void AwaitReturn();
  // No replica has been there for as long as repl-backlog-ttl says.
  bool IsBacklogStale() const;

 private:
  void SendStream(Session& session, Replica& replica);
  void PingWaiting(Session& session);
  void NoteSignsOfLife(Session& session);
  void CloseSilent();
  // Memory of the output of replicas beside the Blobs of the backlog.
  size_t OwnBytes() const;

  const Parts parts_;
  std::vector<Session*> all_;
  bool wants_acks_ = false;
  int64_t asked_to_ = -1;  // the end of the history when they were asked last
  bool has_progress_ = false;
  int64_t pinged_at_ms_ = 0;
  int64_t nobody_since_ms_ = 0;
};

}  // namespace respite
