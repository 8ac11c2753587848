// The report of a crash: on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT the log gets where it happened (a stack trace
// for addr2line), and which command of which client was running. Then the process dies of that signal.
#pragma once

namespace respite {

class Server;

// `server` must outlive the handlers.
void InstallCrashReport(const Server& server);
// The signals do what they do by default.
void RemoveCrashReport();

}  // namespace respite
