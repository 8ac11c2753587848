#include "server/clients/blocked_clients.h"

#include <set>

#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/runtime/server_phase.h"

namespace respite {

void BlockedClients::Block(Session& session, const Command& command, std::span<const Bytes> arguments,
                           const BlockCondition& awaited) {
  auto blocked = std::make_unique<BlockedClient>(BlockedClient{.session = &session,
                                                               .command = &command,
                                                               .words = awaited.words,
                                                               .type = awaited.type,
                                                               .loss = awaited.loss,
                                                               .answer = awaited.answer,
                                                               .waits_for_acks_or_disk = awaited.waits_for_acks_or_disk,
                                                               .can_be_unblocked = awaited.can_be_unblocked,
                                                               .places = {},
                                                               .deletion_queue_places = {}});
  if (blocked->words.empty()) blocked->words.assign(arguments.begin(), arguments.end());
  const int64_t now_ms = (parts_.current_execution.NowUs() + 999) / 1000;  // rounded up: no wait is too short
  if (kept_deadline_ms_) {
    blocked->deadline_ms = *kept_deadline_ms_;
  } else if (awaited.timeout_ms != 0) {
    blocked->deadline_ms = now_ms + awaited.timeout_ms;
  }
  if (awaited.retry_ms != 0) blocked->retry_at_ms = now_ms + awaited.retry_ms;
  const std::set<Bytes> keys(awaited.keys.begin(), awaited.keys.end());  // each key once
  for (Bytes key : keys) {
    blocked->places.push_back(queues_.Add(session.db, key, blocked.get()));
    if (blocked->loss == BlockCondition::KeyLoss::kEndsWait) {
      blocked->deletion_queue_places.push_back(deletion_queues_.Add(session.db, key, blocked.get()));
    }
  }
  if (blocked->waits_for_acks_or_disk) ids_waiting_for_acks_or_disk_.insert(session.id);
  if (blocked->DueMs() != BlockedClient::kNoDeadline) deadlines_.insert({blocked->DueMs(), session.id});
  session.blocked_client = std::move(blocked);
}

std::unique_ptr<BlockedClient> BlockedClients::Take(Session& session) {
  std::unique_ptr<BlockedClient> blocked = std::move(session.blocked_client);
  if (blocked == nullptr) return blocked;
  for (const auto& place : blocked->places) queues_.Remove(place);
  for (const auto& place : blocked->deletion_queue_places) deletion_queues_.Remove(place);
  deadlines_.erase({blocked->DueMs(), session.id});
  if (blocked->waits_for_acks_or_disk) ids_waiting_for_acks_or_disk_.erase(session.id);
  return blocked;
}

void BlockedClients::End(Session& session, UnblockReason reason) {
  const std::unique_ptr<BlockedClient> blocked = Take(session);
  parts_.runner->ReplyToEndedWait(*blocked, reason);
  parts_.clients.QueueUnblocked(session);
}

void BlockedClients::EndAllWaits(UnblockReason reason) {
  std::vector<Session*> all;
  parts_.clients.ForEach([&](Session& session) {
    if (session.blocked_client != nullptr && !session.closing) all.push_back(&session);
  });
  for (Session* session : all) End(*session, reason);
}

void BlockedClients::RunRequestsWaitingForAcksOrDisk() {
  if (ids_waiting_for_acks_or_disk_.empty()) return;
  parts_.runner->ReadClocks();
  // Copies the ids, because a request that runs again may close other sessions. A session that closes removes its id
  // from the set.
  for (const uint64_t id :
       std::vector<uint64_t>(ids_waiting_for_acks_or_disk_.begin(), ids_waiting_for_acks_or_disk_.end())) {
    if (ids_waiting_for_acks_or_disk_.contains(id)) Rerun(*parts_.clients.Find(id));
  }
}

void BlockedClients::RunDue(int64_t) {
  if (deadlines_.empty()) return;
  parts_.runner->ReadClocks();
  const int64_t now_ms = parts_.current_execution.NowMs();
  for (int left = kMaxEndedPerTurn; left > 0 && !deadlines_.empty() && deadlines_.begin()->at_ms <= now_ms; --left) {
    Session& session = *parts_.clients.Find(deadlines_.begin()->client);
    if (session.blocked_client->deadline_ms <= now_ms) {
      End(session, UnblockReason::kTimeout);
    } else {
      Rerun(session);
    }
  }
}

std::string BlockedClients::NextDueText() const {
  const Session& session = *parts_.clients.Find(deadlines_.begin()->client);
  return StrCat(ToUpper(session.blocked_client->command->full_name), " of client ", session.id, " times out");
}

void BlockedClients::MarkReady(int db, Bytes key, Queue& queue) {
  if (queue.is_ready) return;
  queue.is_ready = true;
  ready_keys_.push_back({db, std::string(key)});
}

void BlockedClients::MarkKeysReady(int db) {
  const Database& data = parts_.keyspace[db];
  queues_.ForEachInDatabase(db, [&](const KeyName& name, Queue& line) {
    if (data.Find(name.key) != nullptr || deletion_queues_.Find(db, name.key) != nullptr) MarkReady(db, name.key, line);
  });
}

void BlockedClients::RunAllReadyRequests() {
  if (parts_.env.phase.IsLoading()) return;  // served after loading
  if (is_running_ready_requests_) return;    // called by a request that runs again; the outer call serves its keys
  is_running_ready_requests_ = true;
  while (!ready_keys_.empty()) {
    for (const KeyName& name : std::exchange(ready_keys_, {})) RunRequestsOfKey(name);
  }
  is_running_ready_requests_ = false;
}

void BlockedClients::RunRequestsOfKey(const KeyName& name) {
  Queue* line = queues_.Find(name.db, name.key);
  if (line == nullptr) return;
  line->is_ready = false;
  size_t left = line->members.size();  // sessions that block again are appended and not visited again
  // Marks the position in the queue by a member with a null session (the walker), which moves along the queue and which
  // no request removes. An iterator could become invalid, because a request that runs again may close any session, also
  // the next one in this queue.
  const auto walker = queues_.Add(name.db, name.key, nullptr);
  queues_.MoveToFront(walker);
  for (BlockedClient** next = queues_.StepOverNext(walker); next != nullptr && left > 0;
       next = queues_.StepOverNext(walker), --left) {
    const Entry* entry = parts_.keyspace[name.db].Find(name.key);
    const bool comes = entry != nullptr && !entry->IsExpired(parts_.current_execution.WallMs());
    if (!comes && deletion_queues_.Find(name.db, name.key) == nullptr) break;
    const BlockedClient& blocked = **next;
    if ((comes && entry->Type() == blocked.type) || blocked.loss == BlockCondition::KeyLoss::kEndsWait)
      Rerun(*blocked.session);
  }
  queues_.Remove(walker);
}

void BlockedClients::Rerun(Session& session, Progress::Stage stage) {
  const std::unique_ptr<BlockedClient> blocked = Take(session);
  const std::vector<Bytes> words(blocked->words.begin(), blocked->words.end());
  kept_deadline_ms_ = blocked->deadline_ms;
  const auto outcome = parts_.runner->RunAgain(session, *blocked->command, words, stage);
  kept_deadline_ms_.reset();
  if (outcome == RequestRunner::Outcome::kDone || outcome == RequestRunner::Outcome::kUnfinished)
    parts_.clients.QueueUnblocked(session);
}

}  // namespace respite
