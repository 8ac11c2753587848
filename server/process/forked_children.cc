#include "server/process/forked_children.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/out_of_memory.h"
#include "server/process/crash/out_of_memory_handlers.h"
#include "server/process/crash/signal_log.h"
#include "server/process/signals.h"

namespace respite {

namespace {

constexpr int kDoneCode = 0;
constexpr int kFailedCode = 1;
constexpr int kKilledCode = 255;  // Redis: SERVER_CHILD_NOERROR_RETVAL
constexpr int kReportDescriptor = 3;
constexpr int kOutputDescriptor = 4;
constexpr int64_t kReportEveryUs = 1'000'000;
// How much the niceness of a child is higher than the server's. When processors are scarce, clients have priority: the
// child gets a third of the server's share.
constexpr int kNiceness = 5;
// A child spends at most about 1/kMemoryLookShare of its time on measuring its memory, because the save stands still
// meanwhile, and the cost grows with the memory.
constexpr int64_t kMemoryLookShare = 100;

const char* NameOf(ChildWork work) {
  if (work == ChildWork::kBackup) return "Backup";
  return work == ChildWork::kRewrite ? "AOF rewrite" : "RDB";
}

void OnKill(int) {
  {
    const SignalLog log;
    log.Prefix();
    log.Write("Received SIGUSR1 in child, exiting now.\n");
  }
  _exit(kKilledCode);
}

// Blocks all signals around a fork. Otherwise the new child could run the server's signal handlers before it has
// installed its own.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { Release(); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  void Release() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Sends the progress of a child through a pipe to the server.
class PipeReporter final : public ChildReporter {
 public:
  PipeReporter(const RealClock& real_clock, Logger& log, ChildWork work, int pipe, int output)
      : real_clock_(real_clock), log_(log), work_(work), pipe_(pipe), output_(output) {}

  int OutputDescriptor() const override { return output_; }

  void Tell(uint64_t keys_done) override {
    const int64_t now_us = real_clock_.NowUs();
    if (now_us - last_us_ < kReportEveryUs) return;
    last_us_ = now_us;
    report_.keys_done = keys_done;
    if (now_us - looked_us_ > look_cost_us_ * kMemoryLookShare) LookAtMemory(LogLevel::kVerbose);
    Send();
  }

  void TellEnd() {
    LookAtMemory(LogLevel::kNotice);
    Send();
  }

 private:
  void LookAtMemory(LogLevel level) {
    const int64_t before_us = real_clock_.NowUs();
    report_.cow_bytes = PrivateDirtyBytes();
    report_.cow_at_us = looked_us_ = real_clock_.NowUs();
    look_cost_us_ = looked_us_ - before_us;
    report_.cow_peak_bytes = std::max(report_.cow_peak_bytes, report_.cow_bytes);
    sum_bytes_ += report_.cow_bytes;
    ++looks_;
    if (report_.cow_bytes == 0 && level != LogLevel::kNotice) return;
    log_.Log(level, std::string("Fork CoW for ") + NameOf(work_) + ": current " + Megabytes(report_.cow_bytes) +
                        " MB, peak " + Megabytes(report_.cow_peak_bytes) + " MB, average " +
                        Megabytes(sum_bytes_ / looks_) + " MB");
  }

  static std::string Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20); }

  void Send() {
    if (write(pipe_, &report_, sizeof report_) == static_cast<ssize_t>(sizeof report_)) return;
    log_.Warning(std::string("Child failed reporting info to parent, exiting. ") + std::strerror(errno));
    _exit(kFailedCode);
  }

  const RealClock& real_clock_;
  Logger& log_;
  ChildWork work_;
  int pipe_;
  int output_;
  ChildProgress report_;
  int64_t last_us_ = -kReportEveryUs;
  int64_t looked_us_ = -kReportEveryUs;
  int64_t look_cost_us_ = 0;
  uint64_t sum_bytes_ = 0;
  uint64_t looks_ = 0;
};

// Closes all descriptors of the child except standard input, output and error, the pipe for reports (which becomes
// descriptor 3), and `output` (which becomes 4). A negative `output` means none.
void CloseInherited(int pipe, int output) {
  closelog();  // otherwise syslog would write to a descriptor that later belongs to another file
  const int kept_output = output < 0 ? -1 : fcntl(output, F_DUPFD, kOutputDescriptor + 1);  // safe from the dup2 calls
  const int kept_pipe = fcntl(pipe, F_DUPFD, kOutputDescriptor + 1);
  dup2(kept_pipe, kReportDescriptor);
  if (kept_output >= 0) dup2(kept_output, kOutputDescriptor);
  close_range(kept_output >= 0 ? kOutputDescriptor + 1 : kReportDescriptor + 1, ~0U, 0);
}

