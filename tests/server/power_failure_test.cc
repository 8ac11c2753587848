// Ends the process or cuts the power at every file operation of a server, over two starts. All acknowledged writes must
// survive, and none may be applied twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::string>;

// A counter that clients increment, with what their replies said about it.
struct Counter {
  int64_t sent = 0;
  int64_t in_memory = 0;  // from the last reply
  int64_t safe = 0;       // the value that WAITAOF confirmed
};

// The requests to a server, and the directives of its starts.
struct PowerStory {
  const char* name;
  Words first;  // directives of the first start
  Words later;  // directives of later starts
  Words lines;  // requests; "cron" is a tick of the timer
};

const Words kOn = {"appendonly yes", "appendfsync always"};
const Words kOnAsCommands = {"appendonly yes", "appendfsync always", "aof-use-rdb-preamble no"};
const Words kOff = {"appendonly no", "appendfsync always"};
const Words kSaves = {"appendonly no", "save 3600 1"};

const PowerStory kPowerStories[] = {
    {"rewrites",
     kOn,
     kOn,
     {"INCR n", "INCR n", "BGREWRITEAOF", "cron", "INCR n", "BGREWRITEAOF", "INCR n", "cron", "INCR n"}},
    {"rewrites as commands",
     kOnAsCommands,
     kOnAsCommands,
     {"INCR n", "BGREWRITEAOF", "INCR n", "cron", "INCR n", "BGREWRITEAOF", "cron", "INCR n"}},
    {"turned off, rewritten",
     kOn,
     kOn,
     {"INCR n", "INCR n", "INCR n", "CONFIG SET appendonly no", "BGREWRITEAOF", "cron"}},
    {"turned off and on",
     kOn,
     kOn,
     {"INCR n", "CONFIG SET appendonly no", "CONFIG SET appendonly yes", "INCR n", "cron", "INCR n", "BGREWRITEAOF",
      "cron", "INCR n"}},
    {"turned on",
     kOff,
     kOn,
     {"CONFIG SET appendonly yes", "INCR n", "cron", "INCR n", "BGREWRITEAOF", "cron", "INCR n"}},
    {"history stays",
     kOn,
     kOn,
     {"CONFIG SET aof-disable-auto-gc yes", "INCR n", "BGREWRITEAOF", "cron", "INCR n",
      "CONFIG SET aof-disable-auto-gc no", "INCR n"}},
    {"saves", kSaves, kSaves, {"INCR n", "SAVE", "INCR n", "SAVE", "INCR n", "BGSAVE", "cron", "INCR n", "SAVE"}},
    {"flushes", kSaves, kSaves, {"INCR m", "SAVE", "FLUSHALL", "INCR n", "SAVE"}},
};

class PowerFailureTest : public testing::Test {
 protected:
  enum class End : uint8_t { kProcess, kPower };

  // Runs the lines until the server stops.
  static void Live(ServerLife& life, const Words& lines, Counter& counter) {
    for (const std::string& line : lines) {
      if (life.server().StoppedWith()) return;
      if (line == "cron") {
        life.server().Cron();
        continue;
      }
      if (line == "INCR n") ++counter.sent;
      const TestReply reply = life.Run(line);
      const bool done = reply.HasValue() && !reply.tree->IsError();
      const bool journaled = life.server()->services().storage.aof.state() == AppendOnlyFile::State::kOn;
      if (done && line == "INCR n") counter.in_memory = reply.Integer();
      if (done && ((line == "INCR n" && journaled) || line == "SAVE")) counter.safe = counter.in_memory;
    }
  }

  static void Finish(FaultyFiles& files, End end, Random& random) {
    if (end == End::kPower) files.Crash(random);
    if (end == End::kProcess) files.Kill();
  }

  // The third start, without faults.
  static void Check(FaultyFiles& files, const PowerStory& story, const Counter& counter) {
    auto life = std::make_unique<ServerLife>(files, story.later);
    if (life->outcome() == LoadOutcome::kFailed) {
      // The first base was being renamed before any write was acknowledged: a refused start is better than an empty
      // one.
      EXPECT_TRUE(story.first == kOff && counter.safe == 0) << life->Log();
      EXPECT_THAT(life->Log(), HasSubstr("doesn't exist, but"));
      return;
    }
    const TestReply reply = life->Run("GET n");
    const int64_t value = reply.tree->IsNull() ? 0 : std::stoll(reply.Text());
    EXPECT_GE(value, counter.safe) << "what was acknowledged is lost";
    EXPECT_LE(value, counter.sent) << "old effects came twice";
    EXPECT_THAT(life->Run("INCR n"), Int(value + 1)) << life->Log();
  }

  // Returns whether there were operations to cut.
  static bool Try(const PowerStory& story, uint64_t first_cut, uint64_t second_cut, End end, uint64_t seed) {
    Random random(seed);
    FaultyFiles files;
    Counter counter;
    files.CutAt(first_cut);
    {
      ServerLife life(files, story.first);
      if (life.outcome() != LoadOutcome::kFailed) Live(life, story.lines, counter);
    }
    if (!files.IsCut()) return false;
    Finish(files, end, random);
    files.CutAt(second_cut);
    {
      ServerLife life(files, story.later);
      const Words more = {"INCR n", "BGREWRITEAOF", "cron", "INCR n"};
      if (life.outcome() == LoadOutcome::kLoaded || life.outcome() == LoadOutcome::kAbsent) Live(life, more, counter);
    }
    const bool cut_twice = files.IsCut();
    Finish(files, end, random);
    Check(files, story, counter);
    return cut_twice;
  }

  // Combines each first cut with some second cuts; with all of them if RESPITE_POWER=full (takes minutes).
  void TryAll(const PowerStory& story, End end) {
    const uint64_t seed = 20240117;
    Random random(seed);
    const char* const size = std::getenv("RESPITE_POWER");
    const uint64_t stride = size != nullptr && size == Bytes("full") ? 1 : 40;
    for (uint64_t first = 1;; ++first) {
      uint64_t second = 1 + random.Below(stride);
      uint64_t tries = 0;
      bool continues_later = true;
      for (; continues_later; second += 1 + random.Below(stride), ++tries) {
        continues_later = Try(story, first, second, end, seed + first * 1000 + second);
        if (HasFailure()) FAIL() << story.name << " cut at " << first << " and " << second << ", seed " << seed;
      }
      if (tries == 1 && !Reaches(story, first)) return;
    }
  }

  static bool Reaches(const PowerStory& story, uint64_t cut) {
    FaultyFiles files;
    Counter counter;
    files.CutAt(cut);
    ServerLife life(files, story.first);
    if (life.outcome() != LoadOutcome::kFailed) Live(life, story.lines, counter);
    return files.IsCut();
  }
};

TEST_F(PowerFailureTest, TheProcessEndsAnywhere) {
  for (const PowerStory& story : kPowerStories) TryAll(story, End::kProcess);
}

TEST_F(PowerFailureTest, ThePowerFailsAnywhere) {
  for (const PowerStory& story : kPowerStories) TryAll(story, End::kPower);
}

}  // namespace
}  // namespace respite
