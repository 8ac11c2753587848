#include "base/log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <system_error>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Flags for opening the log file, or for reopening standard output through /proc/self/fd. O_NONBLOCK: no write waits,
// and open() of a named pipe without a reader fails instead of waiting.
constexpr int kOpenFlags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

Descriptor OpenFile(const std::string& path) { return Descriptor(open(path.c_str(), kOpenFlags | O_CREAT, 0666)); }

template <typename Operation>
ssize_t Uninterrupted(Operation operation) {
  ssize_t result = 0;
  do {
    result = operation();
  } while (result < 0 && errno == EINTR);
  return result;
}

ssize_t WriteOnce(int fd, std::string_view line) {
  return Uninterrupted([&] { return write(fd, line.data(), line.size()); });
}

ssize_t SendOnce(int fd, std::string_view line) {
  return Uninterrupted([&] { return send(fd, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
}

// Writes a line to a descriptor that may block, but only if poll says that this will not wait. Returns the number of
// bytes written, or -1. WriteToStandardOutput calls it if /proc/self/fd/N cannot be opened as a non-blocking file:
// /proc is missing, or the terminal belongs to another user. Cuts a line of more than 4096 bytes, because a pipe that
// poll calls writable may have room for only that many.
ssize_t WriteIfReady(int fd, std::string_view line) {
  constexpr size_t kPipeCapacity = 4096;
  pollfd ready{fd, POLLOUT, 0};
  if (poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) return -1;
  return WriteOnce(fd, line.substr(0, kPipeCapacity));
}

void AppendPadded(std::string& out, int64_t number, size_t width) {
  const IntegerText text(number);
  const Bytes digits = text;
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out.append(digits);
}

// A moment in local time. The class computes the calendar itself, because localtime takes a lock that another thread
// may hold during a fork.
class LocalTime {
 public:
  LocalTime(int64_t wall_ms, int64_t utc_offset_s) : wall_ms_(wall_ms), utc_offset_s_(utc_offset_s) {}

  std::string Text(LogTimeFormat format) const {
    if (format == LogTimeFormat::kMilliseconds) return IntegerText(wall_ms_).Text();
    return format == LogTimeFormat::kIso8601 ? Iso8601() : Legacy();
  }

 private:
  using days = std::chrono::days;
  using milliseconds = std::chrono::milliseconds;

  std::string Legacy() const {
    std::string text;
    AppendPadded(text, static_cast<unsigned>(Date().day()), 2);
    text.append(" ").append(kMonths[static_cast<unsigned>(Date().month()) - 1]).append(" ");
    AppendPadded(text, static_cast<int>(Date().year()), 4);
    text.push_back(' ');
    return text + TimeOfDay();
  }
  std::string Iso8601() const {
    std::string text;
    AppendPadded(text, static_cast<int>(Date().year()), 4);
    text.push_back('-');
    AppendPadded(text, static_cast<unsigned>(Date().month()), 2);
    text.push_back('-');
    AppendPadded(text, static_cast<unsigned>(Date().day()), 2);
    text.append("T").append(TimeOfDay()).push_back(utc_offset_s_ < 0 ? '-' : '+');
    const int64_t minutes = (utc_offset_s_ < 0 ? -utc_offset_s_ : utc_offset_s_) / 60;
    AppendPadded(text, minutes / 60, 2);
    text.push_back(':');
    AppendPadded(text, minutes % 60, 2);
    return text;
  }
  std::string TimeOfDay() const {
    const std::chrono::hh_mm_ss time{Instant() - std::chrono::floor<days>(Instant())};
    std::string text;
    AppendPadded(text, time.hours().count(), 2);
    text.push_back(':');
    AppendPadded(text, time.minutes().count(), 2);
    text.push_back(':');
    AppendPadded(text, time.seconds().count(), 2);
    text.push_back('.');
    AppendPadded(text, time.subseconds().count(), 3);
    return text;
  }
  std::chrono::sys_time<milliseconds> Instant() const {
    return std::chrono::sys_time<milliseconds>{milliseconds{wall_ms_ + utc_offset_s_ * 1000}};
  }
  std::chrono::year_month_day Date() const { return std::chrono::floor<days>(Instant()); }

  int64_t wall_ms_;
  int64_t utc_offset_s_;
};

std::string_view RoleName(char role) {
  if (role == 'M') return "primary";
  if (role == 'S') return "replica";
  return role == 'X' ? "sentinel" : "child";
}

std::string_view LevelName(LogLevel level) {
  constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "notice", "warning"};
  return kNames[static_cast<size_t>(level)];
}

// Replaces double quotes by single quotes and line ends by spaces, as Valkey does, because the text will be written
// between quotes.
std::string TextForQuotes(std::string text) {
  for (char& c : text) {
    if (c == '"') c = '\'';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

// Returns true if a control character from U+0080 to U+009F, which UTF-8 encodes in two bytes, begins at `at`.
// Terminals obey some of these characters.
bool IsWideControl(std::string_view text, size_t at) {
  return text[at] == '\xc2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80 &&
         static_cast<unsigned char>(text[at + 1]) < 0xa0;
}

// Escapes the characters that must not occur between the quotes of a JSON string.
std::string EscapedForJson(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_wide = IsWideControl(text, at);
    if (is_wide) ++at;  // the second byte is the number of the character
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out.append({'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'});
    } else if (is_wide || byte < 0x20 || byte == 0x7f) {
      out.append("\\u00").append({kHexDigits[byte >> 4], kHexDigits[byte & 15]});
    } else {
      out += c;
    }
  }
  return out;
}

void AppendVisible(std::string& out, char c) {
  if (c == '\n') {
    out.append("\\n");
  } else if (c == '\r') {
    out.append("\\r");
  } else {
    const auto byte = static_cast<unsigned char>(c);
    out.append({'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]});
  }
}

// Returns the text as one line: control characters except tabs become escape sequences such as \n or \x1b.
std::string Visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (IsWideControl(text, at)) {
      AppendVisible(out, text[at++]);
      AppendVisible(out, text[at]);
    } else if (IsControl(text[at])) {
      AppendVisible(out, text[at]);
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

char Mark(LogLevel level) { return ".-*#"[static_cast<size_t>(level)]; }

int SyslogPriority(LogLevel level) {
  constexpr std::array<int, 4> kPriorities = {LOG_DEBUG, LOG_INFO, LOG_NOTICE, LOG_WARNING};
  return kPriorities[static_cast<size_t>(level)];
}

// The syslog connection, which all loggers of the process share. The C library's syslog has a lock that another thread
// may hold during a fork. So all calls are made under the mutex of this class, which a process takes before it forks.
class Syslog {
 public:
  void Open(const std::string& ident, int facility) {
    const std::lock_guard lock(mutex_);
    ident_ = ident;  // openlog keeps a pointer to ident_
    openlog(ident_.c_str(), LOG_PID | LOG_NDELAY | LOG_NOWAIT, facility);
    ++users_;
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) closelog();
  }
  void Write(int priority, std::string_view text) {
    const std::lock_guard lock(mutex_);
    syslog(priority, "%.*s", static_cast<int>(text.size()), text.data());
  }
  void Pause() { mutex_.lock(); }
  void Continue() { mutex_.unlock(); }

  static Syslog& Instance() {
    static auto* const syslog = new Syslog;  // never destroyed: threads may log until the end
    return *syslog;
  }

 private:
  std::mutex mutex_;
  std::string ident_;
  int users_ = 0;
};

// Initialises the time zone, because POSIX guarantees that localtime_r knows the time zone only after tzset. One call
// per process is enough.
void ReadTimeZone() { [[maybe_unused]] static const bool is_read = (tzset(), true); }

int64_t FloorDivide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

Logger::Logger(const Clock& clock, int standard_output)
    : clock_(clock), standard_output_(standard_output), role_pid_(getpid()) {
  ReadTimeZone();
}

Logger::~Logger() {
  if (syslog_enabled_) Syslog::Instance().Close();
}

void Logger::SetRole(char role) {
  role_ = role;
  role_pid_ = getpid();
}

std::optional<std::string> Logger::CheckFile(const std::string& path) {
  const Descriptor file = OpenFile(path);
  // ENXIO means a named pipe without a reader. This is no error, because a reader may come later.
  if (!file.IsOpen() && errno != ENXIO) return std::generic_category().message(errno);
  return std::nullopt;
}

std::optional<std::string> Logger::SetFile(std::string path) {
  if (!path.empty()) {
    if (auto objection = CheckFile(path)) return objection;
  }
  path_ = std::move(path);
  return std::nullopt;
}

void Logger::EnableSyslog(std::string ident, int facility) {
  if (syslog_enabled_) Syslog::Instance().Close();
  Syslog::Instance().Open(ident, facility);
  syslog_enabled_ = true;
}

void Logger::Log(LogLevel level, std::string_view text) {
  if (!IsLevelEnabled(level)) return;
  // Cuts a long text. The text may contain an error of a script or of another server, which can be very long.
  constexpr size_t kMaxTextBytes = 16 * 1024;
  std::string cut;
  if (text.size() > kMaxTextBytes) {
    cut = StrCat(text.substr(0, kMaxTextBytes), "... (", text.size(), " bytes)");
    text = cut;
  }
  const std::string visible = Visible(text);
  const bool is_quoted = format_ == LogFormat::kLogfmt;  // in JSON, Line escapes the text
  const std::string plain = format_ == LogFormat::kJson ? std::string(text) : visible;
  Emit(level, visible, Line(level, is_quoted ? Visible(TextForQuotes(std::string(text))) : plain));
}

void Logger::LogRaw(LogLevel level, std::string_view text) {
  if (IsLevelEnabled(level)) Emit(level, text, std::string(text));
}

std::string Logger::Line(LogLevel level, std::string_view text) {
  const pid_t pid = getpid();
  const Process process = pid == role_pid_ ? Process::kOwn : Process::kChild;
  const char own_role = role_;
  const char role = process == Process::kOwn || own_role == 'X' ? own_role : 'C';
  const int64_t wall_ms = clock_.WallMs();
  const LocalTime time(wall_ms, UtcOffsetSeconds(FloorDivide(wall_ms, 1000), process));
  const std::string moment = time.Text(time_format_);
  std::string line;
  line.reserve(name_.size() + text.size() + 96);
  if (format_ == LogFormat::kLegacy) {
    line.append(IntegerText(pid)).append({':', role, ' '}).append(moment).append({' ', Mark(level), ' '});
    return line.append(name_).append(text) + '\n';
  }
  if (format_ == LogFormat::kJson) {
    line.append("{\"pid\":").append(IntegerText(pid)).append(",\"role\":\"").append(RoleName(role));
    line.append("\",\"timestamp\":\"").append(moment).append("\",\"level\":\"").append(LevelName(level));
    return line.append("\",\"message\":\"").append(EscapedForJson(name_ + std::string(text))).append("\"}\n");
  }
  line.append("pid=").append(IntegerText(pid)).append(" role=").append(RoleName(role));
  line.append(" timestamp=\"").append(moment).append("\" level=").append(LevelName(level)).append(" message=\"");
  return line.append(TextForQuotes(name_)).append(text).append("\"\n");
}

// Returns how many seconds local time is ahead of UTC. UTC offsets change only at quarters of an hour, so the process
// reads the time zone once in each quarter. A forked child uses the last offset that its parent has read, because
// another thread may have held the lock of the time zone during the fork. Only if the parent has read none, the child
// reads the time zone itself.
int64_t Logger::UtcOffsetSeconds(int64_t wall_s, Process process) {
  constexpr int64_t kQuarter_s = 15 * 60;
  constexpr int kOffsetBits = 20;
  constexpr int64_t kBias = int64_t{1} << (kOffsetBits - 1);  // offsets are stored as positive numbers
  const int64_t quarter = FloorDivide(wall_s, kQuarter_s);
  const int64_t cached = cached_utc_offset_.load(std::memory_order_relaxed);
  const bool is_known = cached != INT64_MIN && process == Process::kChild;
  if (is_known || cached >> kOffsetBits == quarter) return (cached & ((int64_t{1} << kOffsetBits) - 1)) - kBias;
  const time_t seconds = wall_s;
  tm local{};
  localtime_r(&seconds, &local);
  cached_utc_offset_.store((quarter << kOffsetBits) | (local.tm_gmtoff + kBias), std::memory_order_relaxed);
  return local.tm_gmtoff;
}

void Logger::Emit(LogLevel level, std::string_view text, std::string line) {
  if (!LogDroppedLines() || !Put(std::move(line))) dropped_lines_.fetch_add(1, std::memory_order_relaxed);
  if (syslog_enabled_) {
    Syslog::Instance().Write(SyslogPriority(level), name_ + std::string(text));
  }
}

// Logs how many lines were lost, if any. Returns false if the line about the lost lines cannot be written either.
bool Logger::LogDroppedLines() {
  const uint64_t dropped = dropped_lines_.exchange(0, std::memory_order_relaxed);
  if (dropped == 0) return true;
  std::string text = IntegerText::FromUnsigned(dropped).Text();
  text.append(" log lines were lost: they could not be written");
  if (Put(Line(LogLevel::kWarning, text))) return true;
  dropped_lines_.fetch_add(dropped, std::memory_order_relaxed);
  return false;
}

// Writes a line. Returns false if the line was lost. A line of which only the first bytes were written counts as lost.
// The next line then starts with a newline, so that the two lines do not run together.
bool Logger::Put(std::string line) {
  const bool was_cut = is_last_line_cut_.exchange(false, std::memory_order_relaxed);
  if (was_cut) line.insert(0, 1, '\n');
  const Outcome outcome = Write(line);
  if (outcome == Outcome::kTorn || (outcome == Outcome::kLost && was_cut)) {
    is_last_line_cut_.store(true, std::memory_order_relaxed);
  }
  return outcome == Outcome::kWritten;
}

Logger::Outcome Logger::Write(std::string_view line) const {
  if (path_.empty()) return WriteToStandardOutput(line);
  const Descriptor file = OpenFile(path_);
  if (!file.IsOpen()) return Outcome::kLost;
  const ssize_t written = WriteOnce(file.Get(), line);
  if (written < 0) return Outcome::kLost;
  return static_cast<size_t>(written) == line.size() ? Outcome::kWritten : Outcome::kTorn;
}

// Writes to standard output without blocking. O_NONBLOCK belongs to the open file description, which other processes
// such as the launcher's shell may share. So a pipe or terminal is opened again through /proc, and only this new
// description is non-blocking.
Logger::Outcome Logger::WriteToStandardOutput(std::string_view line) const {
  struct stat status {};
  if (fstat(standard_output_, &status) != 0) return Outcome::kLost;
  ssize_t written = -1;
  if (S_ISSOCK(status.st_mode)) {
    written = SendOnce(standard_output_, line);
  } else if (S_ISREG(status.st_mode)) {
    written = WriteOnce(standard_output_, line);  // a file never blocks; standard error must share the offset
  } else {
    const std::string again = "/proc/self/fd/" + IntegerText(standard_output_).Text();
    const Descriptor own(open(again.c_str(), kOpenFlags));
    written = own.IsOpen() ? WriteOnce(own.Get(), line) : WriteIfReady(standard_output_, line);
  }
  if (written < 0) return Outcome::kLost;
  return static_cast<size_t>(written) == line.size() ? Outcome::kWritten : Outcome::kTorn;
}

SyslogPause::SyslogPause() { Syslog::Instance().Pause(); }
SyslogPause::~SyslogPause() { Syslog::Instance().Continue(); }

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"debug", "verbose", "notice", "warning", "nothing"};
  for (size_t i = 0; i < kNames.size(); i++) {
    if (EqualsIgnoreCase(name, kNames[i])) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::optional<int> SyslogFacility(std::string_view name) {
  constexpr std::array<int, 8> kLocal = {LOG_LOCAL0, LOG_LOCAL1, LOG_LOCAL2, LOG_LOCAL3,
                                         LOG_LOCAL4, LOG_LOCAL5, LOG_LOCAL6, LOG_LOCAL7};
  if (EqualsIgnoreCase(name, "user")) return LOG_USER;
  if (name.size() != 6 || !EqualsIgnoreCase(name.substr(0, 5), "local")) return std::nullopt;
  if (name[5] < '0' || name[5] > '7') return std::nullopt;
  return kLocal[static_cast<size_t>(name[5] - '0')];
}

}  // namespace respite
