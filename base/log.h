// The server's log: to standard output or a file, and optionally to syslog.
//
//   4242:M 21 Nov 2026 02:17:41.123 * Ready to accept connections tcp
//   pid ^ ^ role      local time    ^ mark of the level: . debug, - verbose, * notice, # warning
//
// Each call of Log writes one line. A text may contain parts that clients, scripts and other servers chose. Such a part
// cannot begin a line or send commands to a terminal: control characters are written as escapes such as "\n" or "\x1b".
// (kLogfmt has spaces for line ends.) Tabs (except in kJson) and UTF-8 are written unchanged.
//
// The server never waits for the reader of its log. If a pipe, terminal or socket is full, lines are lost. Before the
// next line that can be written, the log reports how many lines were lost. Each line is a single write(2); nothing is
// buffered.
//
// As in Redis, the file is opened for every line. So the log follows a rotated or deleted file immediately and without
// a signal. No descriptor has to survive fork and daemonize, and /dev/stdout and named pipes open without blocking.
// Lines are rare, so the three system calls (about 5 µs) do not matter. Standard output is also looked up for each
// line, so that a daemonized process does not keep its launcher's pipe open.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace respite {

enum class LogLevel : uint8_t { kDebug, kVerbose, kNotice, kWarning, kNothing };

// The format of a log line. kLegacy: the format at the beginning of this file. kLogfmt: `pid=4242 role=primary
// timestamp="…" level=notice message="Ready …"`. kJson: `{"pid":4242,"role":"primary","timestamp":"…",…}`.
enum class LogFormat : uint8_t { kLegacy, kLogfmt, kJson };
// How a log line shows the time, in the order of the values: "21 Nov 2026 02:17:41.123",
// "2026-11-21T02:17:41.123+00:00", or milliseconds since 1970.
enum class LogTimeFormat : uint8_t { kLegacy, kIso8601, kMilliseconds };

// Any thread and any forked child may log, and may change level, formats and role. Call the other setters only while no
// other thread logs. Requires: the process ignores SIGPIPE. Otherwise the process would be killed when the reader of
// its standard output ends.
class Logger {  // writes the server's log, to a file or standard output
 public:
  // `clock` must outlive the logger. Initially the level is kNotice, the target is standard output, and the role is C
  // (see SetRole).
  explicit Logger(const Clock& clock, int standard_output = 1);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  void SetLevel(LogLevel level) { level_ = level; }  // from now on drops lines below `level`; kNothing: drops all lines
  LogLevel Level() const { return level_; }          // lines below this level are not written
  bool IsLevelEnabled(LogLevel level) const {        // true: lines of this level are written
    return level >= level_ && level != LogLevel::kNothing;
  }

  void SetFormat(LogFormat format, LogTimeFormat time_format) {  // sets the formats of later lines
    format_ = format;
    time_format_ = time_format;
  }

  // The role applies to the process that calls SetRole, so SetRole must be called again after daemonizing. Children
  // that this process forks log as C (children of a Sentinel as X) automatically. C is also the role before the server
  // is set up.
  void SetRole(char role);  // sets the letter after the pid: M primary, S replica, C child, X sentinel

  // Call SetName if the process has several servers, each with its own log.
  void SetName(std::string_view name) {  // from now on, each text begins with "[name] "
    name_ = "[" + std::string(name) + "] ";
  }

  // Creates the file if it does not exist. Accepts a named pipe that has no reader yet. Returns nullopt, or the reason
  // why a log cannot be written there, such as "Permission denied".
  static std::optional<std::string> CheckFile(const std::string& path);  // tries to open the file; nullopt: no error
  // An empty path means standard output. If CheckFile refuses the file, changes nothing and returns the reason.
  std::optional<std::string> SetFile(std::string path);  // from now on logs to this file; returns nullopt, or the error

  // Lines in syslog have no prefix except "[name] " (SetName). `ident` is the name of the program in syslog. `facility`
  // is a constant of <syslog.h>; see SyslogFacility.
  void EnableSyslog(std::string ident, int facility);  // from now on also sends each line to syslog

