// LockCheck: the rules lock-without-ttl, foreign-unlock and expired-lock-work of TEST LINT.
//
// A lock is a key that a client has set with NX. The client holds the lock until the key is deleted or overwritten. If
// a second client sets the key with NX before that, the lock of the first has expired, perhaps unnoticed. From then on,
// a write of the first client is reported (expired-lock-work) if it is to a key that
//
//   - the first client used while it held the lock, or
//   - the second client uses under its lock, before or after that write.
//
// A write that only adds to a value (INCR, SADD) counts only if the first client also read or overwrote this value
// under its lock. Otherwise the lock probably only prevents double execution.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "server/lab/lint/lint_check.h"

namespace respite {

class LockCheck final : public LintCheck {  // TEST LINT: lock-without-ttl, foreign-unlock, expired-lock-work
 public:
  explicit LockCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // before the request runs
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // checks a request that succeeded
  void NoteFailedRequest(const Session& client) override { NoteEndOfWatch(client); }  // forgets a WATCH that has ended
  void OnKeyEvent(const KeyView& key, const KeyEvent& event) override;  // ends the lock of a deleted or overwritten key
  void Forget(const KeyView& key) override;                             // forgets the lock of this key
  void ForgetAll(int db) override;                                      // forgets all locks in this database

 private:
  struct Holder {            // a client that holds a lock, or acts as if it still held the lock
    LintClient client;       // the client that has acquired the lock
    KeyMap<bool> used = {};  // keys used under the lock; true: not only by adding commands
    KeySet written = {};     // keys that the client wrote after another client took the lock

    void Use(const KeyView& key, bool only_adds);
    bool HasReadOrSet(const KeyView& key) const;  // whether the client read or set the key under the lock
  };
  struct Lock {
    std::optional<Holder> holder;       // the client that holds the lock; nullopt: none
    std::deque<Holder> former_holders;  // clients whose lock has expired, and that may still work
  };
  using Locks = KeyMap<Lock>;
  struct Work {      // what a request does with a key: reads, adds or overwrites
    bool writes;     // the command changes the key
    bool only_adds;  // the command need not know the old value: INCR, SADD
  };

  void NoteScript(const LintRequest& request);  // notes which keys the running script has read
  void CheckLockWithoutTtl(const LintRequest& request, LintRemarks& remarks);   // checks the rule lock-without-ttl
  void CheckForeignUnlock(const LintRequest& request, LintRemarks& remarks);    // checks the rule foreign-unlock
  void CheckExpiredLockWork(const LintRequest& request, LintRemarks& remarks);  // checks the rule expired-lock-work
  // Notes that a holder or former holder of a lock uses this key. Adds a remark if a write of the former holder may
  // conflict with the work of the present holder.
  void CheckKeyUse(const LintRequest& request, const KeyView& key,  // notes the use of a key, or adds a remark
                   Work work, Lock& lock, LintRemarks& remarks);
  // Notes that the holder of the lock uses this key. Adds a remark for each former holder that has written the key
  // after the lock was lost.
  void CheckUseByHolder(const KeyView& key, Work work, Lock& lock, LintRemarks& remarks);  // notes a use by the holder
  bool HasCompared(const LintRequest& request,  // true: the script has read the key, or the client watches this key
                   const KeyView& key) const;
  void Take(const LintRequest& request, const KeyName& key);
  void MakeRoom();  // at kMaxLocks: removes finished locks; if half of the locks are left, removes all
  // Makes room in `keys`, the set locks_of_[client]. Does nothing if the set has fewer than kMaxHolderKeys keys.
  void DropFinishedLocks(KeySet& keys, uint64_t client);  // removes ended locks from `keys` (of `client`) and locks_
  bool IsFinished(const KeyName& key,  // true: the lock's key is gone, and no client has lost the lock
                  const Lock& lock) const;
  // Ends a lock whose key was deleted or overwritten.
  void End(Locks::iterator lock);
  void RemoveFromLocksOf(uint64_t client, const KeyName& key);  // removes a lock from the client's entry in locks_of_
  void UnlinkAll(const KeyName& key,  // removes the lock from locks_of_, for the holder and all former holders
                 const Lock& lock);
  void ForgetFormerHolder(const LintRequest& request,  // drops the client from the former holders of this lock
                          const KeyView& key);
  void NoteWatches(const LintRequest& request);  // after WATCH, notes the keys that the client watches
  void NoteEndOfWatch(const Session& client);    // forgets the WATCH of a client whose WATCH has ended

  const Parts parts_;                              // other parts of the server that the checks use
  Locks locks_;                                    // locks that clients have taken with NX, by key
  std::unordered_map<uint64_t, KeySet> locks_of_;  // by client ID: locks that the client holds or thinks it holds
  std::unordered_map<uint64_t, KeySet> watches_;   // by client ID: keys that the client watches (WATCH)
  KeySet read_by_script_;                          // keys that the running script has read
  std::optional<KeyName> lock_being_taken_;        // key of the lock that the running request acquires
  std::vector<KeyName> locks_without_deadline_;    // locks acquired without a deadline in the running EXEC or script
};

}  // namespace respite
