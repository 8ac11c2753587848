// KeyHistory: records what happens to keys while the journal (TEST JOURNAL) is on: keys that expire, and distributed
// locks from acquisition to release.
//
// A lock is a key that a client has created in one of the usual ways:
//
//   SET key token NX ...        SETNX key token         as a request, or in a transaction or a script
//   HINCRBY, HSET or HSETNX of a field, then PEXPIRE,   in one script, as the Java library Redisson does
//   EXPIRE, PEXPIREAT or EXPIREAT
//
// A key of more than 1024 bytes is never a lock.
// The client holds the lock until the key is removed or overwritten, or until the server is killed. Locks that were
// acquired before the journal began are not known. The memory is bounded: records that ended before the oldest entry of
// the journal are dropped. When all records need more than kMaxHistoryBytes, the oldest expired keys are dropped while
// there are more of them than locks, then the oldest locks, but not the last lock.
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

struct JournalMoment {    // a position between two entries of the journal, and its time
  uint64_t next_seq = 0;  // sequence number of the journal entry after this position
  int64_t wall_us = 0;    // Unix time in µs of this position
};

struct ExpiredKey {     // record of a key that has expired and was removed
  uint64_t number = 0;  // consecutive number of this record, from 1
  JournalMoment at;
  int db = 0;
  std::string key;
};

struct LockRecord {  // a lock, held or ended: a key that a client created by SET NX or the like
  enum class End : uint8_t { kHeld, kDeleted, kExpired, kEvicted, kOverwritten, kFlushed, kServerKilled };

  int db = 0;
  std::string key;
  std::string token;                           // value of the lock's key, or the field of the hash; shortened
  std::shared_ptr<const RequestOwner> holder;  // client that created the key
  uint64_t created_by_entry = 0;               // sequence number of the journal entry of the call that created the key
  int64_t acquired_us = 0;                     // when the client acquired the lock (Unix time in µs)
  uint32_t prolong_count = 0;                  // how often the key got a new deadline while the lock was held
  End end = End::kHeld;                        // how the lock ended; while kHeld, the fields below are unset
  JournalMoment ended = {};                    // when the lock ended
  std::shared_ptr<const RequestOwner> ended_by = {};  // client whose call ended the lock; null: none, or unknown
  uint64_t expired_key = 0;                           // ExpiredKey::number of the lock's key; 0: the key did not expire
};

class KeyHistory {  // records which keys expired and which locks clients held, for the journal
 public:
  static constexpr size_t kMaxHistoryBytes = size_t{8} << 20;  // maximum memory of all records

  enum class LockAttempt : uint8_t { kNone, kTook, kMissed };  // kTook: acquired a lock; kMissed: the key existed

  // Called after a command of `client` has run. If the command has created a lock (a key, see the top of this file),
  // records the lock and returns kTook. Returns kMissed if it was a SET NX or SETNX that found the key. If the command
  // has ended locks, records `client` as their ended_by. `at.next_seq`: number of the command's journal entry.
  LockAttempt RecordCall(const FinishedCall& call,  // records the locks that a command has acquired or ended
                         const std::shared_ptr<const RequestOwner>& client, JournalMoment at);
  void ForgetUnrecordedCall();  // after a command that the journal omits: forgets what RecordCall would have recorded

  // Handles a keyspace event: records an expired key, and ends or prolongs the lock of the key, if any. Cost: O(log
  // locks) if any lock is held, otherwise O(1).
  void OnKeyEvent(int db, Bytes key, const KeyEvent& event, JournalMoment at);  // handles a keyspace event
  void OnFlush(std::span<const int> dbs, JournalMoment at);                     // ends the locks in these databases
  void OnSwap(int one, int other);        // SWAPDB: the locks move with their keys
  void OnServerKilled(JournalMoment at);  // ends all locks as kServerKilled: the restart may have lost their keys

  // Drops the oldest records of expired keys and the oldest records of ended locks. Stops in each list at the first
  // record whose next_seq is not below `first_seq`. (next_seq is the number of the first journal entry after the
  // expiry, or after the end of the lock.) A lock that is still held keeps all locks that were acquired after it.
  void DropBefore(uint64_t first_seq);  // drops the oldest records, while their next_seq is below `first_seq`
  void DropEnded();                     // drops all expired keys and all ended locks; keeps the locks that are held
  void Clear();                         // drops all records of keys and locks

  const std::deque<ExpiredKey>& expired_keys() const { return expired_keys_; }  // keys that expired, oldest first
  const std::deque<LockRecord>& locks() const { return locks_; }                // held and ended locks, oldest first

 private:
  struct KeyView {  // a database and a key that is not copied, for look-ups
    int db;
    Bytes key;
    bool operator==(const KeyView&) const = default;
  };
  struct Key {
    int db = 0;
    std::string name;
    KeyView View() const { return {db, name}; }
  };
  struct KeyOrder;  // order of keys, which also finds a Key by a KeyView

  // Returns about how many bytes of memory the record uses. The key counts twice: it is also in held_lock_numbers_.
  static size_t BytesOf(const LockRecord& lock) {  // about how many bytes the record uses
    return sizeof lock + lock.key.size() * 2 + lock.token.size() + 100;
  }
  static size_t BytesOf(const ExpiredKey& expired) { return sizeof expired + expired.key.size(); }  // size in bytes
  bool HasCreated(int db, std::span<const Bytes> words) const;  // true: the running call has created the key words[1]
  LockAttempt DetectAcquiredLock(const FinishedCall& call,      // records a lock if the call has acquired one
                                 const std::shared_ptr<const RequestOwner>& client, JournalMoment at);
  void RecordAcquiredLock(const LockRecord& lock);  // records a lock that was acquired
  void End(uint64_t number, LockRecord::End how, JournalMoment at);
  template <class Condition>
  void EndMatching(LockRecord::End how, JournalMoment at,  // ends the locks that meet the condition
                   Condition&& condition);
  LockRecord& At(uint64_t number) { return locks_[number - first_lock_]; }  // the lock with this number
  void DropOldestLock();  // removes the record of the lock that was acquired first, whether it is held or ended
  void MakeRoom();        // drops old records if all exceed kMaxHistoryBytes (see the top of this file)

  std::deque<ExpiredKey> expired_keys_;  // records of the keys that expired, oldest first
  std::deque<LockRecord> locks_;         // held and ended locks, oldest first
  uint64_t first_lock_ = 0;              // number of the lock in locks_[0]; the numbers are consecutive
  uint64_t last_expired_key_ = 0;        // ExpiredKey::number of the latest record
  size_t bytes_ = 0;                     // memory of all records in bytes
  struct KeyOrder {                      // order of keys by database and name; also finds a Key by a KeyView
    using is_transparent = void;
    static bool IsBefore(KeyView one, KeyView other);  // compares by database, then by name
    bool operator()(const Key& one, const Key& other) const { return IsBefore(one.View(), other.View()); }
    bool operator()(const Key& one, KeyView other) const { return IsBefore(one.View(), other); }
    bool operator()(KeyView one, const Key& other) const { return IsBefore(one, other.View()); }
  };
  std::map<Key, uint64_t, KeyOrder> held_lock_numbers_;  // the clients' locks that are held: number (see At), by key
  std::vector<uint64_t> just_ended_;                     // numbers of the locks that ended since the last recorded call
  Key created_key_;                                      // last key that the running call has created
  bool has_created_key_ = false;                         // true: created_key_ is valid
  LockRecord possible_lock_;        // a hash that the running script has created, which may be a lock
  bool has_possible_lock_ = false;  // true: possible_lock_ is such a hash; false: unused
};

}  // namespace respite
