// The words of TEST FAULT ADD.
#pragma once

#include "server/execution/args.h"
#include "server/lab/faults/fault_rules.h"

namespace respite {

// A duration that a reply may be held back. Throws a refusal.
int64_t DelayMs(Bytes word);

class CommandTable;

// `name [WHEN …] DO … [TIMES n] [AFTER n] [PERCENT p] [FOR duration]`. Throws a refusal that says what would be right.
FaultOrder TakeFaultOrder(Args& args, const CommandTable& commands);

}  // namespace respite
