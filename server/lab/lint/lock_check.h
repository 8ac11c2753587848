// LockCheck: the rules lock-without-ttl, foreign-unlock and expired-lock-work.
//
// A lock is a key that somebody has set with NX. Who set it holds it until the key is deleted or overwritten, or until
// somebody else sets it with NX: then the first one's time was over, and it may not know. What it writes from then on
// is a mistake if the new holder uses the same keys.
#pragma once

#include <deque>
#include <set>
#include <unordered_map>
#include <vector>

#include "server/lab/lint/lint_check.h"

namespace respite {

class LockCheck final : public LintCheck {
 public:
  explicit LockCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;

 private:
  struct Holder {
    LintClient client;
    std::set<KeyName> used = {};     // since it took the lock
    std::set<KeyName> written = {};  // since somebody else has it
  };
  struct Lock {
    std::optional<Holder> holder;
    std::deque<Holder> former;  // whose time was over before they were done
  };
  using Locks = std::map<KeyName, Lock>;

  void NoteScript(const LintRequest& request);
  void JudgeTaking(const LintRequest& request, LintRemarks& remarks);
  void JudgeDeletion(const LintRequest& request, LintRemarks& remarks);
  void JudgeWork(const LintRequest& request, LintRemarks& remarks);
  void NoteWork(const LintRequest& request, Lock& lock, LintRemarks& remarks);
  // Whether the client knows that the key has the value that it expects, and that nobody can change it before it is
  // deleted.
  bool HasCompared(const LintRequest& request, const KeyName& key) const;
  void Take(const LintRequest& request, const KeyName& key);
  // The holder has deleted or overwritten it, or somebody else has; a former holder knows now that its time was over.
  void Touch(const LintRequest& request, const KeyName& key);
  void NoteWatches(const LintRequest& request);

  const Parts parts_;
  Locks locks_;
  std::unordered_map<uint64_t, std::set<KeyName>> locks_of_;  // by client: which it holds, or believes to hold
  std::unordered_map<uint64_t, std::set<KeyName>> watches_;   // by client
  std::set<KeyName> read_by_script_;                          // by the script that runs
  std::optional<KeyName> taking_;                             // by the request that runs
  std::vector<KeyName> without_deadline_;                     // taken by the transaction or script that runs
};

}  // namespace respite
