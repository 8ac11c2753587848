#include "server/cluster/slots/slot_source_link.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/refusal.h"
#include "base/str_cat.h"
#include "protocol/request_text.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/cluster/slots/slot_imports.h"
#include "server/config/settings.h"
#include "server/execution/services.h"
#include "server/runtime/host.h"

namespace respite {

namespace {

using State = SlotJob::State;

constexpr size_t kSourceScratchBytes = 64 * 1024;
constexpr size_t kLongestSourceAnswer = 4096;
constexpr char kMoreAfterSnapshot[] = "the source sends more after the end of the snapshot";
// After ACK, the source may pause its writes, and serves the slots again after a time: Redis after 10 s by default,
// Respite after 5 s. If this process stood still for this time, it must not take the slots over.
constexpr int64_t kLongestStandstillMs = 1500;

}  // namespace

SlotSourceLink::SlotSourceLink(Parts parts)
    : parts_(std::move(parts)),
      pump_(parts_.services),
      user_(parts_.services.clients.users.MakeUnlimitedUser()),
      ticked_ms_(NowMs()) {}

SlotSourceLink::~SlotSourceLink() {
  if (session_ != nullptr) parts_.services.clients.registry.Close(*session_);
}

int64_t SlotSourceLink::NowMs() const { return parts_.services.env.real_clock.NowMs(); }

// --- The requests and answers before the snapshot.

void SlotSourceLink::Start(const Link::Target& source) {
  target_ = source;
  Connect(main_);
}

void SlotSourceLink::Connect(Channel& channel) {
  last_io_ms_ = NowMs();
  channel.link = parts_.services.env.network->Connect(target_, channel);
}

void SlotSourceLink::LogIn(Channel& channel) {
  if (&channel == &main_) parts_.job->SetState(State::kAuthenticating, parts_.services.env.clock.WallMs());
  std::string text;
  AppendRequest(text, {"AUTH", "internal connection", parts_.secret});
  channel.link->Send(text);
}

void SlotSourceLink::Receive(Channel& channel, Bytes bytes) {
  const int64_t now_ms = NowMs();
  last_io_ms_ = now_ms;
  if (acked_ms_ != 0 && now_ms - ticked_ms_ > kLongestStandstillMs)
    return Fail("this node stood still, so the source may serve the slots again");
  while (!bytes.empty() && channel.link != nullptr && !channel.is_streaming) {
    const size_t end = bytes.find('\n');
    channel.line.append(bytes.substr(0, end));
    if (channel.line.size() > kLongestSourceAnswer) return Fail("the source answers with a line that is too long");
    if (end == Bytes::npos) return;
    bytes.remove_prefix(end + 1);
    if (channel.line.ends_with('\r')) channel.line.pop_back();
    HandleAnswer(channel, std::exchange(channel.line, {}));
  }
  if (bytes.empty() || channel.link == nullptr) return;
  if (&channel == &active()) return Feed(bytes);
  if (is_following_) return;  // bytes after the end of the snapshot
  const uint64_t most = parts_.services.env.settings.client_output_buffer_limit[kOutputReplica].hard_bytes;
  if (most != 0 && changes_.size() + bytes.size() > most)
    return Fail("too many changes during the snapshot: client-output-buffer-limit replica");
  changes_.append(bytes);
}

void SlotSourceLink::HandleAnswer(Channel& channel, Bytes line) {
  if (line.empty()) return;  // keeps the connection alive
  if (!line.starts_with('+')) return Fail("Error reply of the source: " + PrintablePart(line, 200));
  const SlotJob& job = *parts_.job;
  std::string text;
  const int step = ++channel.answers;
  if (&channel == &snapshot_) {
    channel.is_streaming = step == 2;
    if (step == 2) return BeginImport();
    AppendRequest(text, {"CLUSTER", "SYNCSLOTS", "RDBCHANNEL", job.name});
  } else if (step == 1) {
    parts_.job->SetState(State::kEstablishing, parts_.services.env.clock.WallMs());
    AppendRequest(text, {"CLUSTER", "SYNCSLOTS", "CONF", "NODE-ID", job.target.String()});
  } else if (step == 2) {
    std::vector<std::string> words = {"CLUSTER", "SYNCSLOTS", "SYNC", job.name};
    for (const SlotRange& range : RangesOf(job.slots)) {
      words.push_back(std::to_string(range.first));
      words.push_back(std::to_string(range.last));
    }
    AppendRequest(text, words);
  } else {
    if (line != "+RDBCHANNELSYNCSLOTS") return Fail("Unknown reply of the source: " + PrintablePart(line, 200));
    channel.is_streaming = true;
    return Connect(snapshot_);
  }
  channel.link->Send(text);
}

void SlotSourceLink::HandleEnd(Channel& channel, const std::string& reason) {
  channel.link.reset();
  if (&channel == &snapshot_ && is_following_) return;
  Fail("the connection to the source ended" + (reason.empty() ? "" : ": " + reason));
}

void SlotSourceLink::Fail(const std::string& message) {
  main_.link.reset();
  snapshot_.link.reset();
  if (session_ == nullptr) return parts_.fail(message);
  parts_.imports.Fail(*session_, message);
  parts_.services.clients.registry.Close(*session_);
}

// --- The import.

void SlotSourceLink::BeginImport() {
  const Services& services = parts_.services;
  Session& session = services.clients.registry.Create(services.env.clock.MonotonicMs());
  session_ = &session;
  session.user = &user_;
  session.authenticated = true;
  session.no_evict = true;
  session.transport = this;
  session.addresses.peer = main_.link->PeerAddress();
  session.addresses.local = main_.link->LocalAddress();
  session.replies.TurnOff();
  session.cluster_options.is_internal = true;
  try {
    parts_.imports.Establish(session,
                             {.source = parts_.job->source, .name = parts_.job->name, .slots = parts_.job->slots});
  } catch (const Refusal& refusal) {
    services.clients.registry.Close(session);
    return parts_.fail(refusal.text);
  }
  parts_.imports.PropagateHiding(*parts_.job);
  parts_.imports.Acknowledge(session);
}

void SlotSourceLink::Feed(Bytes bytes) {
  if (scratch_.empty()) scratch_.resize(kSourceScratchBytes);
  while (!bytes.empty() && session_ != nullptr && !resume_posted_ && !IsPaused()) {
    Channel& channel = active();
    const std::span<char> target = session_->in.ReadTarget(scratch_);
    const Bytes piece = bytes.substr(0, target.size());
    std::copy(piece.begin(), piece.end(), target.begin());
    bytes.remove_prefix(piece.size());
    session_->in.Received(piece.size());
    if (is_following_) following_bytes_ += static_cast<int64_t>(piece.size());
    Run();
    if (&channel == &active()) continue;
    if (!bytes.empty()) Fail(kMoreAfterSnapshot);
    return;  // the snapshot has ended, and FollowChanges has begun to read from the other connection
  }
  if (session_ == nullptr) return;
  rest_.append(bytes);
  // Until everything has run, reads nothing more, not even the end of the snapshot's connection.
  if (!rest_.empty() || resume_posted_ || IsPaused()) active().link->SetReading(Link::Reading::kOff);
}

void SlotSourceLink::Run() {
  const Pump::Outcome outcome = pump_.Run(*session_);
  if (session_ == nullptr) return;
  if (outcome == Pump::Outcome::kMore) return Resume();
  if (outcome != Pump::Outcome::kIdle) return;
  if (!is_following_ && parts_.job->state == State::kFollowing) FollowChanges();
}

void SlotSourceLink::Resume() {
  if (!parts_.services.env.host || std::exchange(resume_posted_, true)) return;
  parts_.services.env.host->Post([weak = weak_from_this()] {
    const std::shared_ptr<SlotSourceLink> self = weak.lock();
    if (self == nullptr) return;
    self->resume_posted_ = false;
    self->Continue();
  });
}

void SlotSourceLink::Continue() {
  if (session_ == nullptr) return;
  Run();
  if (session_ == nullptr || resume_posted_ || IsPaused()) return;
  const std::string rest = std::exchange(rest_, {});
  if (!rest.empty()) Feed(rest);
  if (session_ == nullptr || resume_posted_ || IsPaused()) return;
  if (is_following_ && acked_ms_ == 0 && rest_.empty()) Acknowledge();
  if (rest_.empty() && active().link != nullptr) active().link->SetReading(Link::Reading::kOn);
}

void SlotSourceLink::FollowChanges() {
  if (session_->in.BufferedBytes() != 0) return Fail(kMoreAfterSnapshot);
  is_following_ = true;
  snapshot_.link.reset();
  session_->db = 0;
  rest_ = std::exchange(changes_, {});
  main_.link->SetReading(Link::Reading::kOff);
  Resume();
}

void SlotSourceLink::Acknowledge() {
  if (main_.link == nullptr) return;
  acked_ms_ = NowMs();
  const int64_t applied = following_bytes_ - static_cast<int64_t>(session_->in.BufferedBytes());
  std::string text;
  AppendRequest(text, {"CLUSTER", "SYNCSLOTS", "ACK", "wait-stream-eof", std::to_string(applied)});
  main_.link->Send(text);
}

void SlotSourceLink::Tick() {
  const int64_t now_ms = NowMs();
  const bool stood_still = acked_ms_ != 0 && now_ms - ticked_ms_ > kLongestStandstillMs;
  if (session_ != nullptr && stood_still) return Fail("this node stood still, so the source may serve the slots again");
  ticked_ms_ = now_ms;
  const int64_t limit_ms = int64_t{parts_.services.env.settings.repl_timeout} * 1000;
  if (main_.link != nullptr && now_ms - last_io_ms_ > limit_ms) return Fail("the source does not answer");
  if (acked_ms_ != 0 && now_ms - acked_ms_ >= kSlotAckEveryMs) Acknowledge();
}

// --- Transport.

void SlotSourceLink::Flush(size_t /*most_bytes*/) {
  session_->out.Consume(session_->out.Size());
  if (session_->close_after_reply) parts_.services.clients.registry.Close(*session_);
}

void SlotSourceLink::Close() {
  Session* const session = std::exchange(session_, nullptr);
  main_.link.reset();
  snapshot_.link.reset();
  if (session == nullptr) return;
  session->transport = nullptr;
  Clients& clients = parts_.services.clients.registry;
  const auto remove = [&clients, session] { clients.Remove(*session); };
  if (parts_.services.env.host) {
    parts_.services.env.host->Post(remove);
  } else {
    remove();
  }
}

}  // namespace respite
