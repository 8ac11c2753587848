// The arguments of TEST FAULT ADD.
#pragma once

#include "server/execution/args.h"
#include "server/lab/faults/fault_rules.h"

namespace respite {

// Parses the delay of a reply. Throws a Refusal.
int64_t DelayMs(Bytes word);

class CommandTable;

// Takes `name [WHEN …] DO … [TIMES n] [AFTER n] [PERCENT p] [FOR duration]`. Throws a Refusal that explains the correct
// form.
FaultOrder TakeFaultOrder(Args& args, const CommandTable& commands);

}  // namespace respite
