// The report of a crash: on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT the log gets where it happened (stack trace,
// registers, code), which command of which client was running, and what INFO says. Then the process dies of that
// signal.
//
// Nothing in it trusts the process any more. What it writes first takes no memory and no lock; each part is on its own,
// so that a fault in it ends only that part; what needs the heap (INFO) is written by a forked child, for which nobody
// waits long. Passwords in the words of a command are left out.
#pragma once

namespace respite {

class Server;

// `server` must outlive the handlers.
void InstallCrashReport(Server& server);
// The signals do what they do by default.
void RemoveCrashReport();

}  // namespace respite
