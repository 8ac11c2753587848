#include "server/replication/failover.h"

#include <algorithm>

#include "base/log.h"
#include "base/real_clock.h"
#include "base/refusal.h"
#include "base/str_cat.h"
#include "server/clients/pause.h"
#include "server/dataset/history.h"
#include "server/replication/replicas.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kFailoverInProgress[] = "ERR FAILOVER already in progress.";
constexpr char kFailoverOfReplica[] = "ERR FAILOVER is not valid when server is a replica.";
constexpr char kFailoverForceIncomplete[] =
    "ERR FAILOVER with force option requires both a timeout and target HOST and IP.";
constexpr char kFailoverTargetOffline[] = "ERR FAILOVER target replica is not online.";
constexpr char kFailoverTargetUnknown[] = "ERR FAILOVER target HOST and PORT is not a replica.";
constexpr char kFailoverWithoutReplicas[] = "ERR FAILOVER requires connected replicas.";

}  // namespace
}  // namespace refusals

namespace {

bool IsAt(const Session& session, const PrimaryAddress& address) {
  return EqualsIgnoreCase(Replicas::HostOf(session), address.host) && session.replica->listening_port == address.port;
}

}  // namespace

Bytes Failover::StateName() const {
  if (state_ == State::kNone) return "no-failover";
  return state_ == State::kAwaitsSync ? "waiting-for-sync" : "failover-in-progress";
}

void Failover::Check(const FailoverRequest& request) const {
  if (state_ != State::kNone) throw Refusal{refusals::kFailoverInProgress};
  if (parts_.role.is_replica) throw Refusal{refusals::kFailoverOfReplica};
  if (parts_.replicas.IsEmpty()) throw Refusal{refusals::kFailoverWithoutReplicas};
  if (request.is_forced && (!request.target || request.timeout_ms == 0)) {
    throw Refusal{refusals::kFailoverForceIncomplete};
  }
  if (!request.target) return;
  for (const Session* session : parts_.replicas.All()) {
    if (!IsAt(*session, *request.target)) continue;
    // Accepts a replica in the state "online", even if the replica has not acknowledged its snapshot yet. The failover
    // then waits for the acknowledgement.
    if (Bytes(Replicas::StateNameOf(*session->replica)) == "online") return;
    throw Refusal{refusals::kFailoverTargetOffline};
  }
  throw Refusal{refusals::kFailoverTargetUnknown};
}

void Failover::Start(const FailoverRequest& request) {
  Check(request);
  request_ = request;
  constexpr int64_t kLongestMs = int64_t{1} << 50;  // keeps the sum in range
  deadline_ms_ = request.timeout_ms == 0 ? 0 : parts_.env.real_clock.NowMs() + std::min(request.timeout_ms, kLongestMs);
  state_ = State::kAwaitsSync;
  parts_.env.log.Notice("FAILOVER requested" + (request.target ? " to " + request.target->Text() : "") + ".");
  parts_.pause.PauseWrites(Pause::kFailover);
  parts_.replicas.RequestAcks(parts_.history.offset);
}

void Failover::LookForTarget() {
  const bool is_late = deadline_ms_ != 0 && parts_.env.real_clock.NowMs() >= deadline_ms_;
  if (is_late && request_.is_forced) {
    parts_.env.log.Notice("Failover to " + request_.target->Text() + " time out exceeded, failing over.");
    return HandOver(*request_.target);
  }
  if (is_late) return Abort("Replica never caught up before timeout");
  for (const Session* session : parts_.replicas.All()) {
    const Replica& replica = *session->replica;
    const bool is_wanted = !request_.target || IsAt(*session, *request_.target);
    if (!is_wanted || !Replicas::IsOnlineWithData(replica) || replica.acked_offset != parts_.history.offset) continue;
    const PrimaryAddress target{Replicas::HostOf(*session), replica.listening_port};
    parts_.env.log.Notice("Failover target " + target.Text() + " is synced, failing over.");
    return HandOver(target);
  }
}

void Failover::HandOver(const PrimaryAddress& target) {
  state_ = State::kInProgress;
  parts_.changer.HandOver(target);
}

void Failover::EndIfHandedOver() {
  if (state_ == State::kInProgress) EndFailover();
}

void Failover::HandleFailedTakeover() {
  if (state_ != State::kInProgress) return;
  Abort("Failover target rejected psync request");
}

void Failover::Abort(const std::string& reason) {
  if (state_ == State::kNone) return;
  const bool has_handed_over = state_ == State::kInProgress;
  parts_.env.log.Notice("Aborting failover: " + reason);
  EndFailover();
  if (has_handed_over) parts_.changer.Promote();
}

void Failover::EndFailover() {
  state_ = State::kNone;
  request_ = {};
  deadline_ms_ = 0;
  parts_.pause.ResumeWrites(Pause::kFailover);
}

}  // namespace respite
