#include "server/cluster/failure_detector.h"

#include <algorithm>

namespace respite {

namespace {

constexpr int64_t kReportTimeouts = 2;    // validity of a report, in node timeouts
constexpr int64_t kTakeBackTimeouts = 2;  // in node timeouts: how long a reachable primary with slots stays FAIL

}  // namespace

void FailureDetector::AddFailureReport(ClusterNode& node, const ClusterNode& reporter) {
  const int64_t now_ms = parts_.core.NowMs();
  const auto known = std::ranges::find(node.reports, reporter.id, &ClusterNode::FailureReport::reporter);
  if (known != node.reports.end()) {
    known->at_ms = now_ms;
  } else {
    node.reports.push_back({reporter.id, now_ms});
    parts_.core.log.Verbose("Node " + reporter.LogName() + " reported node " + node.LogName() + " as not reachable.");
  }
  MarkFailedIfMajority(node);
}

void FailureDetector::WithdrawFailureReport(ClusterNode& node, const ClusterNode& reporter) {
  const size_t gone = std::erase_if(node.reports, [&](const auto& report) { return report.reporter == reporter.id; });
  if (gone == 0) return;
  parts_.core.log.Verbose("Node " + reporter.LogName() + " reported node " + node.LogName() + " is back online.");
}

int FailureDetector::CountFreshReports(ClusterNode& node) {
  const int64_t oldest_ms = parts_.core.NowMs() - parts_.core.TimeoutMs() * kReportTimeouts;
  std::erase_if(node.reports, [&](const auto& report) { return report.at_ms < oldest_ms; });
  return static_cast<int>(node.reports.size());
}

void FailureDetector::MarkPfailIfSilent(ClusterNode& node) {
  if (node.Is(kNodePfail)) ++pfail_count_;
  if (node.ping_sent_ms == 0) return;
  // Any data from the node counts as an answer to the PING, because its PONG may be queued behind many messages.
  const int64_t now_ms = parts_.core.NowMs();
  const int64_t silent_ms = std::min(now_ms - node.ping_sent_ms, now_ms - node.data_received_ms);
  if (silent_ms <= parts_.core.TimeoutMs() || node.IsFailing()) return;
  node.Set(kNodePfail);
  ++pfail_count_;
  parts_.core.log.Debug("*** NODE " + node.id.String() + " possibly failing");
  parts_.core.view.RequestHealthCheck();
  parts_.core.view.RecordChange();
  MarkFailedIfMajority(node);  // a single primary is its own majority
}

void FailureDetector::MarkFailedIfMajority(ClusterNode& node) {
  if (!node.Is(kNodePfail)) return;
  const int own = parts_.core.view.me().IsPrimary() ? 1 : 0;
  if (CountFreshReports(node) + own < parts_.core.view.Majority()) return;
  parts_.core.log.Notice("Marking node " + node.LogName() + " as failing (quorum reached).");
  MarkFailed(node);
  // Sends a FAIL packet to all nodes. A receiver marks `node` as FAIL immediately, without waiting for the reports of a
  // majority of the primaries.
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(PacketType::kFail);
  packet.body = FailBody{node.id};
  parts_.bus.Broadcast(packet);
}

void FailureDetector::MarkFailed(ClusterNode& node) {
  node.Clear(kNodePfail);
  node.Set(kNodeFail);
  node.failed_at_ms = parts_.core.NowMs();
  parts_.core.view.RecordChange();
  parts_.core.view.RequestSave();
  parts_.core.view.RequestHealthCheck();
}

void FailureDetector::HandleFailPacket(const NodeId& id, const ClusterNode& reporter) {
  ClusterNode* node = parts_.core.view.Find(id);
  if (node == nullptr || (node->flags & (kNodeFail | kNodeMyself)) != 0) return;
  parts_.core.log.Notice("FAIL message received from " + reporter.LogName() + " about " + node->LogName());
  MarkFailed(*node);
}

void FailureDetector::ClearFailureOnAnswer(ClusterNode& node) {
  if (node.Is(kNodePfail)) {
    node.Clear(kNodePfail);
    parts_.core.view.RequestSave();
    parts_.core.view.RequestHealthCheck();
    parts_.core.view.RecordChange();
    return;
  }
  if (!node.Is(kNodeFail)) return;
  // Clears FAIL immediately for a replica and for a primary without slots, because no replica would replace such a
  // node. For a primary with slots, waits two node timeouts: until then, a replica may be replacing it.
  const bool is_plain = node.IsReplica() || node.slot_count == 0;
  const bool was_long = parts_.core.NowMs() - node.failed_at_ms > parts_.core.TimeoutMs() * kTakeBackTimeouts;
  if (is_plain || was_long) ClearFailFlag(node);
}

void FailureDetector::ClearFailFlag(ClusterNode& node) {
  parts_.core.log.Notice("Clear FAIL state for node " + node.LogName() + ": it is reachable again.");
  node.Clear(kNodeFail);
  parts_.core.view.RecordChange();
  parts_.core.view.RequestSave();
  parts_.core.view.RequestHealthCheck();
}

}  // namespace respite
