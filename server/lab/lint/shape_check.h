// ShapeCheck: the rules slow-shape, big-value, chatty and hot-key: requests that cost more than they need to.
#pragma once

#include <unordered_map>

#include "server/lab/lint/lint_check.h"

namespace respite {

class ShapeCheck final : public LintCheck {
 public:
  explicit ShapeCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;

 private:
  // Consecutive requests of one client that have one shape. The client waited for each reply before the next request.
  struct Sequence {
    const Command* command = nullptr;
    size_t words = 0;
    uint64_t turn = 0;
    uint64_t length = 0;
  };

  void JudgeCost(const LintRequest& request, LintRemarks& remarks) const;
  void JudgeValues(const LintRequest& request, LintRemarks& remarks) const;
  void JudgeSequence(const LintRequest& request, LintRemarks& remarks);
  void JudgeHeat(const LintRequest& request, LintRemarks& remarks);
  size_t ElementsAt(const LintRequest& request, const KeyRef& key) const;

  const Parts parts_;
  std::unordered_map<uint64_t, Sequence> sequences_;  // by client ID
  std::map<KeyName, uint64_t> accesses_;              // in the current window
  uint64_t window_ = 0;                               // accesses in the current window
};

}  // namespace respite