// Reads a small file of /proc into the buffer, up to kSize bytes. Returns the content, or an empty text if the file
// cannot be read.
template <size_t kSize>
std::string_view ReadWhole(const char* path, std::array<char, kSize>& into) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  size_t size = 0;
  while (size < kSize) {
    const ssize_t got = read(file.Get(), into.data() + size, kSize - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  return {into.data(), size};
}

ChildEnd EndOf(int status) {
  ChildEnd end{ChildWork::kSnapshot, ChildOutcome::kFailed};
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else if (WEXITSTATUS(status) == kKilledCode) {
    end.signal = SIGUSR1;
  }
  if (end.signal == SIGUSR1) end.outcome = ChildOutcome::kKilled;
  if (end.signal == 0 && WEXITSTATUS(status) == kDoneCode) end.outcome = ChildOutcome::kSucceeded;
  return end;
}

}  // namespace

uint64_t PrivateDirtyBytes() {
  constexpr std::string_view kField = "Private_Dirty:";
  std::array<char, 4096> buffer;
  std::string_view text = ReadWhole("/proc/self/smaps_rollup", buffer);
  const size_t at = text.find(kField);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + kField.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  uint64_t kilobytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  return kilobytes * 1024;
}

ForkedChildren::ForkedChildren(const RealClock& real_clock, Logger& log, Preparation prepare)
    : real_clock_(real_clock), log_(log), prepare_(std::move(prepare)) {}

ForkedChildren::~ForkedChildren() { Kill(); }

Result<pid_t, int> ForkedChildren::Start(ChildWork work, Job job, int output) {
  if (child_) return Failure(int{EEXIST});
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure(int{errno});
  Descriptor from_child(ends[0]);
  Descriptor to_parent(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const pid_t parent = getpid();
  const int64_t started_us = real_clock_.NowUs();
  const SignalsHeld held;
  std::optional<SyslogPause> syslog_held(std::in_place);
  const pid_t pid = fork();
  syslog_held.reset();
  if (pid < 0) return Failure(int{errno});
  if (pid == 0) {
    SetOutOfMemoryHandler(EndChildOutOfMemory);
    SetSignalHandler(SIGUSR1, OnKill);
    SetSignalHandler(SIGINT, SIG_IGN);
    SetSignalHandler(SIGTERM, SIG_IGN);
    held.Release();
    Live(work, job, std::move(to_parent), output, parent);
  }
  end_.reset();
  child_.emplace(Child{work, pid, started_us, std::move(from_child)});
  return pid;
}

void ForkedChildren::Live(ChildWork work, const Job& job, Descriptor report_pipe, int output, pid_t parent) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kFailedCode);
  CloseInherited(report_pipe.Get(), output);
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNiceness);
  prepare_(work);
  PipeReporter reporter(real_clock_, log_, work, kReportDescriptor, output < 0 ? -1 : kOutputDescriptor);
  const bool done = job(reporter);
  if (done) reporter.TellEnd();
  _exit(done ? kDoneCode : kFailedCode);
}

void ForkedChildren::ReadReports() {
  // Each read gets one whole report: a report is shorter than PIPE_BUF, so the child has written it atomically.
  ChildProgress report;
  while (read(child_->report_pipe.Get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    child_->progress = report;
  }
}

ChildProgress ForkedChildren::Progress() {
  if (!child_) return {};
  ReadReports();
  return child_->progress;
}

std::optional<ChildEnd> ForkedChildren::Reap(int options) {
  int status = 0;
  pid_t pid = -1;
  do {
    pid = waitpid(child_->pid, &status, options);
  } while (pid < 0 && errno == EINTR);
  if (pid == 0) return std::nullopt;
  ReadReports();
  ChildEnd end = pid > 0 ? EndOf(status) : ChildEnd{child_->work, ChildOutcome::kFailed};
  if (pid < 0) log_.Warning(std::string("waitpid() returned an error: ") + std::strerror(errno));
  end.work = child_->work;
  end.pid = child_->pid;
  end.elapsed_ms = (real_clock_.NowUs() - child_->started_us) / 1000;
  end.last_progress = child_->progress;
  child_.reset();
  return end;
}

std::optional<ChildEnd> ForkedChildren::Poll() {
  if (end_) return std::exchange(end_, std::nullopt);
  return child_ ? Reap(WNOHANG) : std::nullopt;
}

void ForkedChildren::Kill() {
  if (!child_) return;
  kill(child_->pid, SIGUSR1);
  end_ = Reap(0);
}

}  // namespace respite
