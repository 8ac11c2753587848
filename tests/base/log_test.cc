#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/str_cat.h"

namespace respite {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class LogTest : public testing::Test {
 protected:
  LogTest() {
    signal(SIGPIPE, SIG_IGN);
    setenv("TZ", "UTC", 1);
    tzset();
    std::string pattern = testing::TempDir() + "respite-log-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    clock_.SetWallMs(1'795'227'461'123);  // 2026-11-21T02:17:41.123Z
    EXPECT_EQ(pipe(pipe_.data()), 0);
    fcntl(pipe_[0], F_SETFL, O_NONBLOCK);
  }

  ~LogTest() override {
    CloseReader();
    close(pipe_[1]);
    std::filesystem::remove_all(directory_);
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string Drain(int fd) {
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t got = 0; (got = read(fd, chunk.data(), chunk.size())) > 0;)
      text.append(chunk.data(), static_cast<size_t>(got));
    return text;
  }

  std::string Drained() const { return Drain(pipe_[0]); }

  void CloseReader() {
    if (pipe_[0] >= 0) close(pipe_[0]);
    pipe_[0] = -1;
  }

  std::string Prefix(char role) const { return StrCat(getpid(), ":", role, " 21 Nov 2026 02:17:41.123 "); }

  ManualClock clock_;
  std::string directory_;
  std::array<int, 2> pipe_{};
};

TEST_F(LogTest, PrintsTheLinesOfRedis) {
  Logger log(clock_, pipe_[1]);
  log.SetLevel(LogLevel::kDebug);
  log.SetRole('M');
  log.Debug("a");
  log.Verbose("b");
  log.Notice("Ready to accept connections tcp");
  log.Warning("d");
  const std::string prefix = Prefix('M');
  EXPECT_EQ(Drained(),
            prefix + ". a\n" + prefix + "- b\n" + prefix + "* Ready to accept connections tcp\n" + prefix + "# d\n");
}

TEST_F(LogTest, PrintsOtherForms) {
  setenv("TZ", "IST-5:30", 1);
  tzset();
  Logger log(clock_, pipe_[1]);
  log.SetRole('M');
  log.SetFormat(LogFormat::kLegacy, LogTimeFormat::kMilliseconds);
  log.Notice("x");
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(Drained(), pid + ":M 1795227461123 * x\n");
  log.SetFormat(LogFormat::kLogfmt, LogTimeFormat::kIso8601);
  log.Warning("a \"b\"\r\nc");
  EXPECT_EQ(Drained(), "pid=" + pid +
                           " role=primary timestamp=\"2026-11-21T07:47:41.123+05:30\" level=warning "
                           "message=\"a 'b'  c\"\n");
  setenv("TZ", "PST8", 1);
  tzset();
  Logger other(clock_, pipe_[1]);
  other.SetFormat(LogFormat::kLogfmt, LogTimeFormat::kIso8601);
  other.Notice("x");
  EXPECT_EQ(Drained(),
            "pid=" + pid + " role=child timestamp=\"2026-11-20T18:17:41.123-08:00\" level=notice message=\"x\"\n");
}

// Parts of a text come from clients, scripts and other servers. They must not be able to imitate another line.
TEST_F(LogTest, WritesEachTextOnOneLine) {
  Logger log(clock_, pipe_[1]);
  const auto written = [&](const std::string& text) {
    log.Notice(text);
    const std::string line = Drained();
    return line.substr(line.find('*') + 2);
  };
  EXPECT_EQ(written("user\n+INJ\r\nx"), "user\\n+INJ\\r\\nx\n");
  EXPECT_EQ(written(std::string("a\0b\x1b[31m\x7f", 9)), "a\\x00b\\x1b[31m\\x7f\n");
  EXPECT_EQ(written("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b31m\n");
  EXPECT_EQ(written("a\tb \\ Gr\xc3\xbc\xc3\x9f \xc2\xa0 \xff"), "a\tb \\ Gr\xc3\xbc\xc3\x9f \xc2\xa0 \xff\n");
  log.SetFormat(LogFormat::kLogfmt, LogTimeFormat::kIso8601);
  log.Notice(
      "a\x1b"
      "b");
  EXPECT_THAT(Drained(), EndsWith("message=\"a\\x1bb\"\n"));
  log.SetFormat(LogFormat::kJson, LogTimeFormat::kIso8601);
  log.Notice("a\n\x1b \xc2\x9b \xc2\xa0 \"");
  EXPECT_THAT(Drained(), EndsWith("\"message\":\"a\\n\\u001b \\u009b \xc2\xa0 \\\"\"}\n"));
}

TEST_F(LogTest, CutsLongTexts) {
  Logger log(clock_, pipe_[1]);
  log.Notice(std::string(100'000, 'x'));
  const std::string line = Drained();
  EXPECT_LT(line.size(), 17'000u);
  EXPECT_THAT(line, EndsWith("x... (100000 bytes)\n"));
}

TEST_F(LogTest, PadsTheTime) {
  clock_.SetWallMs(1'767'513'845'006);  // 2026-01-04T08:04:05.006Z
  Logger log(clock_, pipe_[1]);
  log.Notice("x");
  EXPECT_THAT(Drained(), EndsWith(":C 04 Jan 2026 08:04:05.006 * x\n"));
}

TEST_F(LogTest, PrintsLocalTimeAndFollowsDaylightSaving) {
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  Logger log(clock_, pipe_[1]);
  clock_.SetWallMs(1'774'745'999'999);  // one millisecond before the change of 29 March 2026, 01:00 UTC
  log.Notice("winter");
  clock_.AdvanceMs(1);
  log.Notice("summer");
  const std::string text = Drained();
  EXPECT_THAT(text, HasSubstr("29 Mar 2026 01:59:59.999 * winter\n"));
  EXPECT_THAT(text, HasSubstr("29 Mar 2026 03:00:00.000 * summer\n"));
}

TEST_F(LogTest, AgreesWithTheLibraryAboutDates) {
  for (const int64_t wall_s : {0LL, 951'782'400LL, 1'709'164'800LL, 4'102'444'799LL}) {
    clock_.SetWallMs(wall_s * 1000);
    Logger log(clock_, pipe_[1]);
    log.Notice("x");
    const time_t seconds = wall_s;
    std::array<char, 64> expected{};
    std::strftime(expected.data(), expected.size(), "C %d %b %Y %H:%M:%S.000 * x\n", std::gmtime(&seconds));
    EXPECT_THAT(Drained(), EndsWith(expected.data()));
  }
}

TEST_F(LogTest, DropsLinesBelowItsLevel) {
  Logger log(clock_, pipe_[1]);
  log.Verbose("no");
  log.LogRaw(LogLevel::kVerbose, "no");
  log.SetLevel(LogLevel::kWarning);
  log.Notice("no");
  log.SetLevel(LogLevel::kNothing);
  log.Warning("no");
  EXPECT_FALSE(log.IsLevelEnabled(LogLevel::kNothing));
  EXPECT_EQ(Drained(), "");
}

TEST_F(LogTest, PrintsRawTextUntouched) {
  Logger log(clock_, pipe_[1]);
  log.LogRaw("two\nlines");
  EXPECT_EQ(Drained(), "two\nlines");
}

TEST_F(LogTest, AChildLogsItsOwnPidAndRole) {
  Logger log(clock_, pipe_[1]);
  log.SetRole('S');
  const pid_t child = fork();
  if (child == 0) {
    log.Notice("saved");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Drained(), StrCat(child, ":C 21 Nov 2026 02:17:41.123 * saved\n"));
  log.Notice("x");
  EXPECT_EQ(Drained(), Prefix('S') + "* x\n");
}

TEST_F(LogTest, AppendsToItsFileAndFollowsRotation) {
  std::ofstream(Path("log")) << "old\n";
  Logger log(clock_, pipe_[1]);
  ASSERT_EQ(log.SetFile(Path("log")), std::nullopt);
  log.Notice("one");
  EXPECT_EQ(Content(Path("log")), "old\n" + Prefix('C') + "* one\n");
  std::filesystem::rename(Path("log"), Path("log.1"));
  log.Notice("two");
  EXPECT_EQ(Content(Path("log")), Prefix('C') + "* two\n");
  ASSERT_EQ(log.SetFile(""), std::nullopt);
  log.Notice("three");
  EXPECT_EQ(Drained(), Prefix('C') + "* three\n");
}

TEST_F(LogTest, CreatesItsFileAtOnce) {
  Logger log(clock_);
  ASSERT_EQ(log.SetFile(Path("new")), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(Path("new")));
}

TEST_F(LogTest, ExplainsWhyAFileCannotBeOpenedAndKeepsTheOldOne) {
  Logger log(clock_, pipe_[1]);
  EXPECT_EQ(log.SetFile(Path("missing/log")), "No such file or directory");
  EXPECT_EQ(log.SetFile(directory_), "Is a directory");
  log.Notice("x");
  EXPECT_EQ(Drained(), Prefix('C') + "* x\n");
}

TEST_F(LogTest, CountsLinesWhileItsDirectoryIsGone) {
  std::filesystem::create_directory(Path("logs"));
  Logger log(clock_);
  ASSERT_EQ(log.SetFile(Path("logs/log")), std::nullopt);
  std::filesystem::remove_all(Path("logs"));
  log.Notice("lost");
  EXPECT_EQ(log.DroppedLines(), 1U);
  std::filesystem::create_directory(Path("logs"));
  log.Notice("found");
  EXPECT_THAT(Content(Path("logs/log")), AllOf(HasSubstr("# 1 log lines were lost"), EndsWith("* found\n")));
}

// Passes if the test ends: no write waits for the reader.
TEST_F(LogTest, NeverWaitsForAnUnreadPipe) {
  Logger log(clock_, pipe_[1]);
  const std::string text(1000, 'x');
  for (int i = 0; i < 1000; i++) log.Notice(text);
  const uint64_t dropped = log.DroppedLines();
  EXPECT_GT(dropped, 900U);
  EXPECT_LT(dropped, 1000U);
  EXPECT_EQ(fcntl(pipe_[1], F_GETFL) & O_NONBLOCK, 0);  // the shared description is untouched
  Drained();
  log.Notice("again");
  EXPECT_EQ(Drained(), StrCat(Prefix('C'), "# ", dropped, " log lines were lost: they could not be written\n",
                              Prefix('C'), "* again\n"));
  EXPECT_EQ(log.DroppedLines(), 0U);
}

TEST_F(LogTest, StartsANewLineBehindOneThatWasCut) {
  Logger log(clock_, pipe_[1]);
  log.LogRaw(LogLevel::kNotice, std::string(1'000'000, 'x'));
  EXPECT_EQ(log.DroppedLines(), 1U);
  EXPECT_THAT(Drained(), EndsWith("x"));
  log.Notice("next");
  EXPECT_EQ(Drained(),
            "\n" + Prefix('C') + "# 1 log lines were lost: they could not be written\n" + Prefix('C') + "* next\n");
}

TEST_F(LogTest, SurvivesAReaderThatWentAway) {
  Logger log(clock_, pipe_[1]);
  CloseReader();
  log.Notice("x");
  log.Notice("y");
  EXPECT_EQ(log.DroppedLines(), 2U);
}

TEST_F(LogTest, NeverWaitsForASocket) {
  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  Logger log(clock_, pair[1]);
  for (int i = 0; i < 2000; i++) log.Notice(std::string(1000, 'x'));
  EXPECT_GT(log.DroppedLines(), 0U);
  close(pair[0]);
  log.Notice("x");
  close(pair[1]);
  log.Notice("x");
  EXPECT_GT(log.DroppedLines(), 1U);
}

TEST_F(LogTest, NeverWaitsForANamedPipeWithoutReader) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  Logger log(clock_);
  ASSERT_EQ(log.SetFile(Path("fifo")), std::nullopt);
  log.Notice("x");
  EXPECT_EQ(log.DroppedLines(), 1U);
  const int reader = open(Path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  log.Notice("y");
  EXPECT_THAT(Drain(reader), EndsWith("* y\n"));
  close(reader);
}

TEST_F(LogTest, SharesTheOffsetOfARedirectedFile) {
  const int file = open(Path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  Logger log(clock_, file);
  log.Notice("one");
  ASSERT_EQ(write(file, "other\n", 6), 6);
  log.Notice("two");
  close(file);
  EXPECT_EQ(Content(Path("out")), Prefix('C') + "* one\nother\n" + Prefix('C') + "* two\n");
}

TEST(ParseLogLevel, KnowsTheNames) {
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("VERBOSE"), LogLevel::kVerbose);
  EXPECT_EQ(ParseLogLevel("notice"), LogLevel::kNotice);
  EXPECT_EQ(ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("nothing"), LogLevel::kNothing);
  EXPECT_EQ(ParseLogLevel("info"), std::nullopt);
}

TEST(SyslogFacility, KnowsTheNames) {
  EXPECT_EQ(SyslogFacility("user"), LOG_USER);
  EXPECT_EQ(SyslogFacility("LOCAL0"), LOG_LOCAL0);
  EXPECT_EQ(SyslogFacility("local7"), LOG_LOCAL7);
  EXPECT_EQ(SyslogFacility("local8"), std::nullopt);
  EXPECT_EQ(SyslogFacility("daemon"), std::nullopt);
}

}  // namespace
}  // namespace respite
