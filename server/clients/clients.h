// Clients: owns the sessions of all clients, by id. Also has lists of the sessions for which work is left at the end of
// the Turn (a pass of the event loop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/real_clock.h"
#include "server/clients/session.h"
#include "server/config/settings.h"

namespace respite {

class Clients {  // owns the sessions of all clients, and finds them by id
 public:
  // `initial_user` is the user of new sessions.
  Clients(BlockPool& pool, const User& initial_user) : pool_(pool), initial_user_(initial_user) {}

  // Creates the session of a new client. This object owns the session until Remove.
  Session& Create(int64_t now_ms);  // adds the session of a client that has connected
  // Creates a session without a client, for scripts and loading. Its id is 0, and no list contains the session.
  std::unique_ptr<Session> CreateDetached() {  // makes a session without a client
    return std::make_unique<Session>(0, pool_, initial_user_, 0);
  }
  void Remove(Session& session);  // frees a closed session

  Session* Find(uint64_t id) const;                  // the session with this id; null: none, or it is closing
  size_t Count() const { return sessions_.size(); }  // number of sessions, also closing ones
  size_t OpenCount() const { return sessions_.size() - closing_count_; }  // number of sessions that are not closing
  uint64_t NextId() const { return next_id_; }                            // id that the next new client will get
  // Calls visit(Session&) for all sessions in order of their ids. `visit` may close sessions, but not remove them.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(Session&) for each session in order of ids, also closing ones
    for (const auto& [id, session] : sessions_) visit(*session);
  }

  size_t UnauthenticatedBytes() const { return unauthenticated_bytes_; }  // input memory of clients before their login
  void SetUnauthenticatedBytes(Session& session, size_t bytes) {          // sets what a session adds to the sum
    unauthenticated_bytes_ = unauthenticated_bytes_ - session.unauthenticated_bytes + bytes;
    session.unauthenticated_bytes = bytes;
  }

  template <class Visit>
  void VisitNext(size_t count, Visit&& visit);  // calls visit(Session&) for `count` sessions after the last visited one

  void QueueFlush(Session& session) {  // FlushQueued will send the session's replies when the Turn ends
    if (session.queue_flags.is_in_flush_queue_ || session.transport == nullptr) return;
    session.queue_flags.is_in_flush_queue_ = true;
    sessions_to_flush_.push_back(&session);
  }
  // Adds the session to with_messages_, because its output contains messages (pub/sub, invalidations) to send.
  // FlushQueued sends the replies to requests first, so that clients can send their next request meanwhile.
  void QueueMessages(Session& session) {  // FlushQueued will send the session's messages when the Turn ends
    CountMessage();
    if (session.queue_flags.is_in_flush_queue_ || session.transport == nullptr) return;
    session.queue_flags.is_in_flush_queue_ = true;
    with_messages_.push_back(&session);
  }
  // Sends queued output at the end of a Turn. Each session gets an equal share of the Turn's bytes. Messages are sent
  // only for a limited time, so that a message to thousands of clients does not delay the replies to others. Later
  // Turns send the remaining messages.
  void FlushQueued(const RealClock& real_clock);  // sends the output of queued sessions, when a Turn ends
  bool HasUnsentMessages() const { return has_unsent_messages_; }  // the last FlushQueued left messages unsent
  bool HasUnsentMessagesFor(const Session& session) const {        // true: this session may have unsent messages
    return has_unsent_messages_ && session.queue_flags.is_in_flush_queue_;
  }
  uint64_t MessageCount() const { return message_count_; }  // grows with each message: shows if a request caused one
  void CountMessage() { ++message_count_; }                 // counts a published or queued message, for MessageCount
  // Sets a function that is called for each session after FlushQueued has sent its output, to measure its memory
  // (ClientMemory); null: none.
  void SetMeasureAfterFlush(std::function<void(Session&)> measure) {  // called with each flushed session; null: none
    measure_ = std::move(measure);
  }
  void Close(Session& session);  // closes the connection, calls the close handler; Remove frees the session later
  // Sets a function that is called when a session closes, and again when it is removed. The function must drop all
  // pointers to the session.
  void SetCloseHandler(std::function<void(Session&)> handler) {  // called when a session closes, and when it is removed
    on_close_ = std::move(handler);
  }

  // TakePaused returns the added sessions in order of arrival.
  void AddPaused(Session& session);  // adds a session whose request waits for the end of CLIENT PAUSE or PauseWrites
  size_t PausedCount() const { return paused_.size(); }  // sessions whose requests wait for the end of a pause
  std::vector<Session*> TakePaused();  // returns the sessions that AddPaused has added, and empties the list

