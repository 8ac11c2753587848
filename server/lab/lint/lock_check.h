// LockCheck: the rules lock-without-ttl, foreign-unlock and expired-lock-work.
//
// A lock is a key that somebody has set with NX. Who set it holds it until the key is deleted or overwritten, or until
// somebody else sets it with NX: then the first one's time was over, and it may not know. What it writes from then on
// is a mistake if the new holder uses the same keys. What adds to a value (INCR, SADD) is none unless the client has
// read it: whoever counts how often something was done may lock nothing but that it is done twice.
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
    KeyMap<bool> used = {};  // since it took the lock; true: it has done more than adding to it
    KeySet written = {};     // since somebody else has it

    void Use(const KeyView& key, bool only_adds);
    bool Knows(const KeyView& key) const;
  };
  struct Lock {
    std::optional<Holder> holder;
    std::deque<Holder> former;  // whose time was over before they were done
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
  // Whether the client knows that the key has the value that it expects, and that nobody can change it before it is
  // deleted.
  bool HasCompared(const LintRequest& request, const KeyView& key) const;
  void Take(const LintRequest& request, const KeyName& key);
  void MakeRoom();
  void DropDone(KeySet& locks, uint64_t client);
  // Nobody has it but who set it, and its time is over.
  bool IsDone(const KeyName& key, const Lock& lock) const;
  // It is deleted or overwritten.
  void End(Locks::iterator lock);
  // The client does not believe to hold it.
  void Unlink(uint64_t client, const KeyName& key);
  void UnlinkAll(const KeyName& key, const Lock& lock);
  // A former holder writes to the key, so it knows that its time was over.
  void Touch(const LintRequest& request, const KeyView& key);
  void NoteWatches(const LintRequest& request);
  void NoteEndOfWatch(const Session& client);

  const Parts parts_;
  Locks locks_;
  std::unordered_map<uint64_t, KeySet> locks_of_;  // by client: which it holds, or believes to hold
  std::unordered_map<uint64_t, KeySet> watches_;   // by client
  KeySet read_by_script_;                          // by the script that runs
  std::optional<KeyName> taking_;                  // by the request that runs
  std::vector<KeyName> without_deadline_;          // taken by the transaction or script that runs
};

}  // namespace respite