  void Log(LogLevel level, std::string_view text);
  void Debug(std::string_view text) { Log(LogLevel::kDebug, text); }      // logs a line of level debug
  void Verbose(std::string_view text) { Log(LogLevel::kVerbose, text); }  // logs a line of level verbose
  void Notice(std::string_view text) { Log(LogLevel::kNotice, text); }    // logs a line of level notice
  void Warning(std::string_view text) { Log(LogLevel::kWarning, text); }  // logs a line of level warning

  // LogRaw is for logos and for reports of many lines. Requires: the text has no part that a client or another server
  // chose.
  void LogRaw(LogLevel level,  // writes the text without prefix and newline, unless the level is disabled
              std::string_view text);
  void LogRaw(std::string_view text) { LogRaw(LogLevel::kNotice, text); }  // at level notice, without prefix

  uint64_t DroppedLines() const {  // number of lines lost since the last report of lost lines
    return dropped_lines_.load(std::memory_order_relaxed);
  }

 private:
  enum class Outcome : uint8_t { kWritten, kTorn, kLost };  // kTorn: written in part; kLost: nothing was written
  enum class Process : uint8_t { kOwn, kChild };  // kOwn: the process that called SetRole; kChild: its forked children

  std::string Line(LogLevel level, std::string_view text);    // the whole line, in format_; with a newline
  int64_t UtcOffsetSeconds(int64_t wall_s, Process process);  // seconds that local time is ahead of UTC at `wall_s`
  void Emit(LogLevel level, std::string_view text, std::string line);  // writes `line` to the log, and `text` to syslog
  bool LogDroppedLines();      // logs how many lines were lost; false: this report cannot be written either
  bool Put(std::string line);  // writes a line; false: the line was lost
  Outcome Write(std::string_view line) const;                  // writes to file or standard output
  Outcome WriteToStandardOutput(std::string_view line) const;  // writes without waiting; kLost: nothing written

  const Clock& clock_;                                  // the clock whose time log lines show
  const int standard_output_;                           // the file descriptor of standard output
  std::atomic<LogLevel> level_ = LogLevel::kNotice;     // lines of lower levels are dropped
  std::atomic<LogFormat> format_ = LogFormat::kLegacy;  // how lines are written: as in Redis, logfmt or JSON
  std::atomic<LogTimeFormat> time_format_ = LogTimeFormat::kLegacy;  // how lines show the time: Redis, ISO 8601 or ms
  std::atomic<char> role_ = 'C';                                     // the letter that SetRole has set: M, S, C or X
  std::atomic<pid_t> role_pid_;  // the process that has role_; its forked children log as C, or as X of a Sentinel
  std::string name_;             // "[name] " in front of each text; empty: SetName was not called
  std::string path_;             // the log file; empty: standard output
  bool syslog_enabled_ = false;  // true: lines also go to syslog

  // dropped_lines_ and is_last_line_cut_ are atomic, because a lock cannot protect them: a child that is forked while
  // another thread holds the lock would wait for the lock forever.
  std::atomic<uint64_t> dropped_lines_{0};     // lines that could not be written since the last report of lost lines
  std::atomic<bool> is_last_line_cut_{false};  // true: the log ends inside a line, because a write took only part of it
  // One word holds the UTC offset of local time, and the quarter of an hour for which it was read. UTC offsets change
  // only at quarters of an hour. See UtcOffsetSeconds.
  std::atomic<int64_t> cached_utc_offset_{INT64_MIN};  // UTC offset, and when it was read; INT64_MIN: never read
};

// A SyslogPause must exist during a fork, so that no other thread holds syslog's lock then. Otherwise the child could
// inherit the lock in the locked state, and would wait forever when it logs. After the fork, both the parent and the
// child destroy their copy.
class SyslogPause {  // while this object exists, no thread writes to syslog
 public:
  SyslogPause();
  ~SyslogPause();
  SyslogPause(const SyslogPause&) = delete;
  SyslogPause& operator=(const SyslogPause&) = delete;
};

// Reads a value of the directive `loglevel`, ignoring case: "notice" gives LogLevel::kNotice.
std::optional<LogLevel> ParseLogLevel(std::string_view name);  // the level of this name; nullopt: unknown name

// Reads a value of the directive `syslog-facility`, ignoring case: "local0" … "local7" or "user".
std::optional<int> SyslogFacility(std::string_view name);  // "local0" gives LOG_LOCAL0; nullopt: unknown name

}  // namespace respite
