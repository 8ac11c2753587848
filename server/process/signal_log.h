// Writing to the log from a signal handler: system calls only, no memory, no locks, never waiting for the reader.
//
// Handlers receive nothing but a number, so what they need is process-wide; all of it stands in signal_log.cc,
// signals.cc and crash_report.cc, set before the handlers are.
#pragma once

#include <cstdint>
#include <string_view>

namespace respite {

// Handlers log to this file from now on; empty: to standard output. Longer paths than PATH_MAX are not logged to.
void SetSignalLog(std::string_view path);

// One opening of the log. Everything here is async-signal-safe.
class SignalLog {
 public:
  SignalLog();
  ~SignalLog();
  SignalLog(const SignalLog&) = delete;
  SignalLog& operator=(const SignalLog&) = delete;

  int Descriptor() const { return fd_; }
  void Write(std::string_view text) const;
  void Decimal(int64_t number) const;
  void Hexadecimal(uint64_t number) const;
  void Word(uint64_t number) const;       // 16 hexadecimal digits
  void Octet(unsigned char octet) const;  // two of them
  // In double quotes, with what does not print as \xNN, cut after `longest` octets.
  void Quoted(std::string_view text, size_t longest) const;
  // "4242:signal-handler (1795232753) "
  void Prefix() const;

 private:
  int fd_;
  bool owned_;
};

}  // namespace respite
