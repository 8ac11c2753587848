// A Sentinel reads again everything that it writes into its file, with any bytes in names, passwords and paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/late_bound.h"
#include "base/log.h"
#include "base/random.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "server/config/config_rewrite.h"
#include "server/config/config_text.h"
#include "server/sentinel/sentinel.h"

namespace respite {
namespace {

// Keeps the lines that a Sentinel writes; all programs may run.
class LineKeeper final : public SentinelHost {
 public:
  void Publish(Bytes, Bytes) override {}
  std::optional<std::string> Save(const std::vector<SentinelLine>& lines) override {
    kept = lines;
    return std::nullopt;
  }
  std::optional<std::string> LookUp(const std::string&) override { return std::nullopt; }
  int64_t WallMs() const override { return 0; }
  int Port() const override { return 26379; }
  bool EncryptsLinks() const override { return false; }
  std::string SourceAddress() const override { return {}; }
  std::string Password() const override { return {}; }
  bool MayRun(const std::string&) const override { return true; }
  Result<int64_t, int> StartProgram(const std::vector<std::string>&) override { return Failure(int{ENOSYS}); }
  std::optional<ProgramEnd> TakeEndedProgram() override { return std::nullopt; }
  void KillProgram(int64_t) override {}
  void Crash() override {}

  std::vector<SentinelLine> kept;
};

// The lines of a configuration file with this text.
std::vector<ConfigLine> LinesIn(const std::string& text) {
  Settings settings;
  ConfigReader reader(settings, ServerMode::kSentinel);
  const auto outcome = reader.ReadText(text);
  EXPECT_TRUE(outcome.ok()) << outcome.error().text;
  return reader.lines().sentinel;
}

std::string WithSentinelLines(const std::vector<SentinelLine>& lines) {
  return RewriteConfigText("", Settings(), {.user_lines = {}, .loadmodule_lines = {}, .sentinel_lines = lines});
}

std::vector<std::string> Texts(const std::vector<SentinelLine>& lines) {
  std::vector<std::string> texts;
  for (const SentinelLine& line : lines) texts.push_back(line.line.text);
  return texts;
}

// Returns the lines that a Sentinel writes after it has read these lines; nullopt if it refuses them.
std::optional<std::vector<SentinelLine>> Written(const std::vector<ConfigLine>& lines) {
  const SystemClock clock;
  const SystemRealClock real_clock;
  Logger log(clock);
  log.SetLevel(LogLevel::kNothing);
  const LateBound<Network> nowhere;
  LineKeeper host;
  Sentinel sentinel({.real_clock = real_clock, .log = log, .random_seed = 1, .network = nowhere, .host = host});
  if (sentinel.Read(lines)) return std::nullopt;
  sentinel.core().Save();
  return host.kept;
}

TEST(SentinelLines, HostileTextsReadBack) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  constexpr Bytes kLetters = "\"'\\# \t\n\r=;a\x01\x7f\x80\xff";
  const auto hostile = [&] {
    std::string text;
    for (uint64_t n = random.Below(8); n > 0; --n) {
      text += random.Below(4) == 0 ? static_cast<char>(random.Below(256)) : kLetters[random.Below(kLetters.size())];
    }
    return text;
  };
  int read_back = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string name = hostile();
    const std::vector<std::vector<std::string>> told = {
        {"sentinel", "myid", std::string(40, 'a')},
        {"sentinel", "monitor", name, "127.0.0.1", "6379", "1"},
        {"sentinel", "auth-pass", name, hostile()},
        {"sentinel", "auth-user", name, hostile()},
        {"sentinel", "notification-script", name, hostile()},
        {"sentinel", "client-reconfig-script", name, hostile()},
        {"sentinel", "rename-command", name, "A" + hostile(), hostile()},
        {"sentinel", "announce-ip", hostile()},
        {"sentinel", "sentinel-user", hostile()},
        {"sentinel", "sentinel-pass", hostile()},
        {"sentinel", "known-replica", name, "127.0.0.1", "6380"},
        {"sentinel", "known-sentinel", name, "127.0.0.1", "26380", std::string(40, 'b')},
    };
    std::string text;
    for (const auto& words : told) text += JoinQuoted(words) + "\n";
    const auto first = Written(LinesIn(text));
    if (!first) continue;
    const auto second = Written(LinesIn(WithSentinelLines(*first)));
    ASSERT_TRUE(second) << text;
    EXPECT_EQ(Texts(*second), Texts(*first)) << text;
    ++read_back;
  }
  EXPECT_GT(read_back, 100);
}

}  // namespace
}  // namespace respite
