// LockCheck: the rules lock-without-ttl, foreign-unlock and expired-lock-work.
//
// A lock is a key that a client has set with NX. That client holds the lock until the key is deleted or overwritten. If
// another client sets the key with NX again, the lock of the first client has expired, and that client may not know it.
// Its later writes are reported if the new holder uses the same keys. Commands that only add to a value (INCR, SADD)
// are reported only if the client has read the value. A client that only increments under the lock may use the lock to
// prevent double execution; this is not reported.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "server/lab/lint/lint_check.h"

namespace respite {

class LockCheck final : public LintCheck {
 public:
  explicit LockCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;
  void Failed(const Session& client) override { NoteEndOfWatch(client); }
  void OnKeyEvent(const KeyView& key, const KeyEvent& event) override;
  void Forget(const KeyView& key) override;
  void ForgetAll(int db) override;

 private:
  struct Holder {
    LintClient client;
    KeyMap<bool> used = {};  // keys used under the lock; true: with other commands than adding ones
    KeySet written = {};     // keys written since another client took the lock

    void Use(const KeyView& key, bool only_adds);
    bool Knows(const KeyView& key) const;
  };
  struct Lock {
    std::optional<Holder> holder;
    std::deque<Holder> former;  // clients whose lock expired before they ended their work
  };
  using Locks = KeyMap<Lock>;
  struct Work {
    bool writes;
    bool only_adds;
  };

  void NoteScript(const LintRequest& request);
  void JudgeTaking(const LintRequest& request, LintRemarks& remarks);
  void JudgeDeletion(const LintRequest& request, LintRemarks& remarks);
  void JudgeWork(const LintRequest& request, LintRemarks& remarks);
  void NoteWork(const LintRequest& request, const KeyView& key, Work work, Lock& lock, LintRemarks& remarks);
  void NoteUse(const KeyView& key, Work work, Lock& lock, LintRemarks& remarks);
  // Returns whether the client knows that the key has the expected value, and no client can change it before the
  // deletion.
  bool HasCompared(const LintRequest& request, const KeyView& key) const;
  void Take(const LintRequest& request, const KeyName& key);
  void MakeRoom();
  void DropDone(KeySet& locks, uint64_t client);
  // Returns true if the lock has expired and no other client has taken it.
  bool IsDone(const KeyName& key, const Lock& lock) const;
  // Ends a lock whose key was deleted or overwritten.
  void End(Locks::iterator lock);
  // Removes the lock from the set of locks that the client thinks it holds.
  void Unlink(uint64_t client, const KeyName& key);
  void UnlinkAll(const KeyName& key, const Lock& lock);
  // Forgets a former holder that writes to the lock's key, because it must know that its lock has expired.
  void Touch(const LintRequest& request, const KeyView& key);
  void NoteWatches(const LintRequest& request);
  void NoteEndOfWatch(const Session& client);

  const Parts parts_;
  Locks locks_;
  std::unordered_map<uint64_t, KeySet> locks_of_;  // by client ID: locks that it holds or thinks it holds
  std::unordered_map<uint64_t, KeySet> watches_;   // by client ID
  KeySet read_by_script_;                          // keys that the running script has read
  std::optional<KeyName> taking_;                  // lock that the running request acquires
  std::vector<KeyName> without_deadline_;          // locks that the running transaction or script acquired
};

}  // namespace respite
