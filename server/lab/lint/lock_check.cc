#include "server/lab/lint/lock_check.h"

#include <algorithm>
#include <utility>

#include "base/word_text.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kMostLocks = 10'000;
constexpr size_t kMostClients = 10'000;
constexpr size_t kFewClients = 1000;
constexpr size_t kMostKeys = 64;  // of one holder
constexpr size_t kMostFormer = 8;
constexpr Bytes kDeadlines[] = {"EX", "PX", "EXAT", "PXAT"};

// A request that sets a key only if it is absent.
struct Taking {
  KeyRef key;
  bool has_deadline;
};

std::optional<Taking> TakingOf(const LintRequest& request) {
  if (request.keys.Empty()) return std::nullopt;
  if (request.Is("setnx")) return Taking{request.keys[0], false};
  if (!request.Is("set") || !request.HasOption(3, "NX")) return std::nullopt;
  const bool has_deadline = std::ranges::any_of(kDeadlines, [&](Bytes word) { return request.HasOption(3, word); });
  return Taking{request.keys[0], has_deadline};
}

bool Deletes(const LintRequest& request) { return request.Is("del") || request.Is("unlink") || request.Is("getdel"); }

template <class Keys>
void AddKey(Keys& keys, const KeyName& key) {
  if (keys.size() < kMostKeys) keys.insert(key);
}

std::string WithoutDeadline(const KeyName& key) {
  return WordText(key.key) +
         " is set without a deadline. If its client ends before it deletes the key, nobody else gets it";
}

}  // namespace

void LockCheck::Before(const LintRequest& request, LintRemarks& remarks) {
  if (request.place == Place::kQueued) return;
  NoteScript(request);
  JudgeTaking(request, remarks);
  JudgeDeletion(request, remarks);
  JudgeWork(request, remarks);
}

// A script that reads a key before it deletes it compares: nobody comes between.
void LockCheck::NoteScript(const LintRequest& request) {
  if (request.RunsScript()) read_by_script_.clear();
  if (request.place != Place::kInScript || request.command.Is(kWrite)) return;
  for (const KeyRef& key : request.keys) AddKey(read_by_script_, request.Key(key));
}

void LockCheck::JudgeTaking(const LintRequest& request, LintRemarks& remarks) {
  taking_.reset();
  const auto taking = TakingOf(request);
  if (!taking) return;
  KeyName key = request.Key(taking->key);
  if (Present(parts_, key) != nullptr) return;
  if (!taking->has_deadline) {
    // A transaction or a script may set the deadline with a command of its own.
    if (request.place == Place::kSent) {
      remarks.push_back({.rule = LintRule::kLockWithoutTtl, .why = WithoutDeadline(key), .key = key.key});
    } else {
      without_deadline_.push_back(key);
    }
  }
  taking_ = std::move(key);
}

bool LockCheck::HasCompared(const LintRequest& request, const KeyName& key) const {
  const auto has = [&key](const std::set<KeyName>& keys) { return keys.contains(key) || keys.size() >= kMostKeys; };
  if (request.place == Place::kInScript) return has(read_by_script_);
  if (request.place != Place::kInTransaction) return false;
  const auto watched = watches_.find(request.client.id);
  return watched != watches_.end() && has(watched->second);
}

void LockCheck::JudgeDeletion(const LintRequest& request, LintRemarks& remarks) {
  if (locks_.empty() || !Deletes(request)) return;
  for (const KeyRef& ref : request.keys) {
    const KeyName key = request.Key(ref);
    const auto found = locks_.find(key);
    if (found == locks_.end() || !found->second.holder) continue;
    const LintClient& holder = found->second.holder->client;
    if (holder->id == request.client.id || Present(parts_, key) == nullptr || HasCompared(request, key)) continue;
    const bool was_holder = std::ranges::any_of(
        found->second.former, [&](const Holder& former) { return former.client->id == request.client.id; });
    remarks.push_back({.rule = LintRule::kForeignUnlock,
                       .why = WordText(key.key) + " is the lock of " + Shown(holder) +
                              ", and is deleted by another client" + (was_holder ? ", whose own time was over" : "") +
                              ", without a comparison at that moment",
                       .key = key.key});
  }
}

void LockCheck::JudgeWork(const LintRequest& request, LintRemarks& remarks) {
  const auto mine = locks_of_.find(request.client.id);
  if (mine == locks_of_.end()) return;
  for (const KeyName& name : mine->second) {
    const auto found = locks_.find(name);
    if (found != locks_.end()) NoteWork(request, found->second, remarks);
  }
}

