#include "server/cluster/slots/slot_request.h"

#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "protocol/request_text.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/settings.h"
#include "server/execution/services.h"

namespace respite {

namespace {

using State = SlotJob::State;

constexpr int64_t kRetryMs = 1000;
constexpr size_t kLongestAnswer = 4096;

}  // namespace

Cluster& SlotRequest::cluster() const { return *services_.cluster.cluster(); }

void SlotRequest::Tick() {
  const int64_t now_ms = services_.env.real_clock.NowMs();
  if (!IsWaiting()) link_.reset();
  if (IsOver() || job_->state == State::kFailed) source_.reset();
  if (IsOver()) return;
  if (!cluster().view().me().IsPrimary()) return Cancel("This node is no primary any more");
  if (job_->state == State::kQueued) return Start();
  if (job_->state == State::kFailed) {
    // The attempt has failed: this class has called Fail, or SlotImports has ended the import. Tries again after
    // kRetryMs.
    if (!std::exchange(saw_failure_, true)) changed_ms_ = now_ms;
    if (now_ms - changed_ms_ < kRetryMs) return;
    ++job_->retries;
    return Start();
  }
  if (source_ != nullptr) return source_->Tick();
  if (!IsWaiting()) return;
  if (job_->state == State::kEstablishing && unanswered_ == 0) {
    // Repeats the request. If the export has failed at the source before it reached this node, the source queues it
    // again. Otherwise the repeated request has no effect.
    if (now_ms - changed_ms_ >= kRetryMs) SendRequest();
    return;
  }
  const int64_t limit_ms = int64_t{services_.env.settings.repl_timeout} * 1000;
  if (now_ms - changed_ms_ > limit_ms) Fail("the source does not answer");
}

void SlotRequest::Start() {
  const ClusterView& view = cluster().view();
  const ClusterNode* const source = view.Find(job_->source);
  saw_failure_ = false;
  job_->message.clear();
  job_->started_ms = services_.env.clock.WallMs();
  job_->SetState(State::kConnecting, job_->started_ms);
  changed_ms_ = services_.env.real_clock.NowMs();
  if (source == nullptr || !source->IsPrimary() || !source->HasAddress()) return Fail("the source is no primary");
  bool owns_all = true;
  job_->slots.ForEach([&](int slot) { owns_all = owns_all && view.Owner(slot) == source; });
  if (!owns_all) return Fail("the source does not own the slots any more");
  const Settings& settings = services_.env.settings;
  const int port = settings.tls_replication ? source->address.tls_port : source->address.tcp_port;
  const Link::Target target{.host = source->address.ip, .port = port, .uses_tls = settings.tls_replication};
  line_.clear();
  unanswered_ = 0;
  if (source->internal_secret.empty()) {
    link_ = services_.env.network->Connect(target, *this);
    return;
  }
  source_ = std::make_shared<SlotSourceLink>(SlotSourceLink::Parts{services_, imports_, job_, view.InternalSecret(),
                                                                   [this](const std::string& error) { Fail(error); }});
  source_->Start(target);
}

void SlotRequest::OnConnected() {
  const Settings& settings = services_.env.settings;
  job_->SetState(State::kEstablishing, services_.env.clock.WallMs());
  std::string text;
  if (!settings.masterauth.empty()) {
    std::vector<std::string> auth = {"AUTH"};
    if (!settings.masteruser.empty()) auth.push_back(settings.masteruser);
    auth.push_back(settings.masterauth);
    AppendRequest(text, auth);
    ++unanswered_;
    link_->Send(text);
  }
  SendRequest();
}

void SlotRequest::SendRequest() {
  std::vector<std::string> words = {"CLUSTER", "SYNCSLOTS", "REQUEST",   "TARGET", job_->target.String(),
                                    "NAME",    job_->name,  "SLOTSRANGE"};
  for (const SlotRange& range : RangesOf(job_->slots)) {
    words.push_back(std::to_string(range.first));
    words.push_back(std::to_string(range.last));
  }
  std::string text;
  AppendRequest(text, words);
  ++unanswered_;
  changed_ms_ = services_.env.real_clock.NowMs();
  link_->Send(text);
}

void SlotRequest::OnReceived(Bytes bytes) {
  while (!bytes.empty() && link_ != nullptr) {
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kLongestAnswer) return Fail("the source answers with a line that is too long");
    if (end == Bytes::npos) return;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    HandleLine(std::exchange(line_, {}));
  }
}

void SlotRequest::HandleLine(Bytes line) {
  changed_ms_ = services_.env.real_clock.NowMs();
  if (!line.starts_with('+')) return Fail("Error reply of the source: " + PrintablePart(line, 200));
  if (unanswered_ > 0) --unanswered_;
}

void SlotRequest::OnEnded(const std::string& reason) {
  if (!IsWaiting()) return link_.reset();
  Fail("the connection to the source ended" + (reason.empty() ? "" : ": " + reason));
}

void SlotRequest::Fail(const std::string& message) {
  link_.reset();
  changed_ms_ = services_.env.real_clock.NowMs();
  saw_failure_ = true;
  job_->message = message;
  job_->SetState(State::kFailed, services_.env.clock.WallMs());
  services_.env.log.Warning(StrCat("Slot migration ", job_->name, " failed: ", message, "; it will be tried again"));
}

void SlotRequest::Cancel(const std::string& reason) {
  link_.reset();
  if (IsOver()) return;
  if (IsWaiting()) source_.reset();  // otherwise SlotImports ends the import, and then closes the session of source_
  job_->message = reason;
  job_->SetState(State::kCancelled, services_.env.clock.WallMs());
}

}  // namespace respite
