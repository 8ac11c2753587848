// ShapeCheck: the rules slow-shape, big-value, chatty and hot-key. Reports requests that cost more than necessary.
#pragma once

#include <unordered_map>

#include "server/lab/lint/lint_check.h"

namespace respite {

class ShapeCheck final : public LintCheck {  // the rules slow-shape, big-value, chatty and hot-key
 public:
  explicit ShapeCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // before the request runs
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // after the request has succeeded

 private:
  // The client waited for the reply to each request of the sequence before it sent the next one.
  struct Sequence {  // consecutive requests of one client with the same command and number of arguments
    const Command* command = nullptr;
    size_t words = 0;     // number of arguments of each request
    uint64_t turn = 0;    // turn of the event loop with the last request
    uint64_t length = 0;  // number of requests in the sequence
  };

  void CheckSlowShape(const LintRequest& request, LintRemarks& remarks) const;  // rule slow-shape: visits many elements
  void CheckBigValue(const LintRequest& request, LintRemarks& remarks) const;   // the rule big-value
  void CheckChatty(const LintRequest& request, LintRemarks& remarks);           // the rule chatty
  void CheckHotKey(const LintRequest& request, LintRemarks& remarks);           // the rule hot-key
  size_t ElementsAt(const LintRequest& request, const KeyRef& key) const;       // number of elements of the key's value

  const Parts parts_;                                 // other parts of the server that this class uses
  std::unordered_map<uint64_t, Sequence> sequences_;  // the current sequence of each client, by client ID
  std::map<KeyName, uint64_t> accesses_;              // number of accesses to each key in the current window
  uint64_t accesses_in_window_ = 0;                   // number of accesses in the current window
};

}  // namespace respite
