#include "server/lab/lint/lock_check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "server/clients/clients.h"
#include "server/clients/session.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kMaxLocks = 10'000;
constexpr size_t kMaxHolderKeys = 64;
constexpr size_t kMaxWorkedOn = 4 * 64;  // keys that one request works on
constexpr size_t kMaxFormer = 8;
constexpr Bytes kDeadlineOptions[] = {"EX", "PX", "EXAT", "PXAT"};
// The commands by which a script can read the value of a lock.
constexpr Bytes kShowingCommands[] = {"get", "mget", "getex", "getrange", "substr", "lcs"};
// Commands that change a value without overwriting it, such as INCR. A client can use them without knowing the old
// value.
constexpr Bytes kAddingCommands[] = {"incr",    "decr", "incrby", "decrby", "incrbyfloat", "hincrby", "hincrbyfloat",
                                     "zincrby", "sadd", "lpush",  "rpush",  "pfadd",       "xadd"};
constexpr Bytes kDeletingEvents[] = {"del", "rename_from", "move_from", "evicted"};
// The keyspace events that end a lock because its key was created again or overwritten as a whole.
constexpr Bytes kOverwritingEvents[] = {"new",         "set",        "restore",        "rename_to",
                                        "copy_to",     "move_to",    "sortstore",      "sinterstore",
                                        "sunionstore", "sdiffstore", "zrangestore",    "zunionstore",
                                        "zinterstore", "zdiffstore", "georadiusstore", "geosearchstore"};

// A request that may acquire a lock: SETNX, or SET with NX. They set a key only if it is absent.
struct Taking {
  KeyRef key;
  bool has_deadline;
};

std::optional<Taking> TakingOf(const LintRequest& request) {
  if (request.keys.IsEmpty()) return std::nullopt;
  if (request.Is("setnx")) return Taking{request.keys[0], false};
  if (!request.Is("set") || !request.HasOption(3, "NX")) return std::nullopt;
  const bool has_deadline =
      std::ranges::any_of(kDeadlineOptions, [&](Bytes word) { return request.HasOption(3, word); });
  return Taking{request.keys[0], has_deadline};
}

bool HasName(std::span<const Bytes> names, Bytes name) { return std::ranges::find(names, name) != names.end(); }

bool Deletes(const LintRequest& request) { return request.Is("del") || request.Is("unlink") || request.Is("getdel"); }

void AddKey(KeySet& keys, const KeyView& key) {
  if (keys.size() < kMaxHolderKeys && !keys.contains(key)) keys.insert(KeyName(key));
}

std::string ExplainLockWithoutTtl(const KeyName& key) {
  return QuotedForRemark(key.key) +
         " is set without a deadline. If its client ends before it deletes the key, nobody else gets it";
}

}  // namespace

void LockCheck::Holder::Use(const KeyView& key, bool only_adds) {
  const auto found = used.find(key);
  if (found != used.end()) {
    found->second = found->second || !only_adds;
  } else if (used.size() < kMaxHolderKeys) {
    used.emplace(key, !only_adds);
  }
}

bool LockCheck::Holder::HasReadOrSet(const KeyView& key) const {
  const auto found = used.find(key);
  return found != used.end() && found->second;
}

void LockCheck::CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) {
  if (request.place == Place::kQueued) return;
  NoteScript(request);
  CheckLockWithoutTtl(request, remarks);
  CheckForeignUnlock(request, remarks);
  CheckExpiredLockWork(request, remarks);
}

// Notes which keys the running script has read. If a script reads the key of a lock before it deletes the key, the lock
// counts as safely released: the script has probably compared the value with the client's token, and no other client
// can change the key in between.
void LockCheck::NoteScript(const LintRequest& request) {
  if (request.RunsScript()) read_by_script_.clear();
  if (request.place != Place::kInScript || !request.IsOneOf(kShowingCommands)) return;
  for (const KeyRef& key : request.keys) AddKey(read_by_script_, request.View(key));
}

void LockCheck::CheckLockWithoutTtl(const LintRequest& request, LintRemarks& remarks) {
  lock_being_taken_.reset();
  const auto taking = TakingOf(request);
  if (!taking) return;
  KeyName key = request.Key(taking->key);
  if (FindUnexpired(parts_, key) != nullptr) return;
  if (!taking->has_deadline) {
    // Checks the key only at the end of a transaction or script, because a later command may set the deadline.
    if (request.place == Place::kSent) {
      remarks.push_back({.rule = LintRule::kLockWithoutTtl, .why = ExplainLockWithoutTtl(key), .key = key.key});
    } else {
      locks_without_deadline_.push_back(key);
    }
  }
  lock_being_taken_ = std::move(key);
}

