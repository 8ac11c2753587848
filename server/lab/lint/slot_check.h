// SlotCheck: the rules cross-slot, undeclared-key and select-in-cluster of TEST LINT. Reports requests that a cluster
// would refuse.
#pragma once

#include <set>

#include "server/lab/lint/lint_check.h"

namespace respite {

class SlotCheck final : public LintCheck {  // TEST LINT: cross-slot, undeclared-key, select-in-cluster
 public:
  explicit SlotCheck(const Parts& /*parts*/) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;  // before the request runs

 private:
  struct FirstKey {                  // what the rule cross-slot knows of a request and of the commands that it runs
    std::optional<std::string> key;  // the first key, whose slot all other keys must have
    bool has_remark = false;         // a remark of the rule cross-slot was already made
  };

  void CheckTransactionSlots(const LintRequest& request, LintRemarks& remarks);  // rule cross-slot, before EXEC runs
  void CheckCrossSlot(Bytes key, LintRemarks& remarks);  // remarks if `key` and first_key_.key are in different slots
  void CheckUndeclaredKeys(const LintRequest& request, LintRemarks& remarks);  // rule undeclared-key, for scripts

  FirstKey first_key_;  // first key of the running request, or of the commands that it runs
  std::set<std::string, std::less<>> declared_keys_;  // keys that the caller of the running script has declared
};

}  // namespace respite
