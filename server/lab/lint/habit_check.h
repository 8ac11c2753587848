// HabitCheck: the rules no-ttl, deprecated, newer and watch-without-exec.
#pragma once

#include <unordered_map>

#include "server/catalogue/version_mark.h"
#include "server/lab/lint/lint_check.h"

namespace respite {

class HabitCheck final : public LintCheck {
 public:
  explicit HabitCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;
  void Failed(const Session& client) override;
  void Conclude(LintRemarks& remarks) override;

 private:
  struct Watching {
    LintClient client;
    std::string key;  // the first key
    uint64_t number;  // number of the WATCH request
  };

  void JudgeDeadline(const LintRequest& request, LintRemarks& remarks);
  void JudgeVersions(const LintRequest& request, LintRemarks& remarks) const;
  void JudgeMarks(const std::string& what, const VersionMark& since, const VersionMark& deprecated_since,
                  Bytes replaced_by, LintRemarks& remarks) const;
  void JudgeWatch(const LintRequest& request, LintRemarks& remarks);
  void NoteWatch(const LintRequest& request);

  const Parts parts_;
  KeySet written_;                                   // keys that the running transaction or script has written
  std::unordered_map<uint64_t, Watching> watching_;  // by client ID
};

}  // namespace respite
