#include "server/lab/recording/replay.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/str_cat.h"
#include "protocol/request_text.h"

namespace respite {

namespace {

// How long, in ms of real time, the replay waits for missing replies before it moves the server's clock (TEST CLOCK) to
// the time of the next event. A blocked command may reply only when its timeout passes on that clock.
constexpr int64_t kMayWaitForClockMs = 20;
// How long, in ms of real time, the replay waits for missing replies. Afterwards it closes the connections that lack
// replies. If the replay does not use TEST CLOCK, it waits longer, by the recorded time since the last request or
// connection.
constexpr int64_t kPatienceMs = 5000;
constexpr int64_t kClockPatienceMs = 30'000;  // how long the replay waits for the reply to TEST CLOCK before it fails
constexpr int64_t kLookAgainMs = 5;
constexpr int64_t kUsPerMs = 1000;
constexpr size_t kShown = 300;

std::string Shortened(std::string text) {
  if (text.size() <= kShown) return text;
  text.resize(kShown);
  text.append("...");
  return text;
}

std::string Shown(const std::optional<ReplyTree>& reply) {
  return reply ? Shortened(reply->ReadableText()) : "no reply";
}

std::string Shown(const std::vector<std::string>& words) { return Shortened(JoinQuoted(words)); }

}  // namespace

Replay::Replay(Parts parts, Recording recording, Options options)
    : parts_(std::move(parts)),
      recording_(std::move(recording)),
      options_(std::move(options)),
      time_(options_.time == Time::kServersClock && ClientsMoveClock() ? Time::kReal : options_.time),
      judge_(parts_.commands, options_.ignored),
      began_ms_(parts_.real_clock.NowMs()),
      progress_at_ms_(began_ms_) {
  if (time_ == Time::kServersClock) ConnectClock();
}

// Returns true if a recorded client may have moved the server's clock, or used a world (an isolated server with a clock
// of its own). Then the replay itself must not move the clock, because the client would see other times than in the
// recording.
bool Replay::ClientsMoveClock() const {
  std::map<uint64_t, UnansweredRequests> clients;
  return std::ranges::any_of(recording_.events, [&](const RecordedEvent& event) {
    if (event.kind == Kind::kClose) clients.erase(event.connection);
    if (event.kind != Kind::kIn) return false;
    UnansweredRequests& client = clients[event.connection];
    client.Feed(event.bytes);
    return client.MayHaveMovedClock();
  });
}

std::optional<int64_t> Replay::Continue() {
  CompareArrived();
  while (outcome_.failure.empty() && next_ < recording_.events.size()) {
    const RecordedEvent& event = recording_.events[next_];
    if (!TryReach(event)) return outcome_.failure.empty() ? std::optional(kLookAgainMs) : std::nullopt;
    Perform(event);
    ++next_;
    progress_at_ms_ = parts_.real_clock.NowMs();
  }
  if (!outcome_.failure.empty()) return std::nullopt;
  if (!recording_.events.empty() && !TryReach({.at_us = recording_.events.back().at_us, .kind = Kind::kClose})) {
    return outcome_.failure.empty() ? std::optional(kLookAgainMs) : std::nullopt;
  }
  Finish();
  return std::nullopt;
}

// --- Waiting.

bool Replay::HasPendingReplies() const {
  return std::ranges::any_of(peers_, [](const auto& one) { return one.second->HasPendingReplies(); });
}

bool Replay::TryReach(const RecordedEvent& event) {
  if (event.kind == Kind::kOut) return true;
  if (EndIfUnreachable()) return false;
  if (HasPendingReplies()) {
    const int64_t recorded_ms = (event.at_us - performed_at_us_) / kUsPerMs;
    if (clock_connection_ != nullptr && MsSinceProgress() >= kMayWaitForClockMs && !MoveClock(event.at_us))
      return false;
    if (MsSinceProgress() < kPatienceMs + (clock_connection_ == nullptr ? recorded_ms : 0)) return false;
    GiveUpWaiting();
    return false;
  }
  return ReachRecordedTimeOf(event);
}

bool Replay::EndIfUnreachable() {
  for (const auto& [number, peer] : peers_) {
    if (peer->IsRefused()) outcome_.failure = "the server cannot be reached: " + peer->end_reason();
  }
  return !outcome_.failure.empty();
}

// Stops waiting for missing replies: reports and closes each connection on which replies are missing.
void Replay::GiveUpWaiting() {
  for (auto& [number, peer] : peers_) {
    if (!peer->HasPendingReplies()) continue;
    parts_.say(StrCat("connection ", number, ": the server owes replies, and is not waited for any longer"));
    ++outcome_.different;
    peer->HangUp();
  }
  progress_at_ms_ = parts_.real_clock.NowMs();
}

bool Replay::ReachRecordedTimeOf(const RecordedEvent& event) {
  switch (time_) {
    case Time::kNone:
      return true;
    case Time::kServersClock:
      return MoveClock(event.at_us);
    case Time::kReal:
      break;
  }
  const double due_ms = static_cast<double>(event.at_us) / kUsPerMs / options_.speed;
  return static_cast<double>(parts_.real_clock.NowMs() - began_ms_) >= due_ms;
}

bool Replay::MoveClock(int64_t at_us) {
  if (clock_connection_->IsRefused())
    outcome_.failure = "the server cannot be reached: " + clock_connection_->end_reason();
  if (MsSinceProgress() > kClockPatienceMs) outcome_.failure = "the server's clock does not move";
  if (clock_connection_->HasEnded() && outcome_.failure.empty())
    ConnectClock();  // for example after CLIENT KILL in the recording
  while (const auto pair = clock_connection_->Next(ReplayPeer::Moment::kEnd)) {
    const bool is_busy = pair->replayed && pair->replayed->text.starts_with("BUSY ");  // because a client runs a script
    if (pair->replayed && pair->replayed->IsError() && !is_busy) {
      outcome_.failure = "the server's clock cannot be moved: " + pair->replayed->ReadableText() + ". Try --speed 1";
    }
    --pending_clock_replies_;
    clock_ms_ = clock_to_ms_;
  }
  if (!clock_connection_->IsOpen() || pending_clock_replies_ != 0 || !outcome_.failure.empty()) return false;
  const int64_t to_ms = (recording_.start.began_us + at_us) / kUsPerMs;
  if (to_ms <= clock_ms_) return true;
  std::string request;
  AppendRequest(request, {"TEST", "CLOCK", clock_ms_ == 0 ? "FREEZE" : "SET", std::to_string(to_ms)});
  clock_connection_->Send(request);
  ++pending_clock_replies_;
  clock_to_ms_ = to_ms;
  return false;
}

void Replay::ConnectClock() {
  clock_connection_ = std::make_unique<ReplayPeer>(0, parts_.on_event);
  clock_connection_->Connect(parts_.network, options_.target);
  pending_clock_replies_ = 0;
}

// --- Events.

void Replay::Perform(const RecordedEvent& event) {
  if (event.kind == Kind::kOpen) {
    auto peer = std::make_unique<ReplayPeer>(event.connection, parts_.on_event);
    peer->Connect(parts_.network, options_.target);
    ++outcome_.connections;
    performed_at_us_ = event.at_us;
    peers_.emplace(event.connection, std::move(peer));
    return;
  }
  ReplayPeer* const peer = peers_.at(event.connection).get();
  switch (event.kind) {
    case Kind::kOpen:
      break;
    case Kind::kIn:
      peer->Ask(event.bytes);
      if (peer->IsOpen()) peer->Send(event.bytes);
      performed_at_us_ = event.at_us;
      break;
    case Kind::kOut:
      peer->FeedRecordedReplies(event.bytes);
      break;
    case Kind::kEnd:
      Compare(*peer, ReplayPeer::Moment::kEnd);
      if (peer->HasEnded()) ReportEarlyEnd(*peer);
      peer->HangUp();
      break;
    case Kind::kClose:
      peer->ExpectEnd();
      if (peer->HasEnded()) CompareAndRemove(event.connection);
      break;
  }
}

// Reports a connection that the new server has closed, although in the recording the client ended it.
void Replay::ReportEarlyEnd(const ReplayPeer& peer) {
  if (peer.end_reason().empty()) return;
  ++outcome_.different;
  parts_.say(StrCat("connection ", peer.number(), ": the server ended it (", peer.end_reason(), ")"));
}

void Replay::Finish() {
  while (!peers_.empty()) CompareAndRemove(peers_.begin()->first);
}

void Replay::CompareAndRemove(uint64_t connection) {
  const auto found = peers_.find(connection);
  ReplayPeer& peer = *found->second;
  Compare(peer, ReplayPeer::Moment::kEnd);
  outcome_.requests += peer.requests();
  if (peer.IsIncomparable()) ++outcome_.incomparable;
  peers_.erase(found);
}

// --- Comparison.

void Replay::CompareArrived() {
  std::vector<uint64_t> ended;
  for (auto& [number, peer] : peers_) {
    Compare(*peer, ReplayPeer::Moment::kUnderWay);
    if (peer->IsOver()) ended.push_back(number);
  }
  for (const uint64_t connection : ended) CompareAndRemove(connection);
}

void Replay::Compare(ReplayPeer& peer, ReplayPeer::Moment moment) {
  while (const auto pair = peer.Next(moment)) Judge(peer, *pair);
}

void Replay::Judge(const ReplayPeer& peer, const ReplayPeer::Pair& pair) {
  using Verdict = ReplyJudge::Verdict;
  Verdict verdict = Verdict::kDiffers;
  if (pair.recorded && pair.replayed) {
    verdict = pair.request                       ? judge_.Judge(*pair.request, *pair.recorded, *pair.replayed)
              : *pair.recorded == *pair.replayed ? Verdict::kSame
                                                 : Verdict::kDiffers;
  }
  switch (verdict) {
    case Verdict::kSame:
      ++outcome_.same;
      break;
    case Verdict::kUnjudged:
      ++outcome_.unjudged;
      break;
    case Verdict::kDiffers:
      ++outcome_.different;
      ReportDifference(peer, pair);
      break;
  }
}

void Replay::ReportDifference(const ReplayPeer& peer, const ReplayPeer::Pair& pair) {
  const std::string what = pair.request ? Shown(pair.request->words) : "a message";
  parts_.say(StrCat("connection ", peer.number(), ": ", what, "\n  recorded: ", Shown(pair.recorded),
                    "\n  replayed: ", Shown(pair.replayed)));
}

}  // namespace respite