void LockCheck::NoteWork(const LintRequest& request, Lock& lock, LintRemarks& remarks) {
  const bool is_write = request.command.Is(kWrite);
  for (const KeyRef& ref : request.keys) {
    const KeyName key = request.Key(ref);
    if (locks_.contains(key)) continue;
    if (lock.holder && lock.holder->client->id == request.client.id) {
      AddKey(lock.holder->used, key);
      for (const Holder& former : lock.former) {
        if (!former.written.contains(key)) continue;
        remarks.push_back({.rule = LintRule::kExpiredLockWork,
                           .why = "its lock was over, and " + Shown(lock.holder->client) + " had it, when it wrote " +
                                  WordText(key.key) + ", which that client uses now",
                           .key = key.key,
                           .client = former.client});
      }
    }
    const auto me =
        std::ranges::find_if(lock.former, [&](const Holder& former) { return former.client->id == request.client.id; });
    if (me == lock.former.end() || !is_write) continue;
    const bool is_shared = me->used.contains(key) || (lock.holder && lock.holder->used.contains(key));
    if (is_shared) {
      const std::string now =
          lock.holder ? Shown(lock.holder->client) + " has it now" : "another client has had it since";
      remarks.push_back({.rule = LintRule::kExpiredLockWork,
                         .why = WordText(key.key) + " is written under a lock that is over: " + now,
                         .key = key.key});
    } else {
      AddKey(me->written, key);
    }
  }
}

void LockCheck::After(const LintRequest& request, LintRemarks& remarks) {
  NoteWatches(request);
  const auto taken = std::exchange(taking_, std::nullopt);
  if (taken && Present(parts_, *taken) != nullptr) {
    Take(request, *taken);
  } else if (request.command.Is(kWrite) || request.RunsScript()) {
    for (const KeyRef& key : request.keys) Touch(request, request.Key(key));
  }
  if (request.place != Place::kSent) return;
  for (const KeyName& key : std::exchange(without_deadline_, {})) {
    const Entry* const entry = Present(parts_, key);
    if (entry == nullptr || entry->Deadline() != kNoDeadline) continue;
    remarks.push_back({.rule = LintRule::kLockWithoutTtl, .why = WithoutDeadline(key), .key = key.key});
  }
}

void LockCheck::Take(const LintRequest& request, const KeyName& key) {
  if (!locks_.contains(key) && locks_.size() >= kMostLocks) {
    locks_.clear();
    locks_of_.clear();
  }
  Lock& lock = locks_[key];
  const uint64_t id = request.client.id;
  if (lock.holder && lock.holder->client->id != id) {
    lock.former.push_back(std::move(*lock.holder));
    if (lock.former.size() > kMostFormer) lock.former.pop_front();
  }
  std::erase_if(lock.former, [id](const Holder& former) { return former.client->id == id; });
  lock.holder = Holder{.client = request.owner};
  MakeRoomIn(locks_of_, kMostClients);
  AddKey(locks_of_[id], key);
}

void LockCheck::Touch(const LintRequest& request, const KeyName& key) {
  const auto found = locks_.find(key);
  if (found == locks_.end()) return;
  Lock& lock = found->second;
  const uint64_t id = request.client.id;
  const bool was_former =
      std::erase_if(lock.former, [id](const Holder& former) { return former.client->id == id; }) != 0;
  // SET without NX makes the key something else. Other commands leave the lock as it is (EXPIRE), or remove the key.
  const bool is_over = Present(parts_, key) == nullptr || request.Is("set");
  const bool was_mine = lock.holder && lock.holder->client->id == id;
  if (is_over) lock.holder.reset();
  if (was_former || (is_over && was_mine)) {
    const auto mine = locks_of_.find(id);
    if (mine != locks_of_.end()) mine->second.erase(key);
  }
  if (!lock.holder && lock.former.empty()) locks_.erase(found);
}

void LockCheck::NoteWatches(const LintRequest& request) {
  const uint64_t id = request.client.id;
  if (request.Is("watch")) {
    if (watches_.size() >= kFewClients + 2 * parts_.clients.Count()) {
      std::erase_if(watches_, [this](const auto& row) { return parts_.clients.Find(row.first) == nullptr; });
    }
    for (const KeyRef& key : request.keys) AddKey(watches_[id], request.Key(key));
  } else if (request.command.Spec().transaction == TransactionRole::kExecutes || request.Is("discard") ||
             request.Is("unwatch")) {
    watches_.erase(id);
  }
}

}  // namespace respite
