// KeyHistory: the fate of keys while the journal is on. Records expired keys, and locks from acquisition to release.
//
// A lock is a key that a client has created in one of the usual ways:
//
//   SET key token NX ...        SETNX key token         as a request, or in a transaction or a script
//   HINCRBY or HSET of a field, and PEXPIRE or EXPIRE   in one script, as Redisson does
//
// The client holds the lock until the key is removed or overwritten. Locks that existed before the journal began are
// not known. The memory is bounded: records older than the entries of the journal are dropped, and also the oldest
// records above kMostBytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/key_event.h"

namespace respite {

struct FinishedCall;
struct RequestOwner;

// A position in the journal: the sequence number of the next entry, and the time.
struct JournalMoment {
  uint64_t next_seq = 0;
  int64_t wall_us = 0;
};

// A key that was removed because it expired.
struct ExpiredKey {
  uint64_t number = 0;  // from 1
  JournalMoment at;
  int db = 0;
  std::string key;
};

struct HeldLock {
  enum class End : uint8_t { kHeld, kDeleted, kExpired, kEvicted, kOverwritten, kFlushed, kServerKilled };

  int db = 0;
  std::string key;
  std::string token;                           // the value, or the field of the hash
  std::shared_ptr<const RequestOwner> holder;  // client that created the key
  uint64_t taken_by = 0;                       // journal entry that created the key
  int64_t from_us = 0;
  uint32_t prolonged = 0;  // how often its deadline was extended
  End end = End::kHeld;    // the fields below are unset while it is kHeld
  JournalMoment ended = {};
  std::shared_ptr<const RequestOwner> ender = {};  // sender of the entry `ended.next_seq` that ended it; or null
  uint64_t expired_key = 0;                        // number of the ExpiredKey; 0 if the lock ended otherwise
};

class KeyHistory {
 public:
  static constexpr size_t kMostBytes = size_t{8} << 20;

  // The effect of a call on a lock. kMissed: the key existed, so SET NX did nothing.
  enum class Step : uint8_t { kNone, kTook, kMissed };

  // Records a finished call, whose journal entry is `at.next_seq`.
  Step AfterCall(const FinishedCall& call, const std::shared_ptr<const RequestOwner>& client, JournalMoment at);
  // Discards the state of a finished call that the journal does not record.
  void AfterOwnTalk();

  // Records a keyspace event. Cost: O(log locks), if any are held.
  void OnKeyEvent(int db, Bytes key, const KeyEvent& event, JournalMoment at);
  void OnFlush(std::span<const int> dbs, JournalMoment at);
  void OnSwap(int one, int other);
  // Ends all locks as kServerKilled, since the fate of their keys is unknown.
  void OnServerKilled(JournalMoment at);

  // Drops the records that ended before this entry.
  void DropBefore(uint64_t first_seq);
  // Drops everything except the locks that are held.
  void DropEnded();
  void Clear();

  // Returns the expired keys, oldest first.
  const std::deque<ExpiredKey>& expired_keys() const { return expired_keys_; }
  const std::deque<HeldLock>& locks() const { return locks_; }

 private:
  struct KeyView {
    int db;
    Bytes key;
    bool operator==(const KeyView&) const = default;
  };
  struct Key {
    int db = 0;
    std::string name;
    KeyView View() const { return {db, name}; }
  };
  struct KeyOrder;  // finds a Key by a KeyView

  static size_t BytesOf(const HeldLock& lock) { return sizeof lock + lock.key.size() * 2 + lock.token.size() + 100; }
  static size_t BytesOf(const ExpiredKey& expired) { return sizeof expired + expired.key.size(); }
  // Returns whether the running call has created the first key that the command names.
  bool HasMade(int db, std::span<const Bytes> words) const;
  Step TakeOne(const FinishedCall& call, const std::shared_ptr<const RequestOwner>& client, JournalMoment at);
  void Open(const HeldLock& lock);
  void End(uint64_t number, HeldLock::End how, JournalMoment at);
  template <class Condition>
  void EndAll(HeldLock::End how, JournalMoment at, Condition&& condition);
  HeldLock& At(uint64_t number) { return locks_[number - first_lock_]; }
  void DropOldestLock();
  void MakeRoom();

  std::deque<ExpiredKey> expired_keys_;
  std::deque<HeldLock> locks_;
  uint64_t first_lock_ = 0;  // number of the first element of locks_
  uint64_t last_expired_key_ = 0;
  size_t bytes_ = 0;
  struct KeyOrder {
    using is_transparent = void;
    static bool IsBefore(KeyView one, KeyView other);
    bool operator()(const Key& one, const Key& other) const { return IsBefore(one.View(), other.View()); }
    bool operator()(const Key& one, KeyView other) const { return IsBefore(one.View(), other); }
    bool operator()(KeyView one, const Key& other) const { return IsBefore(one, other.View()); }
  };
  std::map<Key, uint64_t, KeyOrder> open_;  // numbers of the locks that are held
  std::vector<uint64_t> just_ended_;        // locks that the running call may have ended
  Key made_;                                // last key that the running call has created
  bool has_made_ = false;
  HeldLock candidate_;  // a hash that the running script has created
  bool has_candidate_ = false;
};

}  // namespace respite
