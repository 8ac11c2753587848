// MessageCheck: the rule lost-message. Reports messages without a receiver, and messages that are lost if their client
// ends too early.
#pragma once

#include <tuple>

#include "server/lab/lint/lint_check.h"

namespace respite {

class MessageCheck final : public LintCheck {
 public:
  explicit MessageCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;
  void Conclude(LintRemarks& remarks) override;

 private:
  // A consumer of a consumer group.
  struct Consumer {
    KeyName stream;
    std::string group;
    std::string name;
    auto operator<=>(const Consumer&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };

  void JudgePublish(const LintRequest& request, LintRemarks& remarks) const;
  uint64_t PendingOf(const Consumer& consumer) const;

  const Parts parts_;
  std::map<Consumer, LintClient> readers_;  // last client that read or claimed entries for the consumer
};

}  // namespace respite
