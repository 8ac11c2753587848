#include "server/process/crash/crash_report.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <type_traits>

#include "base/clock.h"
#include "base/out_of_memory.h"
#include "base/str_cat.h"
#include "server/clients/acl/user.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/config/config.h"
#include "server/config/node_layout.h"
#include "server/config/usage.h"
#include "server/execution/services.h"
#include "server/observe/info/info.h"
#include "server/process/crash/crash_memory_check.h"
#include "server/process/crash/out_of_memory_handlers.h"
#include "server/process/crash/signal_log.h"
#include "server/process/crash/stack_trace.h"

namespace respite {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kWordsShown = 32;
static_assert(kWordsShown <= CommandSpec::kAllWords);
constexpr size_t kBytesShown = 256;  // bytes shown of each argument
constexpr size_t kStackBytes = size_t{256} << 10;
constexpr unsigned kTimeLimitSeconds = 15;  // for the whole report
constexpr int kChildTimeLimitMs = 5000;
constexpr int kChildLookEveryMs = 5;

// A server of this process, and the thread of its event loop. Only a thread that holds members_mutex may write these
// members; signal handlers read them without a lock.
struct KnownServer {
  std::atomic<const Services*> server = nullptr;
  std::atomic<pid_t> thread = 0;
};
std::array<KnownServer, NodeLayout::kMaxNodes> known_servers;
constinit std::mutex members_mutex;
const Services* crashing_services = nullptr;  // the server that the report being written describes; may be null

std::atomic<pid_t> reporting_thread = 0;
volatile std::sig_atomic_t reported_signal = 0;
volatile std::sig_atomic_t exits_instead = 0;  // use-exit-on-panic
volatile std::sig_atomic_t has_way_out = 0;
sigjmp_buf way_out;

// An alternative stack for the signal handlers of a thread, because the normal stack may have overflowed when they run.
class CrashStack {
 public:
  CrashStack() : memory_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) return;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kStackBytes;
    sigaltstack(&stack, nullptr);
  }
  ~CrashStack() {
    if (memory_ == MAP_FAILED) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, kStackBytes);
  }
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  void* memory_;
};

// Returns the server that the report of a crash in `thread` describes: a server of this thread, preferably one that
// runs a command. If the thread has none, returns any server. Returns null if there is no server.
const Services* ServerOf(pid_t thread) {
  const Services* found = nullptr;
  bool is_of_thread = false;
  for (const KnownServer& member : known_servers) {
    const Services* server = member.server.load();
    if (server == nullptr) continue;
    const bool is_here = member.thread == thread;
    if (is_here && server->clients.current_execution.CurrentSession() != nullptr) return server;
    if (found == nullptr || (is_here && !is_of_thread)) found = server;
    is_of_thread = is_of_thread || is_here;
  }
  return found;
}

[[noreturn]] void Die() {
  if (exits_instead != 0) _exit(1);
  const int signal = static_cast<int>(reported_signal);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  kill(getpid(), signal);
  for (;;) pause();  // another thread may receive the signal first
}

void OnLate(int, siginfo_t* info, void*) {
  if (info->si_code != SI_TIMER) Die();  // otherwise the watchdog sent it
}

void LimitTime() {
  struct sigaction action {};
  action.sa_sigaction = OnLate;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  alarm(kTimeLimitSeconds);
}

// Runs one part of the report. If a fault (such as SIGSEGV) happens in this part, the report continues after it.
// Objects in a part must not need a destructor.
template <class Part>
void Guarded(const SignalLog& log, Part part) {
  static_assert(std::is_trivially_destructible_v<Part>);
  if (sigsetjmp(way_out, 1) == 0) {
    has_way_out = 1;
    part();
  } else {
    log.Write("\n(the rest of this part could not be read)\n");
  }
  has_way_out = 0;
}

void WriteField(const SignalLog& log, const char* name, Bytes value) {
  log.Write(name);
  log.Quoted(value, kBytesShown);
}

