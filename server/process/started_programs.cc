#include "server/process/started_programs.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace respite {

namespace {

constexpr int kCannotRunCode = 2;

// Gives a started program the default signal actions, also for signals that the server ignores or blocks.
class FreshSignals {
 public:
  FreshSignals() {
    posix_spawnattr_init(&attributes_);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~FreshSignals() { posix_spawnattr_destroy(&attributes_); }
  FreshSignals(const FreshSignals&) = delete;
  FreshSignals& operator=(const FreshSignals&) = delete;
  const posix_spawnattr_t* Get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

ProgramEnd EndOf(int64_t process, int status) {
  return {.process_id = process,
          .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace

Result<int64_t, int> StartedPrograms::Start(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;  // because posix_spawn takes texts that may be changed
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const FreshSignals signals;
  pid_t process = 0;
  const int error = posix_spawn(&process, arguments[0], nullptr, signals.Get(), arguments.data(), environ);
  if (error == EAGAIN || error == ENOMEM) return Failure(int{error});
  if (error != 0) {
    failed_starts_.push_back({.process_id = --last_placeholder_pid_, .exit_code = kCannotRunCode});
    return last_placeholder_pid_;
  }
  running_.push_back(process);
  return int64_t{process};
}

std::optional<ProgramEnd> StartedPrograms::TakeEndedProgram() {
  if (!failed_starts_.empty()) {
    const ProgramEnd end = failed_starts_.front();
    failed_starts_.pop_front();
    return end;
  }
  for (auto process = running_.begin(); process != running_.end(); ++process) {
    int status = 0;
    if (waitpid(static_cast<pid_t>(*process), &status, WNOHANG) <= 0) continue;
    const ProgramEnd end = EndOf(*process, status);
    running_.erase(process);
    return end;
  }
  return std::nullopt;
}

void StartedPrograms::Kill(int64_t process) {
  if (process > 0) kill(static_cast<pid_t>(process), SIGKILL);
}

}  // namespace respite
