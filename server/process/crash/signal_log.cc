#include "server/process/crash/signal_log.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace respite {

namespace {

char signal_log_path[PATH_MAX];

// Writes the digits of `number` (base 10 or 16) at the end of the buffer, and returns them.
template <size_t kSize>
std::string_view Digits(char (&buffer)[kSize], uint64_t number, uint64_t base) {
  char* at = buffer + kSize;
  do {
    *--at = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  return {at, static_cast<size_t>(buffer + kSize - at)};
}

}  // namespace

void SetSignalLog(std::string_view path) {
  size_t size = path.size() < sizeof signal_log_path ? path.size() : 0;
  std::copy_n(path.begin(), size, signal_log_path);
  signal_log_path[size] = '\0';
}

SignalLog::SignalLog() {
  if (signal_log_path[0] == '\0') return;
  file_ = Descriptor(open(signal_log_path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644));
  fd_ = file_.Get();
}

void SignalLog::Write(std::string_view text) const {
  // Writes at most PIPE_BUF bytes per call, because a pipe that poll reports as writable takes this number of bytes
  // without blocking.
  while (!text.empty()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) return;
    ssize_t written = write(fd_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void SignalLog::Decimal(int64_t number) const {
  char buffer[20];
  if (number < 0) Write("-");
  Write(Digits(buffer, number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number), 10));
}

void SignalLog::Hexadecimal(uint64_t number) const {
  char buffer[16];
  Write("0x");
  Write(Digits(buffer, number, 16));
}

void SignalLog::Word(uint64_t number) const {
  char buffer[16];
  const std::string_view digits = Digits(buffer, number, 16);
  std::fill(buffer, buffer + (sizeof buffer - digits.size()), '0');
  Write({buffer, sizeof buffer});
}

void SignalLog::Byte(unsigned char byte) const {
  const char digits[] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  Write({digits, sizeof digits});
}

void SignalLog::Quoted(std::string_view text, size_t max_bytes) const {
  Write("\"");
  for (char c : text.substr(0, max_bytes)) {
    auto byte = static_cast<unsigned char>(c);
    const char escaped[] = {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    const bool plain = byte >= ' ' && byte < 0x7f && c != '"' && c != '\\';
    Write(plain ? std::string_view(&c, 1) : std::string_view(escaped, sizeof escaped));
  }
  Write(text.size() > max_bytes ? "\"..." : "\"");
}

void SignalLog::Prefix() const {
  Decimal(getpid());
  Write(":signal-handler (");
  Decimal(time(nullptr));
  Write(") ");
}

}  // namespace respite
