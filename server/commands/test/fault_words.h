// The arguments of TEST FAULT ADD.
#pragma once

#include "server/execution/args.h"
#include "server/lab/faults/fault_rules.h"

namespace respite {

int64_t ParseDelayArgumentMs(Bytes word);  // parses `250` (ms), `30s` …; throws if above 36500 days

class CommandTable;

// Accepts `name [WHEN …] DO … [TIMES n] [AFTER n] [PERCENT p] [FOR duration]`. Throws a Refusal that explains the
// correct form.
FaultDefinition TakeFaultDefinition(Args& args, const CommandTable& commands);  // takes the arguments of TEST FAULT ADD

}  // namespace respite
