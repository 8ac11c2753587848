// The report of a crash: on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT the log gets where it happened (stack trace,
// registers, code), which command of which client was running, and what INFO says. Then the process dies of that
// signal.
//
// Why what it does is safe, though POSIX allows a handler little:
//
// * It calls functions that are async-signal-safe, and one that is not on paper: the unwinder, which takes no memory
// and
//   whose only lock (the list of loaded files, recursive) is held by nobody who waits for us. PrepareStackTraces makes
//   its first call, which sets up its tables.
// * siglongjmp leaves frames of C++: those of a Part, which have nothing but plain values (a static_assert keeps
//   captures so, and nothing in a Part has a destructor but in the child, where no jump is made). The frame that has
//   the open log is not left.
// * The heap is used by nobody but a child that _Fork makes: it is a copy, so it can spoil nothing, it holds no
//   connection that anybody waits for, and it hangs or dies alone if a lock was held or the heap is broken. It ends
//   after seconds, with its parent, or when it gets no memory.
//
// Nothing in it trusts the process any more. What it writes first takes no memory and no lock; each part is on its own,
// so that a fault in it ends only that part; what needs the heap (INFO) is written by a forked child, for which nobody
// waits long. Passwords in the words of a command are left out.
#pragma once

namespace respite {

struct Services;

// `server` must outlive the handlers.
void InstallCrashReport(const Services& services);
// The signals do what they do by default.
void RemoveCrashReport();

}  // namespace respite
