#include "server/process/check_tools.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "base/clock.h"
#include "persistence/aof_check.h"
#include "persistence/rdb_check.h"
#include "server/config/usage.h"

namespace respite {

namespace {

class Terminal final : public CheckConsole {
 public:
  void Say(const std::string& text) override { std::puts(text.c_str()); }
  bool Confirms(const std::string& question) override {
    std::fputs(question.c_str(), stdout);
    std::fflush(stdout);
    const int answer = std::getchar();
    return answer == 'y' || answer == 'Y';
  }
};

int ExitCode(bool is_good) { return std::fflush(stdout) == 0 && is_good ? 0 : 1; }

int AofUsage(const std::string& program) {
  std::printf("Usage: %s [--fix|--truncate-to-timestamp $timestamp] <file.manifest|file.aof>\n", program.c_str());
  return ExitCode(false);
}

std::optional<int64_t> TimestampOf(const std::string& text) {
  int64_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seconds);
  return error == std::errc() && stopped == end ? std::optional(seconds) : std::nullopt;
}

int CheckAofFile(const std::string& path, AofCheckOptions options) {
  SystemFiles files;
  Terminal terminal;
  options.now_ms = SystemClock().WallMs();
  return ExitCode(CheckAof(files, path, options, terminal));
}

int TruncateAofFile(const std::string& path, const std::string& timestamp) {
  const auto seconds = TimestampOf(timestamp);
  if (seconds) return CheckAofFile(path, {AofCheckOptions::Action::kTruncateToTimestamp, *seconds});
  std::puts("Invalid timestamp, aborting...");
  return ExitCode(false);
}

}  // namespace

int RunRdbCheck(std::span<const std::string> arguments) {
  if (arguments.size() != 2) {
    std::fprintf(stderr, "Usage: %s <rdb-file-name>\n", arguments[0].c_str());
    return 1;
  }
  const std::string& path = arguments[1];
  if (path == "-v" || path == "--version") {
    std::printf("redis-check-rdb %s\n", std::string(kRedisVersion).c_str());
    return ExitCode(true);
  }
  SystemFiles files;
  Terminal terminal;
  auto file = files.Open(path, FileSystem::Mode::kRead);
  if (file) return ExitCode(CheckRdb(*file.value(), path, SystemClock().WallMs(), terminal).has_value());
  terminal.Say("[offset 0] Checking RDB file " + path);
  terminal.Say("Cannot open file " + path + ": " + IoErrorText(file.error()));
  return ExitCode(false);
}

int RunAofCheck(std::span<const std::string> arguments) {
  using Action = AofCheckOptions::Action;
  if (arguments.size() == 2) return CheckAofFile(arguments[1], {Action::kLook});
  if (arguments.size() == 3 && arguments[1] == "--fix") return CheckAofFile(arguments[2], {Action::kFix});
  if (arguments.size() == 4 && arguments[1] == "--truncate-to-timestamp")
    return TruncateAofFile(arguments[3], arguments[2]);
  return AofUsage(arguments[0]);
}

}  // namespace respite
