// Logging from a signal handler: uses only system calls, allocates no memory, takes no locks, and never blocks.
//
// The code that installs a signal handler cannot pass data to it. So handlers read static variables, which are in
// signal_log.cc, signals.cc and crash_report.cc.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "base/descriptor.h"

namespace respite {

// Sets the log file of signal handlers. If the path has PATH_MAX bytes or more, signal handlers write to standard
// output instead.
void SetSignalLog(std::string_view path);  // sets the log file of signal handlers; empty: standard output

// All functions of SignalLog are async-signal-safe.
class SignalLog {  // writes to the log inside a signal handler, without allocating or blocking
 public:
  SignalLog();

  int FileDescriptor() const { return fd_; }  // of the log file (-1: it cannot be opened), or of standard output
  void Write(std::string_view text) const;    // writes the text as it is; a log that would block gets less
  void Decimal(int64_t number) const;         // writes the number in decimal digits
  void Hexadecimal(uint64_t number) const;    // writes "0x" and the hexadecimal digits, without leading zeros
  void Word(uint64_t number) const;           // writes 16 hexadecimal digits
  void Byte(unsigned char byte) const;        // writes two hexadecimal digits
  // Quoted writes non-printable bytes, quotes and backslashes as \xNN. If the text has more than `max_bytes` bytes,
  // "..." follows.
  void Quoted(std::string_view text, size_t max_bytes) const;  // writes the first `max_bytes` in double quotes
  void Prefix() const;  // writes the start of a line: "4242:signal-handler (1795232753) "

 private:
  Descriptor file_;         // the log file; not open if the log is standard output
  int fd_ = STDOUT_FILENO;  // descriptor to which the log is written; -1: the log file cannot be opened
};

}  // namespace respite
