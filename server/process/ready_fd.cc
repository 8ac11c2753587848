#include "server/process/ready_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/str_cat.h"

namespace respite {

namespace {

// The maximum time, in milliseconds, to wait for a launcher that does not empty its full pipe.
constexpr int kMaxWaitMs = 1000;

// Duplicates standard output, and replaces it with standard error. Descriptor 1 must stay in use: a client's socket
// could otherwise get this number, and receive lines that are meant for standard output.
int TakeStandardOutput() {
  const int taken = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (taken >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  return taken;
}

bool MayBeWritten(int fd) {
  pollfd writable{fd, POLLOUT, 0};
  return poll(&writable, 1, kMaxWaitMs) > 0;
}

}  // namespace

std::optional<std::string> ReadyFd::Take(int number) {
  const std::string name = StrCat("ready-fd ", number);
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0) return name + ": the launcher has not passed an open file descriptor of this number";
  if ((flags & O_ACCMODE) == O_RDONLY) return name + ": this file descriptor is not open for writing";
  descriptor_ = Descriptor(number == STDOUT_FILENO ? TakeStandardOutput() : number);
  if (descriptor_.Get() < 0) return name + ": too many open files";
  fcntl(descriptor_.Get(), F_SETFD, FD_CLOEXEC);
  return std::nullopt;
}

ReadyFd::Outcome ReadyFd::Tell(std::string_view text) {
  const Descriptor own = std::exchange(descriptor_, Descriptor());
  while (own.Get() >= 0 && !text.empty()) {
    if (!MayBeWritten(own.Get())) return Outcome::kFailed;
    const ssize_t written = write(own.Get(), text.data(), text.size());
    if (written < 0 && errno == EPIPE) return Outcome::kNobodyReads;
    if (written < 0 && errno != EINTR && errno != EAGAIN) return Outcome::kFailed;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return Outcome::kDone;
}

}  // namespace respite
