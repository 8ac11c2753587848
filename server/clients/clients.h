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

#include "base/pace.h"
#include "server/clients/session.h"
#include "server/config/settings.h"

namespace respite {

class Clients {  // owns the sessions of all clients
 public:
  // `initial_user` is the user of new sessions.
  Clients(BlockPool& pool, const User& initial_user) : pool_(pool), initial_user_(initial_user) {}

  // Creates the session of a new client. This object owns the session until Remove.
  Session& Create(int64_t now_ms);  // adds the session of a new client
  // Creates a session without a client, for scripts and loading. It has no id and is in no list.
  std::unique_ptr<Session> CreateDetached() {  // a session without a client, for scripts and loading: no ID, unlisted
    return std::make_unique<Session>(0, pool_, initial_user_, 0);
  }
  void Remove(Session& session);  // frees the session

  Session* Find(uint64_t id) const;                  // null: there is no such session, or it is closing
  size_t Count() const { return sessions_.size(); }  // number of all sessions
  uint64_t NextId() const { return next_id_; }       // the id of the next client to connect
  // Calls visit(Session&) for all sessions in order of their ids. `visit` may close sessions, but not remove them.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // visits all sessions in order of their ids, also closing ones
    for (const auto& [id, session] : sessions_) visit(*session);
  }

  size_t UnauthenticatedBytes() const { return unauthenticated_bytes_; }  // input of clients that have not logged in
  void SetUnauthenticatedBytes(Session& session, size_t bytes) {          // sets this client's UnauthenticatedBytes
    unauthenticated_bytes_ = unauthenticated_bytes_ - session.unauthenticated_bytes + bytes;
    session.unauthenticated_bytes = bytes;
  }

  template <class Visit>
  void VisitNext(size_t count, Visit&& visit);  // visits the next `count` sessions, round robin

  void QueueFlush(Session& session) {  // at the end of the Turn, FlushQueued sends its replies
    if (session.queue_flags.to_flush_ || session.transport == nullptr) return;
    session.queue_flags.to_flush_ = true;
    sessions_to_flush_.push_back(&session);
  }
  // Adds the session to those whose output contains messages to send. FlushQueued sends the replies of other sessions
  // first, so that their clients can send the next request meanwhile.
  void QueueMessages(Session& session) {  // at the end of the Turn, FlushQueued sends its messages
    CountMessage();
    if (session.queue_flags.to_flush_ || session.transport == nullptr) return;
    session.queue_flags.to_flush_ = true;
    with_messages_.push_back(&session);
  }
  // Sends queued output at the end of a Turn. Each session with replies gets an equal share of the Turn's bytes.
  // Messages are sent only for a limited time, so that a change with thousands of listeners does not delay other
  // clients. Later Turns send the remaining messages.
  void FlushQueued(const Pace& pace);                              // sends queued output when a Turn ends
  bool HasUnsentMessages() const { return has_unsent_messages_; }  // the last FlushQueued could not send all messages
  bool HasUnsentMessagesFor(const Session& session) const {        // the last FlushQueued could not send its output
    return has_unsent_messages_ && session.queue_flags.to_flush_;
  }
  uint64_t MessageCount() const { return message_count_; }  // number of messages counted by CountMessage
  void CountMessage() { ++message_count_; }                 // called for each message that is published or queued
  // Sets a function that is called for each session after FlushQueued has sent its output, to measure its memory
  // (ClientMemory); null: none.
  void SetMeasureAfterFlush(std::function<void(Session&)> measure) { measure_ = std::move(measure); }  // null: none
  void Close(Session& session);  // closes the connection now; Remove frees the session later
  // Sets a function that is called when a session closes, and again when it is removed. It must drop all pointers to
  // the session.
  void SetCloseHandler(std::function<void(Session&)> handler) { on_close_ = std::move(handler); }  // also at removal

