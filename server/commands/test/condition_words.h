// The arguments that select requests and clients for subcommands of TEST: `COMMAND set KEY lock:* CLIENT worker-*`.
#pragma once

#include "server/execution/args.h"
#include "server/lab/request_filter.h"
#include "server/lab/request_journal.h"

namespace respite {

class CommandTable;

inline constexpr char kNoJournal[] = "ERR there is no journal. TEST JOURNAL START begins one";
inline constexpr char kConditions[] = "COMMAND, CATEGORY, KEY, CLIENT, ID, USER, ADDR, DB, LIB, SCRIPT and TRANSACTION";

// Takes one condition with its value, and adds it to the filter. Returns false if no argument is left, or if the next
// argument is not the name of a condition. Throws a Refusal for an invalid value.
bool TakeCondition(Args& args, const CommandTable& commands, RequestFilter& filter);  // adds one condition; false: none
// Takes one condition for entries of the journal with its value, and adds it to the filter. In addition to the
// conditions for requests, OUTCOME and SINCE are possible.
bool TakeCondition(Args& args, const CommandTable& commands, JournalFilter& filter);  // adds one condition; false: none

void RequireCompleteJournal(const RequestJournal& journal,  // throws if dropped entries of the journal might match
                            const JournalFilter& filter);

ClientFilter TakeClientFilter(Args& args);  // takes all arguments left: conditions such as CLIENT, ID, USER

}  // namespace respite