void WriteWords(const SignalLog& log, const CurrentExecution& current_execution) {
  const auto words = current_execution.words;
  const bool hides_all = crashing_services != nullptr && crashing_services->env.settings.hide_user_data_from_log;
  const size_t public_words = hides_all ? 1 : current_execution.command->Spec().public_words;
  log.Write("\nargc: ");
  log.Decimal(static_cast<int64_t>(words.size()));
  log.Write("\n");
  for (size_t i = 0; i < std::min(words.size(), kWordsShown); ++i) {
    log.Write("argv[");
    log.Decimal(static_cast<int64_t>(i));
    log.Write("]: ");
    log.Quoted(i < public_words ? words[i] : Bytes("(redacted)"), kBytesShown);
    log.Write("\n");
  }
}

void WriteClient(const SignalLog& log, const CurrentExecution& current_execution) {
  const Session* session = current_execution.CurrentSession();
  if (session == nullptr) {
    log.Write("\nNo command was running.\n");
    return;
  }
  log.Write("\n------ CURRENT CLIENT INFO ------\nid=");
  log.Decimal(static_cast<int64_t>(session->id));
  WriteField(log, " addr=", session->addresses.peer);
  WriteField(log, " laddr=", session->addresses.local);
  WriteField(log, " name=", session->identity.name);
  WriteField(log, " user=", session->user->name());
  log.Write(" db=");
  log.Decimal(session->db);
  log.Write(" resp=");
  log.Decimal(static_cast<int64_t>(session->resp));
  WriteField(log, " cmd=", current_execution.command->full_name);
  WriteWords(log, current_execution);
}

void WriteCause(const SignalLog& log, int signal, const siginfo_t& info, const ucontext_t& context) {
  log.Prefix();
  log.Write("Redis ");
  log.Write(kRedisVersion);
  log.Write(" crashed by signal: ");
  log.Decimal(signal);
  log.Write(", si_code: ");
  log.Decimal(info.si_code);
  log.Write("\n");
  log.Prefix();
  if (info.si_code == SI_USER) {
    log.Write("Killed by PID: ");
    log.Decimal(info.si_pid);
    log.Write(", UID: ");
    log.Decimal(info.si_uid);
  } else if (signal == SIGSEGV || signal == SIGBUS) {
    log.Write("Accessing address: ");
    log.Hexadecimal(reinterpret_cast<uint64_t>(info.si_addr));
    log.Write("\n");
    log.Prefix();
    log.Write("Crashed running the instruction at: ");
    log.Hexadecimal(InstructionAddress(context));
  } else {
    log.Write("Raised by the process itself");
  }
  log.Write("\n");
}

// Replaces the process ID in the text of INFO, which a child has made, by the ID of the server's process.
std::string WithProcessId(std::string info, pid_t process) {
  constexpr Bytes kField = "process_id:";
  const size_t at = info.find(kField);
  if (at == std::string::npos) return info;
  const size_t value = at + kField.size();
  return info.replace(value, info.find('\r', value) - value, std::to_string(process));
}

[[noreturn]] void WriteInChild(const SignalLog& log, const Services& services, pid_t process) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGALRM, SIG_DFL);
  alarm(kChildTimeLimitMs / 1000 + 1);  // in case the parent dies
  for (int signal : kSignals) std::signal(signal, SIG_DFL);
  SetOutOfMemoryHandler(EndCrashReporterOutOfMemory);
  static constexpr std::array<Bytes, 1> kEverything = {"everything"};
  log.Write("\n------ INFO OUTPUT ------\n");
  std::string info = WithProcessId(InfoReport(services, kEverything), process);
  std::erase(info, '\r');
  log.Write(info);
  log.Write("\n------ CLIENT LIST OUTPUT ------\n");
  services.clients.registry.ForEach(
      [&](const Session& session) { log.Write(ClientText(session, services.env.clock.MonotonicMs()) + "\n"); });
  log.Write("\n------ CONFIG DEBUG OUTPUT ------\n");
  for (const auto& [name, value] : services.env.config.ValuesForCrashReport())
    log.Write(StrCat(name, " ", value, "\n"));
  _exit(0);
}

