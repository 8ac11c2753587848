#include "server/lab/key_history.h"

#include <algorithm>
#include <utility>

#include "server/catalogue/command_table.h"
#include "server/clients/session.h"
#include "server/execution/call_observer.h"

namespace respite {

namespace {

constexpr size_t kKeyMost = 1024;  // a longer key is never a lock
constexpr size_t kTokenMost = 128;

bool HasWord(std::span<const Bytes> words, Bytes wanted) {
  return std::ranges::any_of(words, [wanted](Bytes word) { return EqualsIgnoreCase(word, wanted); });
}

// Returns whether the command sets a key only if it is absent: SET key value NX, or SETNX key value.
bool SetsIfAbsent(Bytes command, std::span<const Bytes> words) {
  if (words.size() < 3) return false;
  return command == "setnx" || (command == "set" && HasWord(words.subspan(3), "nx"));
}

bool SetsField(Bytes command) { return command == "hincrby" || command == "hset" || command == "hsetnx"; }

bool SetsDeadline(Bytes command) {
  return command == "pexpire" || command == "expire" || command == "pexpireat" || command == "expireat";
}

// Returns how a lock ends when its key has this keyspace event; kHeld: the lock does not end.
LockRecord::End EndBy(Bytes event) {
  using End = LockRecord::End;
  if (event == "expired") return End::kExpired;
  if (event == "evicted") return End::kEvicted;
  if (event == "del" || event == "rename_from" || event == "move_from") return End::kDeleted;
  const bool is_new_value = event == "set" || event == "restore" || event == "rename_to" || event == "copy_to" ||
                            event == "move_to" || event == "sortstore";
  return is_new_value ? End::kOverwritten : End::kHeld;
}

}  // namespace

bool KeyHistory::KeyOrder::IsBefore(KeyView one, KeyView other) {
  return one.db != other.db ? one.db < other.db : one.key < other.key;
}

// --- Acquisition.

bool KeyHistory::HasCreated(int db, std::span<const Bytes> words) const {
  return has_created_key_ && words.size() >= 2 && created_key_.View() == KeyView{db, words[1]};
}

KeyHistory::LockAttempt KeyHistory::RecordCall(const FinishedCall& call,
                                               const std::shared_ptr<const RequestOwner>& client, JournalMoment at) {
  for (const uint64_t number : std::exchange(just_ended_, {})) {
    if (number < first_lock_) continue;
    LockRecord& lock = At(number);
    const bool is_by_itself = lock.end == LockRecord::End::kExpired || lock.end == LockRecord::End::kEvicted;
    if (!is_by_itself && lock.ended.next_seq == at.next_seq) lock.ended_by = client;
  }
  const LockAttempt attempt = DetectAcquiredLock(call, client, at);
  has_created_key_ = false;
  if (call.nesting == 0) has_possible_lock_ = false;
  return attempt;
}

void KeyHistory::ForgetUnrecordedCall() {
  just_ended_.clear();
  has_created_key_ = has_possible_lock_ = false;
}

KeyHistory::LockAttempt KeyHistory::DetectAcquiredLock(const FinishedCall& call,
                                                       const std::shared_ptr<const RequestOwner>& client,
                                                       JournalMoment at) {
  const Bytes command = call.command.full_name;
  const std::span<const Bytes> words = call.words;
  const int db = call.session.db;
  const auto lock = [&] {
    return LockRecord{.db = db,
                      .key = std::string(words[1]),
                      .token = std::string(words[2].substr(0, kTokenMost)),
                      .holder = client,
                      .created_by_entry = at.next_seq,
                      .acquired_us = at.wall_us};
  };
  if (SetsIfAbsent(command, words)) {
    if (call.ending == FinishedCall::Ending::kFailed || words[1].size() > kKeyMost) return LockAttempt::kNone;
    if (!HasCreated(db, words)) return LockAttempt::kMissed;
    RecordAcquiredLock(lock());
    return LockAttempt::kTook;
  }
  if (!call.session.IsScript()) return LockAttempt::kNone;
  if (SetsField(command) && words.size() >= 3 && HasCreated(db, words)) {
    possible_lock_ = lock();
    has_possible_lock_ = true;
  } else if (has_possible_lock_ && SetsDeadline(command) && words.size() >= 2 && possible_lock_.db == db &&
             possible_lock_.key == words[1]) {
    has_possible_lock_ = false;
    RecordAcquiredLock(possible_lock_);
    return LockAttempt::kTook;
  }
  return LockAttempt::kNone;
}

void KeyHistory::RecordAcquiredLock(const LockRecord& lock) {
  const uint64_t number = first_lock_ + locks_.size();
  locks_.push_back(lock);
  bytes_ += BytesOf(lock);
  held_lock_numbers_.insert_or_assign(Key{lock.db, lock.key}, number);
  MakeRoom();
}

// --- Extension and release.

void KeyHistory::OnKeyEvent(int db, Bytes key, const KeyEvent& event, JournalMoment at) {
  const Bytes name = event.Name();
  if (name == "new") {
    has_created_key_ = key.size() <= kKeyMost;
    if (has_created_key_) created_key_ = {db, std::string(key)};
    return;
  }
  const LockRecord::End end = EndBy(name);
  if (end == LockRecord::End::kExpired) {
    expired_keys_.push_back({++last_expired_key_, at, db, std::string(key.substr(0, kKeyMost))});
    bytes_ += BytesOf(expired_keys_.back());
    MakeRoom();
  }
  if (has_possible_lock_ && end != LockRecord::End::kHeld && possible_lock_.key == key) has_possible_lock_ = false;
  if (held_lock_numbers_.empty()) return;
  const auto found = held_lock_numbers_.find(KeyView{db, key});
  if (found == held_lock_numbers_.end()) return;
  if (name == "expire") ++At(found->second).prolong_count;
  if (end == LockRecord::End::kHeld) return;
  const uint64_t number = found->second;
  held_lock_numbers_.erase(found);
  End(number, end, at);
  if (end == LockRecord::End::kExpired) At(number).expired_key = last_expired_key_;
}

void KeyHistory::End(uint64_t number, LockRecord::End how, JournalMoment at) {
  At(number).end = how;
  At(number).ended = at;
  just_ended_.push_back(number);
}

template <class Condition>
void KeyHistory::EndMatching(LockRecord::End how, JournalMoment at, Condition&& condition) {
  std::erase_if(held_lock_numbers_, [&](const auto& row) {
    const bool ends = condition(row.first.db);
    if (ends) End(row.second, how, at);
    return ends;
  });
}

void KeyHistory::OnFlush(std::span<const int> dbs, JournalMoment at) {
  EndMatching(LockRecord::End::kFlushed, at, [dbs](int db) { return std::ranges::find(dbs, db) != dbs.end(); });
}

void KeyHistory::OnSwap(int one, int other) {
  std::map<Key, uint64_t, KeyOrder> moved;
  for (const auto& [key, number] : held_lock_numbers_) {
    const int db = key.db == one ? other : key.db == other ? one : key.db;
    At(number).db = db;
    moved.emplace(Key{db, key.name}, number);
  }
  held_lock_numbers_ = std::move(moved);
}

void KeyHistory::OnServerKilled(JournalMoment at) {
  EndMatching(LockRecord::End::kServerKilled, at, [](int) { return true; });
  ForgetUnrecordedCall();
}

// --- Memory limits.

void KeyHistory::DropOldestLock() {
  const LockRecord& oldest = locks_.front();
  const auto found = held_lock_numbers_.find(KeyView{oldest.db, oldest.key});
  if (found != held_lock_numbers_.end() && found->second == first_lock_) held_lock_numbers_.erase(found);
  bytes_ -= BytesOf(oldest);
  locks_.pop_front();
  ++first_lock_;
}

void KeyHistory::DropBefore(uint64_t first_seq) {
  while (!expired_keys_.empty() && expired_keys_.front().at.next_seq < first_seq) {
    bytes_ -= BytesOf(expired_keys_.front());
    expired_keys_.pop_front();
  }
  while (!locks_.empty() && locks_.front().end != LockRecord::End::kHeld && locks_.front().ended.next_seq < first_seq) {
    DropOldestLock();
  }
}

void KeyHistory::MakeRoom() {
  while (bytes_ > kMaxHistoryBytes && expired_keys_.size() > locks_.size()) {
    bytes_ -= BytesOf(expired_keys_.front());
    expired_keys_.pop_front();
  }
  while (bytes_ > kMaxHistoryBytes && locks_.size() > 1) DropOldestLock();
}

void KeyHistory::DropEnded() {
  std::deque<LockRecord> held;
  for (LockRecord& lock : locks_) {
    if (lock.end == LockRecord::End::kHeld) held.push_back(std::move(lock));
  }
  Clear();
  for (const LockRecord& lock : held) RecordAcquiredLock(lock);
}

void KeyHistory::Clear() {
  expired_keys_.clear();
  held_lock_numbers_.clear();
  first_lock_ += locks_.size();
  locks_.clear();
  bytes_ = 0;
  ForgetUnrecordedCall();
}

}  // namespace respite
