// MessageCheck: the rule lost-message of TEST LINT. Reports a PUBLISH without subscribers, and messages that are lost
// if their receiver ends too early: elements popped from lists, and stream entries that a disconnected client has read
// but not acknowledged.
#pragma once

#include <tuple>

#include "server/lab/lint/lint_check.h"

namespace respite {

class MessageCheck final : public LintCheck {  // the rule lost-message of TEST LINT
 public:
  explicit MessageCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // before the request runs
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // checks a request that succeeded
  void ReportGoneClients(LintRemarks& remarks) override;  // adds remarks about clients that have disconnected

 private:
  struct Consumer {     // a consumer of a consumer group
    KeyName stream;     // key of the stream
    std::string group;  // name of the consumer group
    std::string name;
    auto operator<=>(const Consumer&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };

  void CheckPublish(const LintRequest& request, LintRemarks& remarks) const;  // remarks on PUBLISH without subscribers
  uint64_t PendingEntryCount(const Consumer& consumer) const;  // entries that the consumer has not acknowledged

  const Parts parts_;                       // other parts of the server that this class uses
  std::map<Consumer, LintClient> readers_;  // the client that last read or claimed entries, by consumer
};

}  // namespace respite
