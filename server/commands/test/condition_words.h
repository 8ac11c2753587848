// The words that say which requests and clients a subcommand of TEST means: `COMMAND set KEY lock:* CLIENT worker-*`.
#pragma once

#include "server/execution/args.h"
#include "server/lab/request_filter.h"
#include "server/lab/request_journal.h"

namespace respite {

class CommandTable;

inline constexpr char kNoJournal[] = "ERR there is no journal. TEST JOURNAL START begins one";
inline constexpr char kConditions[] = "COMMAND, CATEGORY, KEY, CLIENT, ID, USER, ADDR, DB, LIB, SCRIPT and TRANSACTION";

// Takes a condition and its value, and adds it to the filter. False: the next word is none, or there is none. Throws a
// refusal for a value that does not fit.
bool TakeCondition(Args& args, const CommandTable& commands, RequestFilter& filter);
// The same for those of the journal: OUTCOME and SINCE, too.
bool TakeCondition(Args& args, const CommandTable& commands, JournalFilter& filter);

// Throws a refusal if the journal has dropped entries that might have fitted.
void RequireWhole(const RequestJournal& journal, const JournalFilter& filter);

// All words that are left are conditions for clients: CLIENT, ID, USER, ADDR, DB, LIB.
ClientFilter TakeClientFilter(Args& args);

}  // namespace respite
