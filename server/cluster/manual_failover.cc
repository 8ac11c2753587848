#include "server/cluster/manual_failover.h"

#include "base/str_cat.h"

namespace respite {

namespace {

// How many ms later the failover ends on the primary than on the replica. If the replica wins at the last moment, the
// primary learns of it before it resumes writes.
constexpr int64_t kLongerPauseMs = 500;

}  // namespace

void ManualFailover::Start(Mode mode) {
  Reset();
  until_ms_ = parts_.core.NowMs() + parts_.core.settings.cluster_manual_failover_timeout;
  is_election_allowed_ = mode == Mode::kForce;
  ClusterNode* const primary = parts_.core.view.me().primary;
  if (mode == Mode::kForce || primary == nullptr) return;
  if (mode == Mode::kIfPrimaryIsGone) {
    is_request_ = true;
    // Drops this node's bus connection to the primary. The primary is shutting down, and has requested this failover. A
    // PONG that it sent earlier may still arrive on this connection, and would end the failover (ReceivePong). The next
    // tick opens a new connection.
    parts_.bus.DropOutboundLink(*primary);
    primary->ping_sent_ms = 0;
    return;
  }
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(PacketType::kPauseRequest);
  parts_.bus.Send(*primary, packet);
}

void ManualFailover::ReceivePong(const ClusterNode& sender) {
  if (!is_request_ || &sender != parts_.core.view.me().primary) return;
  parts_.core.log.Notice("My master requested its failover when it stopped, but it answers. There is no failover.");
  Reset();
}

// Returns whether the primary accepts no connection. A PING without an answer is not enough, because the primary may
// only be slow. (If the primary becomes FAIL, an ordinary election begins.)
bool ManualFailover::IsPrimaryGone() const {
  const ClusterNode* const primary = parts_.core.view.me().primary;
  // ping_sent_ms is not 0 while a PING is unanswered, or if the last attempt to connect has failed.
  return primary != nullptr && primary->ping_sent_ms != 0 &&
         (primary->outbound_link == nullptr || !primary->outbound_link->IsOpen());
}

// Pauses writes for the replica, but only after a slow script or a load has ended: only then does the replication
// offset count the writes of the script.
void ManualFailover::ReceivePauseRequest(const ClusterNode& replica) {
  parts_.core.host.RunNowOrAfterLongTask([this, id = replica.id] {
    if (ClusterNode* node = parts_.core.view.Find(id)) PauseFor(*node);
  });
}

void ManualFailover::PauseFor(ClusterNode& replica) {
  if (replica.primary != &parts_.core.view.me()) return;
  Reset();
  until_ms_ = parts_.core.NowMs() + parts_.core.settings.cluster_manual_failover_timeout + kLongerPauseMs;
  replica_ = replica.id;
  parts_.core.view.is_paused = true;
  parts_.core.host.PauseWrites();
  parts_.core.log.Notice("Manual failover requested by replica " + replica.LogName() + ".");
  parts_.gossip.Ping(replica);
}

void ManualFailover::ReceivePrimaryOffset(const PacketHeader& header) {
  if (!IsUnderWay() || primary_offset_ != -1 || (header.message_flags & PacketHeader::kPaused) == 0) return;
  primary_offset_ = static_cast<int64_t>(header.offset);
  parts_.core.log.Notice(StrCat("Received replication offset for paused master manual failover: ", primary_offset_));
}

void ManualFailover::Continue() {
  if (!IsUnderWay()) return;
  if (parts_.core.NowMs() > until_ms_) {
    parts_.core.log.Warning("Manual failover timed out.");
    return Reset();
  }
  if (is_election_allowed_) return;
  if (is_request_) {
    is_election_allowed_ = IsPrimaryGone();
    return;
  }
  if (primary_offset_ == -1) return;
  // An equal offset counts only while this replica receives its primary's stream. Otherwise the offset may belong to
  // another history; for example, the offsets of both servers begin at 0 after a restart.
  if (!parts_.core.host.IsLinked() || parts_.core.host.Offset() != primary_offset_) return;
  is_election_allowed_ = true;
  parts_.core.log.Notice("All master replication stream processed, manual failover can start.");
}

// Returns whether this replica may request and count votes. Returns false after the timeout, because votes may arrive
// late. If the failover waited for the data of the primary (kAsk), also returns false if the link to the primary has
// ended, or if the primary has resumed writes.
bool ManualFailover::CanStartElection() const {
  if (!IsUnderWay() || !is_election_allowed_ || parts_.core.NowMs() > until_ms_) return false;
  return primary_offset_ == -1 || (parts_.core.host.IsLinked() && parts_.core.host.Offset() == primary_offset_);
}

void ManualFailover::Reset() {
  if (parts_.core.view.is_paused) parts_.core.host.ResumeWrites();
  parts_.core.view.is_paused = false;
  until_ms_ = 0;
  is_election_allowed_ = false;
  is_request_ = false;
  primary_offset_ = -1;
  replica_ = {};
}

}  // namespace respite
