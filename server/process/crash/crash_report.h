// The crash report: on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT logs the place (stack trace, registers, code), the
// running command and its client, and INFO. Then the process dies of that signal.
//
// The first lines need no memory and no locks. Each part is independent, so a fault ends only that part. INFO needs the
// heap, so a forked child writes it, and has only seconds to do so. Words of a command that may be passwords are left
// out.
//
// Why this is safe although POSIX allows handlers little:
//
// * It calls only async-signal-safe functions, and one that POSIX does not list: the unwinder, which allocates nothing
//   and whose only lock (of the list of loaded files, recursive) no thread holds while it waits for us.
//   PrepareStackTraces makes its first call, which sets up its tables.
// * siglongjmp skips destructors, so no Part has any, except in the child, which does not jump (a static_assert checks
//   captures). The frame with the open log is not skipped.
// * The list of servers is read without a lock; a server that leaves it at the same moment still exists.
// * Only a child made by _Fork uses the heap. It is a copy without connections, so it can do no damage; if a lock was
//   held or the heap is damaged, only the child hangs or dies. It ends after seconds, with its parent, or when out of
//   memory.
#pragma once

namespace respite {

struct Services;

// Has crashes of this thread reported, with what this server was doing. Installs the handlers if nobody has. To be
// called on the thread of the server's loop, which may have several servers. `server` must stay until LeaveCrashReport.
void JoinCrashReport(const Services& server);
// The last one restores the default actions of the signals. Harmless for a server that has not joined.
void LeaveCrashReport(const Services& server);

}  // namespace respite
