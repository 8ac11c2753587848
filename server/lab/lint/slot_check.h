// SlotCheck: the rules cross-slot, undeclared-key and select-in-cluster. Reports requests that a cluster refuses.
#pragma once

#include <set>

#include "server/lab/lint/lint_check.h"

namespace respite {

class SlotCheck final : public LintCheck {
 public:
  explicit SlotCheck(const Parts& /*parts*/) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;

 private:
  // The keys that one request uses in all commands that it runs.
  struct Slots {
    std::optional<std::string> first;
    bool is_told = false;
  };

  void JudgeTransaction(const LintRequest& request, LintRemarks& remarks);
  void Judge(Bytes key, LintRemarks& remarks);
  void JudgeDeclared(const LintRequest& request, LintRemarks& remarks);

  Slots slots_;
  std::set<std::string, std::less<>> declared_;  // keys that the running script has declared
};

}  // namespace respite