bool LockCheck::HasCompared(const LintRequest& request, const KeyView& key) const {
  const auto has = [&key](const KeySet& keys) { return keys.contains(key) || keys.size() >= kMaxHolderKeys; };
  if (request.place == Place::kInScript) return has(read_by_script_);
  if (request.place != Place::kInTransaction) return false;
  const auto watched = watches_.find(request.client.id);
  return watched != watches_.end() && has(watched->second);
}

void LockCheck::CheckForeignUnlock(const LintRequest& request, LintRemarks& remarks) {
  if (locks_.empty() || !Deletes(request)) return;
  for (const KeyRef& ref : request.keys) {
    const KeyView key = request.View(ref);
    const auto found = locks_.find(key);
    if (found == locks_.end() || !found->second.holder) continue;
    const LintClient& holder = found->second.holder->client;
    if (holder->id == request.client.id || FindUnexpired(parts_, key) == nullptr || HasCompared(request, key)) continue;
    const bool was_holder = std::ranges::any_of(
        found->second.former_holders, [&](const Holder& former) { return former.client->id == request.client.id; });
    remarks.push_back({.rule = LintRule::kForeignUnlock,
                       .why = QuotedForRemark(key.key) + " is the lock of " + NameForRemark(holder) +
                              ", and is deleted by another client" + (was_holder ? ", whose own time was over" : "") +
                              ", without a comparison at that moment",
                       .key = std::string(key.key)});
  }
}

void LockCheck::CheckExpiredLockWork(const LintRequest& request, LintRemarks& remarks) {
  const auto mine = locks_of_.find(request.client.id);
  if (mine == locks_of_.end()) return;
  std::vector<Lock*> locks;
  for (const KeyName& name : mine->second) {
    const auto found = locks_.find(name);
    if (found != locks_.end()) locks.push_back(&found->second);
  }
  const Work work = {.writes = request.command.Is(kWrite), .only_adds = request.IsOneOf(kAddingCommands)};
  for (size_t i = 0; i < std::min(request.keys.Size(), kMaxWorkedOn); ++i) {
    const KeyView key = request.View(request.keys[i]);
    if (locks_.contains(key)) continue;
    for (Lock* const lock : locks) CheckKeyUse(request, key, work, *lock, remarks);
  }
}

void LockCheck::CheckKeyUse(const LintRequest& request, const KeyView& key, Work work, Lock& lock,
                            LintRemarks& remarks) {
  if (lock.holder && lock.holder->client->id == request.client.id) return CheckUseByHolder(key, work, lock, remarks);
  const auto me = std::ranges::find_if(lock.former_holders,
                                       [&](const Holder& former) { return former.client->id == request.client.id; });
  if (me == lock.former_holders.end() || !work.writes || (work.only_adds && !me->HasReadOrSet(key))) return;
  const bool is_shared = me->used.contains(key) || (lock.holder && lock.holder->used.contains(key));
  if (!is_shared) return AddKey(me->written, key);
  const std::string now =
      lock.holder ? NameForRemark(lock.holder->client) + " has it now" : "another client has had it since";
  remarks.push_back({.rule = LintRule::kExpiredLockWork,
                     .why = QuotedForRemark(key.key) + " is written under a lock that is over: " + now,
                     .key = std::string(key.key)});
}

void LockCheck::CheckUseByHolder(const KeyView& key, Work work, Lock& lock, LintRemarks& remarks) {
  lock.holder->Use(key, work.only_adds);
  for (const Holder& former : lock.former_holders) {
    if (!former.written.contains(key)) continue;
    remarks.push_back({.rule = LintRule::kExpiredLockWork,
                       .why = "its lock was over, and " + NameForRemark(lock.holder->client) +
                              " had it, when it wrote " + QuotedForRemark(key.key) + ", which that client uses now",
                       .key = std::string(key.key),
                       .client = former.client});
  }
}

void LockCheck::CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) {
  NoteWatches(request);
  const auto taken = std::exchange(lock_being_taken_, std::nullopt);
  if (taken && FindUnexpired(parts_, *taken) != nullptr) {
    Take(request, *taken);
  } else if (request.command.Is(kWrite) || request.RunsScript()) {
    for (const KeyRef& key : request.keys) ForgetFormerHolder(request, request.View(key));
  }
  if (request.place != Place::kSent) return;
  for (const KeyName& key : std::exchange(locks_without_deadline_, {})) {
    const Entry* const entry = FindUnexpired(parts_, key);
    if (entry == nullptr || entry->Deadline() != kNoDeadline) continue;
    remarks.push_back({.rule = LintRule::kLockWithoutTtl, .why = ExplainLockWithoutTtl(key), .key = key.key});
  }
}

// --- Holders.