  // Adds a session whose request waits for the end of CLIENT PAUSE. TakePaused returns these sessions in order of
  // arrival.
  void AddPaused(Session& session);                      // its request waits for CLIENT PAUSE to end
  size_t PausedCount() const { return paused_.size(); }  // sessions that wait for CLIENT PAUSE to end
  std::vector<Session*> TakePaused();                    // returns these sessions, and empties the list

  // Adds a session whose blocking request has ended. Its reply is sent like a message, and its further input runs at
  // the end of the Turn.
  void QueueUnblocked(Session& session);  // its wait has ended: sends its reply, runs its input
  std::vector<Session*> TakeUnblocked();  // returns the sessions of QueueUnblocked, and empties the list
  bool HasUnblockedSessions() const { return !unblocked_.empty(); }  // TakeUnblocked would return a session

 private:
  static constexpr int64_t kMaxMessageFlushUs = 1000;  // how long FlushQueued may send messages in one Turn
  // The number of bytes that one Turn sends, divided equally among the sessions with output. Each session may send at
  // least kMinBytesPerFlush and at most kMaxBytesPerFlush. Copying 4 MB to the sockets takes about two milliseconds.
  static constexpr size_t kBytesPerTurn = size_t{4} * 1024 * 1024;
  static constexpr size_t kMaxBytesPerFlush = size_t{512} * 1024;
  static constexpr size_t kMinBytesPerFlush = size_t{64} * 1024;

  void Flush(size_t place, size_t max_bytes);  // sends output of flushing_sessions_[place]

  BlockPool& pool_;                                        // memory of the sessions' output
  const User& initial_user_;                               // the user of new sessions
  uint64_t next_id_ = 1;                                   // id of the next session
  uint64_t last_visited_id_ = 0;                           // id of the session that VisitNext visited last
  size_t unauthenticated_bytes_ = 0;                       // input of clients that have not logged in
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;  // all sessions by id
  std::vector<Session*> sessions_to_flush_;                // sessions that have replies to send when the Turn ends
  std::vector<Session*> with_messages_;      // sessions that have messages to send; flushed after sessions_to_flush_
  uint64_t message_count_ = 0;               // number of messages counted by CountMessage
  bool has_unsent_messages_ = false;         // the last FlushQueued could not send all messages
  std::vector<Session*> flushing_sessions_;  // sessions whose output FlushQueued is sending
  std::vector<Session*> paused_;             // sessions whose requests wait for CLIENT PAUSE to end
  std::vector<Session*> unblocked_;          // sessions whose blocking request has ended
  std::function<void(Session&)> measure_;    // measures a session's memory after each flush; may be null
  std::function<void(Session&)> on_close_ = [](Session&) {};  // called when a session closes or is removed
};

class TimerFrequency {  // hz: timer ticks per second; grows with the number of clients under dynamic-hz
 public:
  TimerFrequency(const Settings& settings, const Clients& clients)
      : settings_(settings), clients_(clients), hz_(settings.hz) {}

  int Hz() const { return hz_; }  // timer ticks per second
  void UpdateFrequency() {        // adapts hz to the directives and clients, from the next tick on
    hz_ = settings_.hz;
    if (!settings_.dynamic_hz) return;
    while (clients_.Count() / static_cast<size_t>(hz_) > kClientsPerTick && hz_ < kMaxHz)
      hz_ = std::min(hz_ * 2, kMaxHz);
  }

 private:
  static constexpr size_t kClientsPerTick = 200;  // dynamic-hz raises hz above this; Redis: MAX_CLIENTS_PER_CLOCK_TICK

  const Settings& settings_;  // values of the directives
  const Clients& clients_;    // their number influences hz
  int hz_;
};

template <class Visit>
void Clients::VisitNext(size_t count, Visit&& visit) {  // visits the next `count` sessions, round robin
  for (size_t left = std::min(count, sessions_.size()); left > 0; --left) {
    auto next = sessions_.upper_bound(last_visited_id_);
    if (next == sessions_.end()) next = sessions_.begin();
    last_visited_id_ = next->first;
    visit(*next->second);
  }
}

}  // namespace respite
