// The action arguments of TEST SNAPSHOT, TEST WORLD and TEST FAULT.
#pragma once

#include <span>

#include "base/bytes.h"
#include "server/execution/call.h"

namespace respite {

struct TestAction {
  Bytes name;
  void (*run)(Call&);
};

// Runs the action that the next argument names. Refuses an unknown name.
void RunTestAction(Call& call, std::span<const TestAction> actions);

}  // namespace respite
