#include "server/clients/clients.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace respite {

Session& Clients::Create(int64_t now_ms) {
  uint64_t id = next_id_++;
  auto& slot = sessions_[id];
  slot = std::make_unique<Session>(id, pool_, initial_user_, now_ms);
  return *slot;
}

void Clients::Remove(Session& session) {
  SetUnauthenticatedBytes(session, 0);
  if (session.queue_flags.is_in_pause_queue_) std::erase(paused_, &session);
  if (session.queue_flags.is_in_unblocked_queue_) std::erase(unblocked_, &session);
  if (session.queue_flags.is_in_flush_queue_) {  // the test avoids O(n²) when thousands of clients disconnect together
    std::erase(sessions_to_flush_, &session);
    std::erase(with_messages_, &session);
  }
  std::replace(flushing_sessions_.begin(), flushing_sessions_.end(), &session, static_cast<Session*>(nullptr));
  on_close_(session);  // again, because a command may have registered the session after it was closed
  if (session.closing) --closing_count_;
  const bool leaves_blocks = session.out.HeldBytes() > BlockPool::kBlockBytes;
  sessions_.erase(session.id);
  if (leaves_blocks) pool_.Clear();  // the remaining clients need fewer blocks
}

Session* Clients::Find(uint64_t id) const {
  auto found = sessions_.find(id);
  return found == sessions_.end() || found->second->closing ? nullptr : found->second.get();
}

void Clients::FlushQueued(const RealClock& real_clock) {
  flushing_sessions_.swap(sessions_to_flush_);
  const size_t replies = flushing_sessions_.size();
  if (!with_messages_.empty()) {
    flushing_sessions_.insert(flushing_sessions_.end(), with_messages_.begin(), with_messages_.end());
    with_messages_.clear();
  }
  const size_t most_bytes =
      std::clamp(kBytesPerTurn / std::max(flushing_sessions_.size(), size_t{1}), kMinBytesPerFlush, kMaxBytesPerFlush);
  for (size_t i = 0; i < replies; ++i) Flush(i, most_bytes);  // by index, since a flush may remove any session
  has_unsent_messages_ = false;
  if (replies < flushing_sessions_.size()) FlushMessages(replies, most_bytes, real_clock);
  flushing_sessions_.clear();
}

void Clients::FlushMessages(size_t first, size_t max_bytes, const RealClock& real_clock) {
  const int64_t until_us = real_clock.NowUs() + kMaxMessageFlushUs;
  size_t at = first;
  do {
    Flush(at++, max_bytes);
  } while (at < flushing_sessions_.size() && real_clock.NowUs() < until_us);
  has_unsent_messages_ = at < flushing_sessions_.size();
  std::copy_if(flushing_sessions_.begin() + static_cast<ptrdiff_t>(at), flushing_sessions_.end(),
               std::back_inserter(with_messages_), [](const Session* session) { return session != nullptr; });
}

void Clients::Flush(size_t place, size_t max_bytes) {
  Session* session = flushing_sessions_[place];
  if (session == nullptr) return;
  session->queue_flags.is_in_flush_queue_ = false;
  if (!session->closing) session->transport->Flush(max_bytes);
  if (measure_ != nullptr && flushing_sessions_[place] != nullptr) measure_(*session);
}

void Clients::Close(Session& session) {
  if (session.closing) return;
  session.closing = true;
  if (session.id != 0) ++closing_count_;  // id 0: without a client, so not in sessions_
  on_close_(session);
  if (std::exchange(session.queue_flags.is_in_pause_queue_, false)) std::erase(paused_, &session);
  if (session.transport != nullptr) session.transport->Close();
}

void Clients::AddPaused(Session& session) {
  if (session.queue_flags.is_in_pause_queue_) return;
  session.queue_flags.is_in_pause_queue_ = true;
  paused_.push_back(&session);
}

std::vector<Session*> Clients::TakePaused() {
  for (Session* session : paused_) session->queue_flags.is_in_pause_queue_ = false;
  return std::exchange(paused_, {});
}

void Clients::QueueUnblocked(Session& session) {
  if (session.id == 0) return;  // id 0: the session has no client; its owner runs its requests, and may free it
  QueueMessages(session);
  if (std::exchange(session.queue_flags.is_in_unblocked_queue_, true)) return;
  unblocked_.push_back(&session);
}

std::vector<Session*> Clients::TakeUnblocked() {
  for (Session* session : unblocked_) session->queue_flags.is_in_unblocked_queue_ = false;
  return std::exchange(unblocked_, {});
}

}  // namespace respite
