#include "server/tools/check_tools.h"

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
  bool AskYesOrNo(const std::string& question) override {
    std::fputs(question.c_str(), stdout);
    std::fflush(stdout);
    const int answer = std::getchar();
    return answer == 'y' || answer == 'Y';
  }
};

int ExitCode(bool is_good) { return std::fflush(stdout) == 0 && is_good ? 0 : 1; }

constexpr char kAofUsage[] = "Usage: %s [--fix|--truncate-to-timestamp $timestamp] <file.manifest|file.aof>\n";
constexpr char kAofHelp[] =
    "Checks an append-only file, given its manifest or a single file. Exits with 0 if it is valid or was repaired.\n"
    "\n"
    "  --fix                          ask, and then truncate the last file after its last good record,\n"
    "                                 unless complete records follow\n"
    "  --truncate-to-timestamp TIME   remove records written after TIME, in Unix seconds, without asking; the file\n"
    "                                 must have been written with aof-timestamp-enabled\n"
    "  -h, --help                     print this\n";
constexpr char kRdbUsage[] = "Usage: %s <rdb-file-name>\n";
constexpr char kRdbHelp[] =
    "Checks a snapshot (RDB file). Exits with 0 if it is valid.\n"
    "\n"
    "  -h, --help       print this\n"
    "  -v, --version    print the version\n";

bool AsksForHelp(std::span<const std::string> arguments) {
  return arguments.size() == 2 && (arguments[1] == "-h" || arguments[1] == "--help");
}

int PrintHelp(const char* usage, const std::string& program, const char* help) {
  std::printf(usage, program.c_str());
  std::puts("");
  std::fputs(help, stdout);
  return ExitCode(true);
}

int AofUsage(const std::string& program) {
  std::printf(kAofUsage, program.c_str());
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
  if (AsksForHelp(arguments)) return PrintHelp(kRdbUsage, arguments[0], kRdbHelp);
  if (arguments.size() != 2) {
    std::fprintf(stderr, kRdbUsage, arguments[0].c_str());
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
  if (AsksForHelp(arguments)) return PrintHelp(kAofUsage, arguments[0], kAofHelp);
  if (arguments.size() == 2) return CheckAofFile(arguments[1], {Action::kLook});
  if (arguments.size() == 3 && arguments[1] == "--fix") return CheckAofFile(arguments[2], {Action::kFix});
  if (arguments.size() == 4 && arguments[1] == "--truncate-to-timestamp")
    return TruncateAofFile(arguments[3], arguments[2]);
  return AofUsage(arguments[0]);
}

}  // namespace respite