void LockCheck::Take(const LintRequest& request, const KeyName& key) {
  if (!locks_.contains(key)) MakeRoom();
  Lock& lock = locks_[key];
  const uint64_t id = request.client.id;
  if (lock.holder && lock.holder->client->id != id) {
    lock.former_holders.push_back(std::move(*lock.holder));
    if (lock.former_holders.size() > kMaxFormer) {
      RemoveFromLocksOf(lock.former_holders.front().client->id, key);
      lock.former_holders.pop_front();
    }
  }
  std::erase_if(lock.former_holders, [id](const Holder& former) { return former.client->id == id; });
  lock.holder = Holder{.client = request.owner};
  ClearIfFull(locks_of_, kMaxClients);
  KeySet& mine = locks_of_[id];
  DropFinishedLocks(mine, id);
  AddKey(mine, key);
}

bool LockCheck::IsFinished(const KeyName& key, const Lock& lock) const {
  return lock.former_holders.empty() && FindUnexpired(parts_, key) == nullptr;
}

// Makes room for another lock if there are kMaxLocks locks. First removes the finished locks: those whose key is gone
// and that have no former holder (IsFinished). If at least kMaxLocks / 2 locks are left, removes all locks. A program
// can reach this number if it sets a key with NX for each job, to prevent double execution.
void LockCheck::MakeRoom() {
  if (locks_.size() < kMaxLocks) return;
  std::erase_if(locks_, [this](const auto& row) {
    const bool is_done = IsFinished(row.first, row.second);
    if (is_done) UnlinkAll(row.first, row.second);
    return is_done;
  });
  if (locks_.size() < kMaxLocks / 2) return;
  locks_.clear();
  locks_of_.clear();
}

void LockCheck::DropFinishedLocks(KeySet& keys, uint64_t client) {
  if (keys.size() < kMaxHolderKeys) return;
  std::erase_if(keys, [&](const KeyName& key) {
    const auto found = locks_.find(key);
    if (found == locks_.end()) return true;
    const Lock& lock = found->second;
    const bool is_done = IsFinished(key, lock) && (!lock.holder || lock.holder->client->id == client);
    if (is_done) locks_.erase(found);
    return is_done;
  });
}

void LockCheck::OnKeyEvent(const KeyView& key, const KeyEvent& event) {
  if (locks_.empty() || (lock_being_taken_ && lock_being_taken_->db == key.db && lock_being_taken_->key == key.key))
    return;
  const auto found = locks_.find(key);
  if (found == locks_.end()) return;
  if (HasName(kDeletingEvents, event.Name()) || HasName(kOverwritingEvents, event.Name())) End(found);
}

void LockCheck::End(Locks::iterator lock) {
  std::optional<Holder>& holder = lock->second.holder;
  if (holder) RemoveFromLocksOf(holder->client->id, lock->first);
  holder.reset();
  if (lock->second.former_holders.empty()) locks_.erase(lock);
}

void LockCheck::Forget(const KeyView& key) {
  const auto found = locks_.find(key);
  if (found == locks_.end()) return;
  UnlinkAll(found->first, found->second);
  locks_.erase(found);
}

void LockCheck::ForgetAll(int db) {
  std::erase_if(locks_, [&](const auto& row) {
    if (row.first.db != db) return false;
    UnlinkAll(row.first, row.second);
    return true;
  });
}

void LockCheck::RemoveFromLocksOf(uint64_t client, const KeyName& key) {
  const auto mine = locks_of_.find(client);
  if (mine == locks_of_.end()) return;
  mine->second.erase(key);
  if (mine->second.empty()) locks_of_.erase(mine);
}

void LockCheck::UnlinkAll(const KeyName& key, const Lock& lock) {
  if (lock.holder) RemoveFromLocksOf(lock.holder->client->id, key);
  for (const Holder& former : lock.former_holders) RemoveFromLocksOf(former.client->id, key);
}

void LockCheck::ForgetFormerHolder(const LintRequest& request, const KeyView& key) {
  const auto found = locks_.find(key);
  if (found == locks_.end()) return;
  Lock& lock = found->second;
  const uint64_t id = request.client.id;
  if (std::erase_if(lock.former_holders, [id](const Holder& former) { return former.client->id == id; }) == 0) return;
  RemoveFromLocksOf(id, found->first);
  if (!lock.holder && lock.former_holders.empty()) locks_.erase(found);
}

// --- WATCH.

void LockCheck::NoteWatches(const LintRequest& request) {
  if (request.place != Place::kSent) return;
  if (!request.Is("watch")) return NoteEndOfWatch(request.client);
  if (watches_.size() >= kMaxGoneClients + 2 * parts_.clients.Count()) {
    std::erase_if(watches_, [this](const auto& row) { return parts_.clients.Find(row.first) == nullptr; });
  }
  for (const KeyRef& key : request.keys) AddKey(watches_[request.client.id], request.View(key));
}

// Forgets what the client has watched, if it no longer watches any keys. Also called after failed requests, because a
// failed EXEC ends a WATCH too.
void LockCheck::NoteEndOfWatch(const Session& client) {
  if (!watches_.empty() && !HasWatchedKeys(client)) watches_.erase(client.id);
}

}  // namespace respite
