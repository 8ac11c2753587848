// Logging from a signal handler: uses only system calls, no memory and no locks, and never blocks.
//
// Handlers receive only a number, so their data is process-wide: static variables in signal_log.cc, signals.cc and
// crash_report.cc, set before the handlers are installed.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "base/descriptor.h"

namespace respite {

// Sets the log file of handlers. An empty path means standard output. Paths longer than PATH_MAX are ignored.
void SetSignalLog(std::string_view path);

// Opens the log. All methods are async-signal-safe.
class SignalLog {
 public:
  SignalLog();

  int FileDescriptor() const { return fd_; }
  void Write(std::string_view text) const;
  void Decimal(int64_t number) const;
  void Hexadecimal(uint64_t number) const;
  void Word(uint64_t number) const;     // writes 16 hexadecimal digits
  void Byte(unsigned char byte) const;  // writes two hexadecimal digits
  // Writes the text in double quotes, with non-printable bytes as \xNN, cut after `longest` bytes.
  void Quoted(std::string_view text, size_t longest) const;
  // Writes the beginning of a line, for example "4242:signal-handler (1795232753) ".
  void Prefix() const;

 private:
  Descriptor file_;  // not open if the log is standard output
  int fd_ = STDOUT_FILENO;
};

}  // namespace respite
