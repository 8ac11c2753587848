#include "server/replication/replicas.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/clients/role.h"
#include "server/config/settings.h"
#include "server/dataset/dataset.h"
#include "server/replication/replication_stream.h"

namespace respite {

Replicas::Replicas(const Parts& parts)
    : parts_(parts), pinged_at_ms_(parts.env.real_clock.NowMs()), no_replica_since_ms_(parts.env.real_clock.NowMs()) {}

void Replicas::Attach(Session& session) {
  session.kind = SessionKind::kReplica;
  session.replies.TurnOn();  // CLIENT REPLY does not apply to the stream
  session.replica->output_is_stream = true;
  all_.push_back(&session);
}

bool Replicas::Forget(Session& session) {
  if (std::erase(all_, &session) == 0) return false;
  parts_.env.log.Notice("Connection with replica " + NameOf(session) + " lost.");
  if (all_.empty()) no_replica_since_ms_ = parts_.env.real_clock.NowMs();
  RecountGoodReplicas();
  return true;
}

void Replicas::CloseOlderSessions(const Session& session) {
  const std::string& id = session.replica->id;
  if (id.empty()) return;
  const std::vector<Session*> all = all_;  // a closed session leaves all_
  for (Session* other : all) {
    if (other->replica->id != id) continue;
    parts_.env.log.Notice("Replica " + NameOf(session) + " has connected again: closing its older connection");
    parts_.clients.Close(*other);
  }
}

void Replicas::CloseAll() {
  const std::vector<Session*> all = all_;  // a closed session leaves all_
  for (Session* session : all) parts_.clients.Close(*session);
}

void Replicas::CloseAllAfterOutput() {
  Deliver();
  const std::vector<Session*> all = all_;
  for (Session* session : all) {
    if (session->replica->state != Replica::State::kOnline) {
      parts_.clients.Close(*session);
      continue;
    }
    session->close_after_reply = true;
    parts_.clients.QueueFlush(*session);
  }
}

std::string Replicas::HostOf(const Session& session) {
  if (!session.replica->announced_ip.empty()) return session.replica->announced_ip;
  const std::string address = RemoveIpv6Brackets(session.addresses.peer);
  return address.substr(0, address.rfind(':'));
}

// Returns the address of the replica, for logs. If the replica has not announced its port, returns the ID of its
// connection instead.
std::string Replicas::NameOf(const Session& session) {
  const int port = session.replica == nullptr ? 0 : session.replica->listening_port;
  if (port == 0) return StrCat("client id #", session.id);
  const std::string host = HostOf(session);
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return StrCat(is_ipv6 ? "[" + host + "]" : host, ":", port);
}

Bytes Replicas::StateNameOf(const Replica& replica) {
  switch (replica.state) {
    case Replica::State::kGreets:
    case Replica::State::kAwaitsSnapshot:
    case Replica::State::kAwaitsEnd:
      return "wait_bgsave";
    case Replica::State::kReceives:  // Redis: a replica at a pipe waits for the end of the child
      return replica.file == nullptr ? "wait_bgsave" : "send_bulk";
    case Replica::State::kAwaitsAck:
    case Replica::State::kOnline:
      return "online";
    case Replica::State::kServed:
      break;
  }
  return "rdb_transmitted";
}

void Replicas::PutOnline(Session& session) {
  Replica& replica = *session.replica;
  replica.state = Replica::State::kOnline;
  replica.acked_at_ms = parts_.env.real_clock.NowMs();
  replica.backlogged_bytes = 0;
  RecountGoodReplicas();
  SendStream(session, replica);
}

void Replicas::SendStream(Session& session, Replica& replica) {
  const Backlog& backlog = parts_.stream.backlog();
  if (replica.sent_offset == backlog.End()) return;
  backlog.VisitFrom(replica.sent_offset, backlog.End(), [&](const BlobPart& part) { session.out.AppendPart(part); });
  replica.sent_offset = backlog.End();
  parts_.clients.QueueFlush(session);
}

void Replicas::Deliver() {
  if (!parts_.stream.HasBacklog()) return;
  // Adds REPLCONF GETACK to the stream, if requested. Waits until a manual failover of the cluster has ended, because
  // the request would advance the replication offset, which the replica must reach.
  if (wants_acks_ && !parts_.pause.IsPausedBy(Pause::kCluster)) {
    wants_acks_ = false;
    last_getack_offset_ = parts_.data.history.offset;
    parts_.stream.AppendRequest({"REPLCONF", "GETACK", "*"});
  }
  const int64_t end = parts_.stream.backlog().End();
  const int64_t now_ms = parts_.env.clock.MonotonicMs();
  int64_t needed_from = end;
  for (size_t i = 0; i < all_.size();) {
    Session* const session = all_[i];
    Replica& replica = *session->replica;
    if (replica.state == Replica::State::kOnline) {
      SendStream(*session, replica);
      // Keeps all bytes in the backlog that are still unsent to this replica. Their buffers (Blobs) stay in memory
      // anyway, because the output shares them. In the backlog, replicas that reconnect can use the bytes too.
      needed_from = std::min(needed_from, replica.sent_offset - static_cast<int64_t>(session->out.Size()));
    } else if (replica.state != Replica::State::kAwaitsSnapshot && replica.state != Replica::State::kServed) {
      replica.backlogged_bytes = static_cast<size_t>(end - replica.sent_offset);
      needed_from = std::min(needed_from, replica.sent_offset);
    }
    parts_.limits.EnforceOutputLimit(*session, now_ms, ClientLimits::Moment::kReply);
    if (i < all_.size() && all_[i] == session) ++i;  // a replica over its output limit was closed and has left all_
  }
  parts_.stream.Trim(parts_.env.settings.repl_backlog_size, needed_from);
  parts_.stream.SetHeldBytes(BufferBytes() + OutputBytesOutsideBacklog());
}

void Replicas::Acknowledge(Session& session, int64_t offset, int64_t offset_on_disk) {
  Replica& replica = *session.replica;
  if (replica.state == Replica::State::kOnline || replica.state == Replica::State::kAwaitsAck) replica.has_data = true;
  replica.acked_offset = std::max(replica.acked_offset, offset);
  replica.acked_disk_offset = std::max(replica.acked_disk_offset, offset_on_disk);
  replica.acked_at_ms = parts_.env.real_clock.NowMs();
  has_new_acks_ = true;
  RecountGoodReplicas();
  if (replica.state != Replica::State::kAwaitsAck) return;
  replica.output_is_stream = true;
  PutOnline(session);
}

// Returns whether the replica is online and has loaded its data. A replica that gets its snapshot as a file is online
// (kOnline) as soon as the file was sent, but may still be loading it. Its first acknowledgement shows that it has the
// data.
bool Replicas::IsOnlineWithData(const Replica& replica) {
  return replica.state == Replica::State::kOnline && replica.has_data;
}

int64_t Replicas::AckedReplicaCount(int64_t offset) const {
  return std::count_if(all_.begin(), all_.end(), [&](const Session* session) {
    return IsOnlineWithData(*session->replica) && session->replica->acked_offset >= offset;
  });
}

int64_t Replicas::SyncedReplicaCount(int64_t offset) const {
  // A replica reports 0 as long as its append-only file does not contain all data. A write to a server that has had no
  // replica since its start may have the offset 0.
  const int64_t least = std::max(offset, int64_t{1});
  return std::count_if(all_.begin(), all_.end(), [&](const Session* session) {
    return IsOnlineWithData(*session->replica) && session->replica->acked_disk_offset >= least;
  });
}

void Replicas::RecountGoodReplicas() {
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  const int64_t lag_max_s = parts_.env.settings.min_replicas_max_lag;
  parts_.role.good_replicas = std::count_if(all_.begin(), all_.end(), [&](const Session* session) {
    return IsOnlineWithData(*session->replica) && (now_ms - session->replica->acked_at_ms) / 1000 <= lag_max_s;
  });
}

size_t Replicas::BufferBytes() const { return parts_.stream.HasBacklog() ? parts_.stream.backlog().HeldBytes() : 0; }

size_t Replicas::OutputBytesOutsideBacklog() const {
  size_t bytes = 0;
  for (const Session* session : all_) bytes += session->out.BlockBytes() + session->out.SegmentListBytes();
  return bytes;
}

bool Replicas::AreCaughtUp() const {
  return std::ranges::all_of(all_, [&](const Session* session) {
    const Replica& replica = *session->replica;
    return replica.wants_rdb_only || (replica.has_data && replica.acked_offset == parts_.data.history.offset);
  });
}

void Replicas::RequestAcks(int64_t offset) {
  const bool is_new_history = parts_.data.history.offset < last_getack_offset_;
  wants_acks_ = wants_acks_ || is_new_history || offset > last_getack_offset_;
}

void Replicas::RequestAcknowledgements() { RequestAcks(parts_.data.history.offset); }

void Replicas::LogLaggingReplicas() const {
  if (all_.empty()) return;
  int64_t in_sync = 0;
  for (const Session* session : all_) {
    const Replica& replica = *session->replica;
    if (replica.acked_offset == parts_.data.history.offset) {
      ++in_sync;
      continue;
    }
    const bool is_online = replica.state == Replica::State::kOnline;
    const int64_t lag_s = is_online ? (parts_.env.real_clock.NowMs() - replica.acked_at_ms) / 1000 : 0;
    parts_.env.log.Notice(StrCat("Lagging replica ", NameOf(*session), " reported offset ",
                                 parts_.data.history.offset - replica.acked_offset, " behind master, lag=", lag_s,
                                 ", state=", StateNameOf(replica), "."));
  }
  parts_.env.log.Notice(StrCat(in_sync, " of ", all_.size(), " replicas are in sync when shutting down."));
}

void Replicas::Cron(Pings pings) {
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  const int64_t period_ms = int64_t{parts_.env.settings.repl_ping_replica_period} * 1000;
  if (!all_.empty() && pings == Pings::kAllowed && now_ms - pinged_at_ms_ >= period_ms) {
    pinged_at_ms_ = now_ms;
    parts_.stream.AppendRequest({"PING"});
  }
  const std::vector<Session*> all = all_;
  for (Session* session : all) PingWaitingReplica(*session);
  for (Session* session : all_) RecordSignsOfLife(*session);
  CloseTimedOutReplicas();
  RecountGoodReplicas();
}

// Sends an empty line to a replica that waits for its snapshot, to show that this server is alive.
void Replicas::PingWaitingReplica(Session& session) {
  const Replica::State state = session.replica->state;
  if (state != Replica::State::kAwaitsSnapshot && state != Replica::State::kAwaitsEnd) return;
  session.out.Append("\n");
  parts_.clients.QueueFlush(session);
}

// Records when the replica last showed that it is alive. A replica that receives a snapshot sends nothing, but its
// socket takes bytes. A replica that loads a snapshot sends empty lines.
void Replicas::RecordSignsOfLife(Session& session) {
  Replica& replica = *session.replica;
  if (session.usage.bytes_in != replica.received_bytes) {
    replica.received_bytes = session.usage.bytes_in;
    replica.received_at_ms = parts_.env.real_clock.NowMs();
  }
  const bool is_stuck = session.usage.bytes_out == replica.sent_bytes && !session.out.IsEmpty();
  if (replica.state == Replica::State::kReceives && is_stuck) return;
  replica.sent_bytes = session.usage.bytes_out;
  replica.sent_at_ms = parts_.env.real_clock.NowMs();
}

void Replicas::CloseTimedOutReplicas() {
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  const int64_t timeout_ms = int64_t{parts_.env.settings.repl_timeout} * 1000;
  const std::vector<Session*> all = all_;
  for (Session* session : all) {
    const Replica& replica = *session->replica;
    const bool is_awaited = replica.state == Replica::State::kAwaitsAck;
    const bool must_speak = is_awaited || (replica.state == Replica::State::kOnline && replica.speaks_psync);
    const bool must_take = replica.state == Replica::State::kReceives;
    const int64_t since_ms = must_take ? replica.sent_at_ms : std::max(replica.acked_at_ms, replica.received_at_ms);
    if (!(must_speak || must_take) || now_ms - since_ms <= timeout_ms) continue;
    parts_.env.log.Warning(std::string("Disconnecting timedout replica (") + (must_take ? "full" : "streaming") +
                           " sync): " + NameOf(*session));
    parts_.clients.Close(*session);
  }
}

void Replicas::StartBacklogTtl() { no_replica_since_ms_ = parts_.env.real_clock.NowMs(); }

bool Replicas::IsBacklogStale() const {
  const int64_t ttl_s = parts_.env.settings.repl_backlog_ttl;
  return all_.empty() && ttl_s != 0 && (parts_.env.real_clock.NowMs() - no_replica_since_ms_) / 1000 > ttl_s;
}

}  // namespace respite
