// The crash report: on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT logs the place (stack trace, registers, code), the
// running command and its client, INFO and CLIENT LIST. Then the process dies of that signal, or exits with 1
// (directive use-exit-on-panic).
//
// The first lines need no memory and no locks. Each part is independent, so a fault ends only that part. INFO needs the
// heap, so a forked child writes it, and has only seconds to do so. Arguments of a command that may be passwords are
// left out.
//
// Why this is safe although POSIX allows handlers few functions:
//
// * The handler calls only async-signal-safe functions and the unwinder, which POSIX does not list. The unwinder
//   allocates nothing. Its only lock (of the list of loaded files, recursive) is not held by a thread that waits for
//   the report. PrepareStackTraces makes the first call of the unwinder, which sets up its tables.
// * siglongjmp skips destructors. So no part of the report has objects with destructors, except in the child, which
//   does not jump. (A static_assert checks the captures of each part.) The frame with the open log is not skipped.
// * The list of servers is read without a lock. A server that is being removed from the list still exists.
// * Only a child made by _Fork uses the heap. That child is a copy without connections, so it can do no damage. If a
//   lock was held or the heap is damaged, only the child hangs or dies. The child ends after seconds, with its parent,
//   or when out of memory.
#pragma once

namespace respite {

struct Services;

// Makes crash reports of this thread describe this server, until RemoveFromCrashReport. The first server also installs
// the signal handlers. Must be called on the thread of the server's loop; several servers may share that thread. A
// report describes only one of its servers, preferably one that runs a command. Requires: `server` exists until
// RemoveFromCrashReport.
void AddToCrashReport(const Services& server);  // crash reports of this thread may describe this server from now on
// Ends AddToCrashReport for this server. After the last server, also restores the default actions of the signals. Does
// nothing for a server that was not added.
void RemoveFromCrashReport(const Services& server);  // crash reports no longer describe this server

}  // namespace respite
