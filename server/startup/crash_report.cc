#include "server/startup/crash_report.h"

#include <execinfo.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#include <csignal>

#include "server/acl/user.h"
#include "server/config/usage.h"
#include "server/server.h"
#include "server/startup/signal_log.h"

namespace respite {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kDeepestFrame = 100;
constexpr size_t kWordsShown = 32;
constexpr size_t kOctetsShown = 256;  // of each word
constexpr size_t kStackBytes = size_t{64} << 10;

const Server* crashing_server = nullptr;
alignas(16) char crash_stack[kStackBytes];  // the usual one may be what overflowed

struct Frames {
  void* addresses[kDeepestFrame];
  int count = 0;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* into) {
  auto& frames = *static_cast<Frames*>(into);
  if (frames.count == kDeepestFrame) return _URC_END_OF_STACK;
  frames.addresses[frames.count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));  // NOLINT: the unwinder's type
  return _URC_NO_REASON;
}

// glibc's backtrace() would load a library here; the unwinder that exceptions use is in the program already.
void WriteStack(const SignalLog& log) {
  log.Write("\n------ STACK TRACE ------\n");
  Frames frames;
  _Unwind_Backtrace(AddFrame, &frames);
  backtrace_symbols_fd(frames.addresses, frames.count, log.Descriptor());
}

void WriteField(const SignalLog& log, const char* name, const std::string& value) {
  log.Write(name);
  log.Quoted(value, kOctetsShown);
}

void WriteClient(const SignalLog& log, const Executor& executor) {
  const Session* session = executor.CurrentSession();
  if (session == nullptr) {
    log.Write("\nNo command was running.\n");
    return;
  }
  log.Write("\n------ CURRENT CLIENT INFO ------\nid=");
  log.Decimal(static_cast<int64_t>(session->id));
  WriteField(log, " addr=", session->address);
  WriteField(log, " laddr=", session->local_address);
  WriteField(log, " name=", session->name);
  WriteField(log, " user=", session->user->name());
  log.Write(" db=");
  log.Decimal(session->db);
  log.Write("\nargc: ");
  log.Decimal(static_cast<int64_t>(executor.CurrentWords().size()));
  log.Write("\n");
  size_t index = 0;
  for (Bytes word : executor.CurrentWords().first(std::min(executor.CurrentWords().size(), kWordsShown))) {
    log.Write("argv[");
    log.Decimal(static_cast<int64_t>(index++));
    log.Write("]: ");
    log.Quoted(word, kOctetsShown);
    log.Write("\n");
  }
}

void WriteCause(const SignalLog& log, int signal, const siginfo_t& info) {
  log.Prefix();
  log.Write("Redis ");
  log.Write(kRedisVersion);
  log.Write(" crashed by signal: ");
  log.Decimal(signal);
  log.Write(", si_code: ");
  log.Decimal(info.si_code);
  log.Write("\n");
  if (info.si_code == SI_USER) {
    log.Prefix();
    log.Write("Killed by PID: ");
    log.Decimal(info.si_pid);
    log.Write(", UID: ");
    log.Decimal(info.si_uid);
    log.Write("\n");
  } else if (signal == SIGSEGV || signal == SIGBUS) {
    log.Prefix();
    log.Write("Accessing address: ");
    log.Hexadecimal(reinterpret_cast<uint64_t>(info.si_addr));
    log.Write("\n");
  }
}

// The handler was taken off when it was called (SA_RESETHAND): another fault in here, or the signal sent again at the
// end, ends the process. What is most useful is therefore written first.
void OnCrash(int signal, siginfo_t* info, void*) {
  {
    SignalLog log;
    log.Write("\n\n=== REDIS BUG REPORT START: Cut & paste starting from here ===\n");
    WriteCause(log, signal, *info);
    WriteStack(log);
    if (crashing_server != nullptr) WriteClient(log, crashing_server->executor());
    log.Write("\nrespite_version:");
    log.Write(kRespiteVersion);
    log.Write("\n\n=== REDIS BUG REPORT END. ===\n\n");
  }
  kill(getpid(), signal);
}

}  // namespace

void InstallCrashReport(const Server& server) {
  crashing_server = &server;
  stack_t stack{};
  stack.ss_sp = crash_stack;
  stack.ss_size = sizeof crash_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

void RemoveCrashReport() {
  crashing_server = nullptr;
  for (int signal : kSignals) std::signal(signal, SIG_DFL);
}

}  // namespace respite
