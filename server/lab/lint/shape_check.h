// ShapeCheck: the rules slow-shape, big-value, chatty and hot-key of TEST LINT. Reports requests that cost more than
// necessary.
#pragma once

#include <unordered_map>

#include "server/lab/lint/lint_check.h"

namespace respite {

class ShapeCheck final : public LintCheck {  // TEST LINT: slow-shape, big-value, chatty and hot-key
 public:
  explicit ShapeCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // runs all checks before the call
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // rule big-value for the reply

 private:
  // Similar requests of one client in a row: the same command and number of arguments, each in another turn of the
  // event loop. The client has probably waited for each reply.
  struct Sequence {                    // similar requests of one client in a row, for the rule chatty
    const Command* command = nullptr;  // the command of these requests
    size_t words = 0;                  // number of arguments of each request, with the command's name
    uint64_t turn = 0;                 // turn of the event loop with the last request
    uint64_t length = 0;               // number of requests in the sequence
  };

  void CheckSlowShape(const LintRequest& request, LintRemarks& remarks) const;  // rule slow-shape: visits many elements
  void CheckBigValue(const LintRequest& request, LintRemarks& remarks) const;   // rule big-value, for the arguments
  void CheckChatty(const LintRequest& request, LintRemarks& remarks);  // rule chatty: many round trips of one kind
  void CheckHotKey(const LintRequest& request, LintRemarks& remarks);  // rule hot-key: one key has too large a share
  size_t ElementsAt(const LintRequest& request, const KeyRef& key) const;  // number of elements of the value; 0: no key

  const Parts parts_;                                 // other parts of the server that this class uses
  std::unordered_map<uint64_t, Sequence> sequences_;  // current run of similar requests of each client, by client ID
  std::map<KeyName, uint64_t> accesses_by_key_;       // for hot-key: accesses to each key in the current window
  uint64_t accesses_in_window_ = 0;                   // sum of accesses_by_key_; a window ends after 1000 accesses
};

}  // namespace respite
