// Clients: all sessions, by id, and the list of those whose replies wait for the end of the Turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/pace.h"
#include "server/clients/session.h"

namespace respite {

class ClientMemory;

class Clients {
 public:
  // Sessions begin as `stranger`.
  Clients(BlockPool& pool, const User& stranger) : pool_(pool), stranger_(stranger) {}

  // A new session with the next id. Clients owns it until Remove.
  Session& Create(int64_t now_ms);
  // A session that is no client's: nobody finds it, and it has no id.
  std::unique_ptr<Session> CreateDetached() { return std::make_unique<Session>(0, pool_, stranger_); }
  void Remove(Session& session);

  // Null when there is none, or it is closing.
  Session* Find(uint64_t id) const;
  size_t Count() const { return sessions_.size(); }
  uint64_t NextId() const { return next_id_; }
  // Every session in order of id, those that are closing included. `visit` may close sessions (not remove them).
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [id, session] : sessions_) visit(*session);
  }

  // Visits the next `count` sessions, going round: repeated calls reach everyone.
  template <class Visit>
  void Rotate(size_t count, Visit&& visit) {
    for (size_t left = std::min(count, sessions_.size()); left > 0; --left) {
      auto next = sessions_.upper_bound(rotated_to_);
      if (next == sessions_.end()) next = sessions_.begin();
      rotated_to_ = next->first;
      visit(*next->second);
    }
  }

  // The session has replies: they are sent when the Turn ends.
  void QueueFlush(Session& session) {
    if (session.flush_queued || session.transport == nullptr) return;
    session.flush_queued = true;
    to_flush_.push_back(&session);
  }
  // The same for a session that others sent a message to. Replies go out first: who waits for one may send the next
  // request while the messages go out, so that the next Turn has more to do at once.
  void QueueMessages(Session& session) {
    CountMessage();
    if (session.flush_queued || session.transport == nullptr) return;
    session.flush_queued = true;
    with_messages_.push_back(&session);
  }
  // Sends what is queued, at the end of a Turn: all replies, but messages no longer than for a share of the Turn, so
  // that one change which thousands wait for does not hold up all others.
  void FlushQueued(const Pace& pace);
  // The last FlushQueued left messages over.
  bool IsBehind() const { return is_behind_; }
  // One of them, or a reply that stands in their line.
  bool IsBehindWith(const Session& session) const { return is_behind_ && session.flush_queued; }
  // How many messages there were so far.
  uint64_t Messages() const { return messages_; }
  void CountMessage() { ++messages_; }
  // Who measures sessions after they were flushed; null: nobody.
  void MeasureFlushed(ClientMemory* memory) { memory_ = memory; }
  // No more input, no more output; the transport goes at once.
  void Close(Session& session);
  // Called with each session when it closes and when it is removed, so that nobody keeps it in a list.
  void OnClose(std::function<void(Session&)> farewell) { farewell_ = std::move(farewell); }

  // CLIENT PAUSE: sessions whose request waits, in the order in which they came.
  void AddPostponed(Session& session);
  size_t PostponedCount() const { return postponed_.size(); }
  // Empties the list.
  std::vector<Session*> TakePostponed();

  // Sessions whose wait is over: their reply goes out like a message, and what else they have sent runs at the end of
  // the Turn.
  void Continue(Session& session);
  // Empties the list.
  std::vector<Session*> TakeContinued();

 private:
  static constexpr int64_t kMessagesUs = 1000;  // of a Turn; the first is sent, however long that takes

  void Flush(size_t place);

  BlockPool& pool_;
  const User& stranger_;
  uint64_t next_id_ = 1;
  uint64_t rotated_to_ = 0;
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;
  std::vector<Session*> to_flush_;
  std::vector<Session*> with_messages_;  // to flush behind those
  uint64_t messages_ = 0;
  bool is_behind_ = false;
  std::vector<Session*> flushing_;
  std::vector<Session*> postponed_;
  std::vector<Session*> continued_;
  ClientMemory* memory_ = nullptr;
  std::function<void(Session&)> farewell_ = [](Session&) {};
};

}  // namespace respite
