#include "server/sentinel/down_watch.h"

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr int64_t kHelloPeriods = 3;    // a subscription without messages for this many publish periods is dead
constexpr int64_t kOpinionPeriods = 5;  // an answer is forgotten after this many `ask` periods
constexpr int64_t kRoleInfoPeriods = 2;

}  // namespace

// --- Alone.

void DownWatch::CheckSubjectivelyDown(Instance& instance) {
  CloseHangingLinks(instance);
  const bool is_unfit = instance.kind == InstanceKind::kPrimary && CountsAsDownAnyway(instance.primary);
  const bool is_down = IsSilent(instance) || is_unfit;
  if (is_down == instance.is_down) return;
  instance.is_down = is_down;
  if (is_down) {
    events_.Tell(LogLevel::kWarning, "+sdown", instance);
    instance.down_since_ms = core_.NowMs();
  } else {
    events_.Tell(LogLevel::kWarning, "-sdown", instance);
    instance.has_killed_script = false;
  }
}

// Closes a connection that is open but seems dead: for a long time it has brought no reply to PING, or no hello
// message. InstanceProtocol then connects again.
void DownWatch::CloseHangingLinks(Instance& instance) {
  InstanceLink& link = *instance.link;
  const int64_t now_ms = core_.NowMs();
  const int64_t least_ms = core_.periods().min_link_age_ms;
  const int64_t half_ms = instance.primary.down_after_ms / 2;
  if (link.HasCommandConnection() && now_ms - link.command_connection_began_ms > least_ms &&
      link.ping_waits_since_ms != 0 && now_ms - link.ping_waits_since_ms > half_ms &&
      now_ms - link.last_ping_answer_ms > half_ms) {
    link.CloseCommandConnection();
  }
  if (link.HasHelloConnection() && now_ms - link.hello_connection_began_ms > least_ms &&
      now_ms - link.hello_heard_ms > core_.periods().publish_period_ms * kHelloPeriods) {
    link.CloseHelloConnection();
  }
}

bool DownWatch::IsSilent(const Instance& instance) const {
  const InstanceLink& link = *instance.link;
  int64_t silent_ms = 0;
  if (link.ping_waits_since_ms != 0) {
    silent_ms = core_.NowMs() - link.ping_waits_since_ms;
  } else if (link.IsDisconnected()) {
    silent_ms = core_.NowMs() - link.last_available_ms;
  }
  return silent_ms > instance.primary.down_after_ms;
}

// Returns whether a primary that answers counts as down nevertheless. First case: it has reported role:slave for longer
// than down-after-milliseconds plus kRoleInfoPeriods INFO periods. Second case: it has rebooted, so it may have lost
// its data, and no PONG has arrived for master-reboot-down-after-period since then (if this is not 0).
bool DownWatch::CountsAsDownAnyway(const Primary& primary) const {
  const int64_t patience_ms = primary.down_after_ms + core_.periods().info_period_ms * kRoleInfoPeriods;
  if (primary.reported_role == ReportedRole::kReplica && core_.NowMs() - primary.role_since_ms > patience_ms)
    return true;
  return primary.has_rebooted && core_.NowMs() - primary.rebooted_ms > primary.reboot_down_after_ms;
}

// --- Together.

void DownWatch::CheckObjectivelyDown(Primary& primary) {
  int votes = primary.is_down ? 1 : 0;
  for (const auto& [id, sentinel] : primary.sentinels) {
    if (primary.is_down && sentinel->says_primary_is_down) ++votes;
  }
  const bool is_down = primary.is_down && votes >= primary.quorum;
  if (is_down == primary.is_objectively_down) return;
  primary.is_objectively_down = is_down;
  if (!is_down) return events_.Tell(LogLevel::kWarning, "-odown", primary);
  events_.Tell(LogLevel::kWarning, "+odown", primary, StrCat(" #quorum ", votes, "/", primary.quorum));
  primary.objectively_down_since_ms = core_.NowMs();
}

void DownWatch::AskOtherSentinels(Primary& primary, AskTiming timing) {
  for (const auto& [id, sentinel] : primary.sentinels) {
    const int64_t elapsed_ms = core_.NowMs() - sentinel->last_opinion_ms;
    if (elapsed_ms > core_.periods().ask_period_ms * kOpinionPeriods) {
      sentinel->says_primary_is_down = false;
      sentinel->voted_for.clear();
    }
    if (!primary.is_down || sentinel->link->IsDisconnected()) continue;
    if (timing == AskTiming::kNow || elapsed_ms >= core_.periods().ask_period_ms) RequestOpinion(primary, *sentinel);
  }
}

void DownWatch::RequestOpinion(Primary& primary, PeerSentinel& sentinel) {
  const bool wants_vote = primary.failover_state != FailoverState::kNone;
  // A request for a vote names the epoch of the failover that this Sentinel has begun, which may be older than its
  // current epoch. A mere question whether the primary is down names the current epoch.
  const uint64_t epoch = wants_vote ? primary.failover_epoch : core_.state.current_epoch;
  sentinel.link->command_connection->Send(
      sentinel,
      {CommandOf(sentinel, "SENTINEL"), "is-master-down-by-addr", core_.state.HostToAnnounce(primary.address),
       std::to_string(primary.address.port), std::to_string(epoch), wants_vote ? Bytes(core_.state.id) : Bytes("*")},
      [this, &sentinel](const ReplyTree& reply) { ReceiveOpinion(sentinel, reply); });
}

void DownWatch::ReceiveOpinion(PeerSentinel& sentinel, const ReplyTree& reply) {
  if (reply.kind != ReplyKind::kArray || reply.children.size() != 3) return;
  const std::string& leader = reply.children[1].text;
  if (leader.size() > kSentinelIdLength) return;
  const auto epoch = static_cast<uint64_t>(reply.children[2].integer);
  sentinel.last_opinion_ms = core_.NowMs();
  sentinel.says_primary_is_down = reply.children[0].integer == 1;
  if (leader != "*") {
    if (sentinel.voted_in_epoch != epoch) {
      core_.log.Notice(StrCat(sentinel.name, " voted for ", leader, " ", epoch));
    }
    sentinel.voted_for = leader;
    sentinel.voted_in_epoch = epoch;
  }
  if (on_opinion_) on_opinion_(sentinel.primary);
}

}  // namespace respite
