// Clients: all sessions by id, and lists of sessions with work for the end of the Turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/pace.h"
#include "server/clients/session.h"
#include "server/config/settings.h"

namespace respite {

class Clients {
 public:
  // New sessions belong to the user `initial_user`.
  Clients(BlockPool& pool, const User& initial_user) : pool_(pool), initial_user_(initial_user) {}

  // Creates a session with the next id. Clients owns it until Remove.
  Session& Create(int64_t now_ms);
  // Creates a session without a client: it has no id and is in no list.
  std::unique_ptr<Session> CreateDetached() { return std::make_unique<Session>(0, pool_, initial_user_, 0); }
  void Remove(Session& session);

  // Returns null if the session does not exist or is closing.
  Session* Find(uint64_t id) const;
  size_t Count() const { return sessions_.size(); }
  uint64_t NextId() const { return next_id_; }
  // Visits all sessions in order of id, including closing ones. `visit` may close sessions, but not remove them.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [id, session] : sessions_) visit(*session);
  }

  // Returns the memory of unfinished requests of clients that have not logged in, as noted by ClientLimits.
  size_t UnauthenticatedBytes() const { return unauthenticated_bytes_; }
  void NoteUnauthenticatedBytes(Session& session, size_t bytes) {
    unauthenticated_bytes_ = unauthenticated_bytes_ - session.unauthenticated_bytes + bytes;
    session.unauthenticated_bytes = bytes;
  }

  // Visits the next `count` sessions, round robin.
  template <class Visit>
  void Rotate(size_t count, Visit&& visit);

  // Sends the session's replies when the Turn ends.
  void QueueFlush(Session& session) {
    if (session.queue_marks.to_flush_ || session.transport == nullptr) return;
    session.queue_marks.to_flush_ = true;
    to_flush_.push_back(&session);
  }
  // Queues messages to a session, to be sent when the Turn ends. Replies are flushed first, so that their clients can
  // send the next request while messages are flushed.
  void QueueMessages(Session& session) {
    CountMessage();
    if (session.queue_marks.to_flush_ || session.transport == nullptr) return;
    session.queue_marks.to_flush_ = true;
    with_messages_.push_back(&session);
  }
  // Sends queued output at the end of a Turn: all replies, but messages only for a limited time, so that a change with
  // thousands of listeners does not delay other clients.
  void FlushQueued(const Pace& pace);
  // Returns whether the last FlushQueued could not send all messages.
  bool IsBehind() const { return is_behind_; }
  // Returns whether this session still waits for such a flush.
  bool IsBehindWith(const Session& session) const { return is_behind_ && session.queue_marks.to_flush_; }
  // Returns the number of messages so far.
  uint64_t MessageCount() const { return messages_; }
  void CountMessage() { ++messages_; }
  // Sets a function that measures each session after a flush (ClientMemory); may be null.
  void MeasureFlushed(std::function<void(Session&)> measure) { measure_ = std::move(measure); }
  // Closes the transport immediately, and ends input and output.
  void Close(Session& session);
  // Sets a handler that must drop all pointers to a session. It is called when a session closes and when it is removed.
  void OnClose(std::function<void(Session&)> handler) { on_close_ = std::move(handler); }

  // Adds a session whose request waits for CLIENT PAUSE to end. Sessions keep the order of arrival.
  void AddPaused(Session& session);
  size_t PausedCount() const { return paused_.size(); }
  // Returns the sessions with a paused request, and empties their list.
  std::vector<Session*> TakePaused();

  // Queues a session whose wait has ended: its reply is sent like a message, and its further input runs at the end of
  // the Turn.
  void QueueUnblocked(Session& session);
  // Returns the unblocked sessions, and empties their list.
  std::vector<Session*> TakeUnblocked();
  bool HasUnblocked() const { return !unblocked_.empty(); }

 private:
  static constexpr int64_t kMessagesUs = 1000;  // per Turn; at least one session is flushed
  // Bytes per Turn, shared by clients that read long replies as fast as the server sends them. Copying them to the
  // sockets takes about two milliseconds. Each client gets at least the minimum.
  static constexpr size_t kBytesPerTurn = size_t{4} * 1024 * 1024;
  static constexpr size_t kMostPerFlush = size_t{512} * 1024;
  static constexpr size_t kLeastPerFlush = size_t{64} * 1024;

  void Flush(size_t place, size_t most_bytes);

  BlockPool& pool_;
  const User& initial_user_;
  uint64_t next_id_ = 1;
  uint64_t rotated_to_ = 0;
  size_t unauthenticated_bytes_ = 0;
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;
  std::vector<Session*> to_flush_;
  std::vector<Session*> with_messages_;  // flushed after to_flush_
  uint64_t messages_ = 0;
  bool is_behind_ = false;
  std::vector<Session*> flushing_;
  std::vector<Session*> paused_;
  std::vector<Session*> unblocked_;
  std::function<void(Session&)> measure_;
  std::function<void(Session&)> on_close_ = [](Session&) {};
};

// The frequency of the timer (hz). With dynamic-hz it grows with the number of clients.
class TimerFrequency {
 public:
  TimerFrequency(const Settings& settings, const Clients& clients)
      : settings_(settings), clients_(clients), hz_(settings.hz) {}

  int Hz() const { return hz_; }
  // Applies the directives from the next tick on.
  void Adjust() {
    hz_ = settings_.hz;
    if (!settings_.dynamic_hz) return;
    while (clients_.Count() / static_cast<size_t>(hz_) > kClientsPerTick && hz_ < kMaxHz)
      hz_ = std::min(hz_ * 2, kMaxHz);
  }

 private:
  static constexpr size_t kClientsPerTick = 200;  // Redis: MAX_CLIENTS_PER_CLOCK_TICK, the goal of dynamic-hz

  const Settings& settings_;
  const Clients& clients_;
  int hz_;
};

template <class Visit>
void Clients::Rotate(size_t count, Visit&& visit) {
  for (size_t left = std::min(count, sessions_.size()); left > 0; --left) {
    auto next = sessions_.upper_bound(rotated_to_);
    if (next == sessions_.end()) next = sessions_.begin();
    rotated_to_ = next->first;
    visit(*next->second);
  }
}

}  // namespace respite