// Waits for the child, and kills it after a time limit. Returns true if the child exited by itself with success.
bool AwaitChild(pid_t child) {
  for (int waited_ms = 0; waited_ms < kChildTimeLimitMs; waited_ms += kChildLookEveryMs) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status == 0;
    const timespec a_little{0, kChildLookEveryMs * 1'000'000};
    nanosleep(&a_little, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

// Writes INFO, CLIENT LIST and some directives to the crash report, in a child. Makes the child with _Fork: fork()
// would wait for the locks of the allocator, which the crashed code may hold.
void WriteState(const SignalLog& log, const Services& services) {
  const pid_t process = getpid();
  const pid_t child = _Fork();
  if (child == 0) WriteInChild(log, services, process);
  if (child < 0 || !AwaitChild(child)) log.Write("\n(INFO could not be written: the heap is damaged, or locked)\n");
}

void WriteReport(int signal, const siginfo_t& info, const ucontext_t& context) {
  SignalLog log;
  log.Write("\n\n=== REDIS BUG REPORT START: Cut & paste starting from here ===\n");
  WriteCause(log, signal, info, context);
  Guarded(log, [&] { WriteStackTrace(log, context); });
  Guarded(log, [&] { WriteRegisters(log, context); });
  Guarded(log, [&] { WriteStackTop(log, context); });
  if (crashing_services != nullptr)
    Guarded(log, [&] { WriteClient(log, crashing_services->clients.current_execution); });
  if (crashing_services != nullptr) Guarded(log, [&] { WriteState(log, *crashing_services); });
  Guarded(log, [&] { WriteMachineCode(log, context); });
  const bool tests_memory = crashing_services != nullptr && crashing_services->env.settings.crash_memcheck_enabled;
  if (tests_memory) Guarded(log, [&] { TestMemoryAfterCrash(log); });
  log.Write("\nrespite_version:");
  log.Write(kRespiteVersion);
  log.Write("\n\n=== REDIS BUG REPORT END. ===\n\n");
}

// Handles a fault that happens while a report is written. In the thread that writes the report, continues with the next
// part of the report, or ends the process. In any other thread, waits until the process ends.
void OnFaultInReport(pid_t thread) {
  if (thread != reporting_thread) {
    for (;;) pause();
  }
  if (has_way_out != 0) siglongjmp(way_out, 1);
  Die();
}

void OnCrash(int signal, siginfo_t* info, void* context) {
  const pid_t thread = gettid();
  pid_t nobody = 0;
  if (!reporting_thread.compare_exchange_strong(nobody, thread)) OnFaultInReport(thread);
  reported_signal = signal;
  LimitTime();
  crashing_services = ServerOf(thread);
  const bool is_own = signal == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid();
  exits_instead = is_own && crashing_services != nullptr && crashing_services->env.settings.use_exit_on_panic ? 1 : 0;
  WriteReport(signal, *info, *static_cast<ucontext_t*>(context));
  Die();
}

// Logs the exception that no code has caught, and aborts.
[[noreturn]] void OnTerminate() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    SignalLog log;
    log.Prefix();
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      log.Write("Uncaught exception: ");
      log.Write(error.what());
    } catch (...) {
      log.Write("Uncaught exception of an unknown type");
    }
    log.Write("\n");
  }
  std::abort();
}

void InstallHandlers() {
  PrepareStackTraces();
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
  std::set_terminate(OnTerminate);
}

bool IsEmpty() {
  return std::ranges::all_of(known_servers, [](const KnownServer& member) { return member.server == nullptr; });
}

}  // namespace

void AddToCrashReport(const Services& server) {
  [[maybe_unused]] static thread_local const CrashStack stack;
  RemoveFromCrashReport(server);
  const std::lock_guard lock(members_mutex);
  if (IsEmpty()) InstallHandlers();
  const auto free =
      std::ranges::find_if(known_servers, [](const KnownServer& member) { return member.server == nullptr; });
  if (free == known_servers.end()) return;
  free->thread = gettid();
  free->server = &server;
}

void RemoveFromCrashReport(const Services& server) {
  const std::lock_guard lock(members_mutex);
  const auto found =
      std::ranges::find_if(known_servers, [&](const KnownServer& member) { return member.server == &server; });
  if (found == known_servers.end()) return;
  found->server = nullptr;
  if (!IsEmpty()) return;
  for (int signal : kSignals) std::signal(signal, SIG_DFL);
}

}  // namespace respite
