#include "server/process/signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

#include "base/log.h"
#include "server/process/crash/signal_log.h"

namespace respite {

namespace {

// These variables are atomic, because any thread may run the signal handler that uses them.
std::atomic<int> event_descriptor = -1;
std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

// Writes a line to the log from a signal handler.
void Announce(const char* text) {
  SignalLog log;
  log.Prefix();
  log.Write(text);
}

// Removes the temporary file of a save that this process was writing, if it is in the working directory (not if it is
// in the directory of a node). Makes the file's name as class Snapshots does.
void RemoveUnfinishedDump() {
  constexpr std::string_view kBefore = "temp-";
  constexpr std::string_view kAfter = ".rdb";
  char name[40] = {};
  char* end = std::copy(kBefore.begin(), kBefore.end(), name);
  end = std::to_chars(end, end + 20, getpid()).ptr;
  std::copy(kAfter.begin(), kAfter.end(), end);
  unlink(name);
}

void OnShutdownSignal(int signal) {
  const int saved_errno = errno;
  if (received_signal != 0 && signal == SIGINT) {
    Announce("You insist... exiting now.\n");
    RemoveUnfinishedDump();
    _exit(1);
  }
  Announce(signal == SIGINT ? "Received SIGINT scheduling shutdown...\n" : "Received SIGTERM scheduling shutdown...\n");
  received_signal = signal;
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(event_descriptor, &one, sizeof one);
  errno = saved_errno;
}

// Unblocks SIGTERM and SIGINT, since a launcher may have left them blocked.
void Unblock() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

void SetSignalHandler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void IgnoreUnusedSignals() {
  SetSignalHandler(SIGALRM, SIG_IGN);  // until a watchdog starts
  SetSignalHandler(SIGHUP, SIG_IGN);
  SetSignalHandler(SIGPIPE, SIG_IGN);
}

ShutdownSignals::ShutdownSignals() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  event_descriptor = event_.Get();
  SetSignalHandler(SIGTERM, OnShutdownSignal);
  SetSignalHandler(SIGINT, OnShutdownSignal);
  Unblock();
}

ShutdownSignals::~ShutdownSignals() {
  SetSignalHandler(SIGTERM, SIG_DFL);
  SetSignalHandler(SIGINT, SIG_DFL);
  event_descriptor = -1;
}

int ShutdownSignals::Take() {
  uint64_t count = 0;
  [[maybe_unused]] ssize_t taken = read(event_.Get(), &count, sizeof count);
  return received_signal;
}

void ShutdownSignals::ForgetSignal() { received_signal = 0; }

}  // namespace respite