  // Adds a session whose blocking request has ended, or whose delay (TEST FAULT) has ended. At the end of the Turn, its
  // further input runs, and its reply is sent (QueueMessages). Ignores a session without a client (id 0).
  void QueueUnblocked(Session& session);  // its wait has ended; when the Turn ends, sends its reply and runs its input
  std::vector<Session*> TakeUnblocked();  // returns the sessions that QueueUnblocked has added, and empties the list
  bool HasUnblockedSessions() const { return !unblocked_.empty(); }  // true: TakeUnblocked returns some

 private:
  static constexpr int64_t kMaxMessageFlushUs = 1000;  // longest time in µs for which one FlushQueued sends messages
  // The number of bytes that one Turn sends, divided equally among the sessions with output. The share of each session
  // is at least kMinBytesPerFlush and at most kMaxBytesPerFlush. Copying 4 MB to the sockets takes about two
  // milliseconds.
  static constexpr size_t kBytesPerTurn = size_t{4} * 1024 * 1024;  // for all sessions together
  static constexpr size_t kMaxBytesPerFlush = size_t{512} * 1024;   // most bytes for one session
  static constexpr size_t kMinBytesPerFlush = size_t{64} * 1024;    // least bytes for one session

  // Sends messages of the sessions flushing_sessions_[first] and later, for at most kMaxMessageFlushUs, and puts the
  // remaining sessions back into with_messages_.
  void FlushMessages(size_t first, size_t max_bytes, const RealClock& real_clock);  // sends messages for a limited time
  void Flush(size_t place, size_t max_bytes);  // sends at most `max_bytes` of the session flushing_sessions_[place]

  BlockPool& pool_;                                        // owns free memory blocks for output
  const User& initial_user_;                               // user of new sessions, before they log in
  uint64_t next_id_ = 1;                                   // id that the next new client will get
  uint64_t last_visited_id_ = 0;                           // id of the session that VisitNext visited last
  size_t closing_count_ = 0;                               // how many sessions in sessions_ are closing
  size_t unauthenticated_bytes_ = 0;                       // memory of waiting input of clients that have not logged in
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;  // all sessions by id, also closing ones
  std::vector<Session*> sessions_to_flush_;                // sessions with replies to send when the Turn ends
  std::vector<Session*> with_messages_;      // sessions with messages to send when the Turn ends, after the replies
  uint64_t message_count_ = 0;               // messages counted by CountMessage since the start
  bool has_unsent_messages_ = false;         // the last FlushQueued had no time to send all messages
  std::vector<Session*> flushing_sessions_;  // sessions whose output FlushQueued is sending now
  std::vector<Session*> paused_;             // sessions whose requests wait for the end of a pause
  std::vector<Session*> unblocked_;          // sessions whose wait has ended; their further input must run
  std::function<void(Session&)> measure_;    // called for a session after its output was sent; may be null
  std::function<void(Session&)> on_close_ = [](Session&) {};  // called when a session closes or is removed
};

class TimerFrequency {  // hz: timer ticks per second; grows with the number of clients (dynamic-hz)
 public:
  TimerFrequency(const Settings& settings, const Clients& clients)
      : settings_(settings), clients_(clients), hz_(settings.hz) {}

  int Hz() const { return hz_; }  // timer ticks per second
  void UpdateFrequency() {        // sets hz by the directives and the number of clients
    hz_ = settings_.hz;
    if (!settings_.dynamic_hz) return;
    while (clients_.Count() / static_cast<size_t>(hz_) > kClientsPerTick && hz_ < kMaxHz)
      hz_ = std::min(hz_ * 2, kMaxHz);
  }

 private:
  static constexpr size_t kClientsPerTick = 200;  // with more clients per tick, dynamic-hz doubles hz

  const Settings& settings_;  // values of the directives
  const Clients& clients_;    // the sessions, whose number influences hz
  int hz_;                    // timer ticks per second
};

template <class Visit>
void Clients::VisitNext(size_t count, Visit&& visit) {  // visits the next `count` sessions by id, in a circle
  for (size_t left = std::min(count, sessions_.size()); left > 0; --left) {
    auto next = sessions_.upper_bound(last_visited_id_);
    if (next == sessions_.end()) next = sessions_.begin();
    last_visited_id_ = next->first;
    visit(*next->second);
  }
}

}  // namespace respite
