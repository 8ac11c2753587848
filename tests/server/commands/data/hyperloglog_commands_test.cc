#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

constexpr char kNotHll[] = "WRONGTYPE Key is not a valid HyperLogLog string value.";
constexpr char kCorrupt[] = "INVALIDOBJ Corrupted HLL object detected";

class HyperLogLogCommands : public CommandTest {
 protected:
  std::string Get(Bytes key) { return Run({"GET", key}).Text(); }
  // Runs PFADD with `count` elements, starting at number `first`.
  TestReply Add(const std::string& key, int first, int count) {
    std::vector<std::string> words = {"PFADD", key};
    for (int i = 0; i < count; ++i) words.push_back(StrCat("element:", first + i));
    return Run(words);
  }
  static std::string Header() { return std::string("HYLL\1\0\0\0\0\0\0\0\0\0\0\0", 16); }
};
INSTANTIATE_TEST_SUITE_P(Resp, HyperLogLogCommands, BothVersions(), VersionName);

TEST_P(HyperLogLogCommands, AddTellsWhetherARegisterChanged) {
  EXPECT_THAT(Run("PFADD k"), Int(1));
  EXPECT_EQ(Get("k"), std::string("HYLL\1\0\0\0\0\0\0\0\0\0\0\x80\x7f\xff", 18));
  EXPECT_THAT(Run("OBJECT ENCODING k"), Bulk("raw"));
  EXPECT_THAT(Run("PFADD k"), Int(0));
  EXPECT_THAT(Run("PFADD k a b c"), Int(1));
  EXPECT_THAT(Run("PFADD k a b c"), Int(0));
  EXPECT_THAT(Run({"PFADD", "k", ""}), Int(1));
  EXPECT_THAT(Run("PFCOUNT k"), Int(4));
  EXPECT_THAT(Run("PFCOUNT none"), Int(0));
}

// The values that redis-server 7.2 stores after the same commands.
TEST_P(HyperLogLogCommands, StoresWhatRedisStores) {
  Run("PFADD k foo bar zap");
  const std::string stale = Header().substr(0, 15) + "\x80";
  EXPECT_EQ(Get("k"), stale + "\x5c\xb3\x90\x42\x07\x84\x48\x58\x80\x58\xe7");
}

TEST_P(HyperLogLogCommands, CountingStoresTheCountOnce) {
  Run("PFADD k a b c");
  EXPECT_THAT(Run("PFCOUNT k"), Int(3));
  EXPECT_THAT(Run("PFCOUNT k"), Int(3));
  EXPECT_THAT(Run("PFCOUNT k k"), Int(3));
  EXPECT_EQ(Get("k").substr(8, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: PFADD k a b c", "0: PFCOUNT k"));
  EXPECT_EQ(server()->services().data.dataset.stats.dirty, 5u);
}

TEST_P(HyperLogLogCommands, BecomesDenseAtTheConfiguredSize) {
  Add("k", 0, 100);
  EXPECT_THAT(Run("PFDEBUG ENCODING k"), Simple("sparse"));
  Run({"CONFIG", "SET", "hll-sparse-max-bytes", std::to_string(Get("k").size())});
  Add("k", 100, 10);
  EXPECT_THAT(Run("PFDEBUG ENCODING k"), Simple("dense"));
  EXPECT_EQ(Get("k").size(), 12304u);
  Add("k", 0, 5000);
  const TestReply count = Run("PFCOUNT k");
  EXPECT_NEAR(static_cast<double>(count.Integer()), 5000, 5000 * 0.05);
  Run("COPY k copy");  // shares the value until one of them changes
  EXPECT_THAT(Add("k", 10'000, 1000), Int(1));
  EXPECT_THAT(Run("PFCOUNT copy"), Int(count.Integer()));
}

TEST_P(HyperLogLogCommands, MergesSparseAndDense) {
  SkipReplayCheck("CONFIG SET is not journaled, and runs depend on the limit");
  Add("a", 0, 200);
  Add("b", 100, 200);
  EXPECT_THAT(Run("PFMERGE d a none b"), Ok());
  EXPECT_THAT(Run("PFDEBUG ENCODING d"), Simple("sparse"));
  EXPECT_THAT(Run("PFCOUNT d"), Int(Run("PFCOUNT a b").Integer()));
  EXPECT_THAT(Run("PFDEBUG TODENSE b"), Int(1));
  EXPECT_THAT(Run("PFDEBUG TODENSE b"), Int(0));
  EXPECT_THAT(Run("PFMERGE e a b"), Ok());
  EXPECT_THAT(Run("PFDEBUG ENCODING e"), Simple("dense"));
  EXPECT_THAT(Run("PFCOUNT e"), Int(Run("PFCOUNT d").Integer()));
  EXPECT_THAT(Run("PFMERGE fresh"), Ok());
  EXPECT_THAT(Run("PFCOUNT fresh"), Int(0));
  Run("CONFIG SET hll-sparse-max-bytes 100");
  EXPECT_THAT(Run("PFMERGE small a"), Ok());
  EXPECT_THAT(Run("PFDEBUG ENCODING small"), Simple("dense"));
}

TEST_P(HyperLogLogCommands, MergeKeepsTheDeadline) {
  Run("PFADD a x");
  Run("PFADD d y");
  Run("EXPIRE d 100");
  EXPECT_THAT(Run("PFMERGE d a"), Ok());
  EXPECT_THAT(Run("TTL d"), Int(100));
  EXPECT_THAT(Run("PFCOUNT d"), Int(2));
}

TEST_P(HyperLogLogCommands, OtherStringsAreRefused) {
  const std::string bad[] = {"text",
                             "12",
                             "",
                             Header().substr(0, 15),
                             "hyll" + Header().substr(4) + "\x7f\xff",
                             std::string("HYLL\2\0\0\0\0\0\0\0\0\0\0\0\x7f\xff", 18),
                             std::string("HYLL\0\0\0\0\0\0\0\0\0\0\0\0\x7f\xff", 18)};
  Run("PFADD good x");
  for (const std::string& text : bad) {
    Run({"SET", "k", text});
    EXPECT_THAT(Run("PFADD k x"), Error(kNotHll));
    EXPECT_THAT(Run("PFCOUNT k"), Error(kNotHll));
    EXPECT_THAT(Run("PFCOUNT good k"), Error(kNotHll));
    EXPECT_THAT(Run("PFMERGE good k"), Error(kNotHll));
    EXPECT_THAT(Run("PFMERGE k good"), Error(kNotHll));
    EXPECT_THAT(Run("PFDEBUG ENCODING k"), Error(kNotHll));
    EXPECT_EQ(Get("k"), text);
  }
}

TEST_P(HyperLogLogCommands, CorruptRunsAreRefusedAndUnchanged) {
  const std::string stale = Header().substr(0, 15) + "\x80";
  Run("PFADD good x");
  for (const std::string& runs : {std::string("\x7f\xfe"), std::string("\x7f"), std::string("\x7f\xffhello"),
                                  std::string(), std::string("\x40\x01")}) {
    const std::string text = stale + runs;
    Run({"SET", "k", text});
    EXPECT_THAT(Run("PFCOUNT k"), Error(kCorrupt));
    EXPECT_THAT(Run("PFCOUNT good k"), Error(kCorrupt));
    EXPECT_THAT(Run("PFMERGE good k"), Error(kCorrupt));
    EXPECT_THAT(Run("PFMERGE k good"), Error(kCorrupt));
    EXPECT_THAT(Run("PFDEBUG TODENSE k"), Error(kCorrupt));
    EXPECT_THAT(Run("PFDEBUG GETREG k"), Error(kCorrupt));
    EXPECT_THAT(Add("k", 0, 100), Error(kCorrupt));
    EXPECT_EQ(Get("k"), text);
  }
}

TEST_P(HyperLogLogCommands, DebugShowsRegistersAndRuns) {
  Run("PFADD k foo bar zap");
  EXPECT_THAT(Run("PFDEBUG DECODE k"), Bulk("Z:7348 v:5,1 Z:520 v:2,1 Z:2137 v:1,1 Z:6376"));
  const TestReply registers = Run("PFDEBUG GETREG k");
  ASSERT_EQ(registers.Size(), 16384u);
  EXPECT_THAT(registers[0], Int(0));
  EXPECT_THAT(Run("PFDEBUG encoding k"), Simple("dense"));
  EXPECT_THAT(Run("PFDEBUG DECODE k"), Error("ERR HLL encoding is not sparse"));
  EXPECT_THAT(Run("PFDEBUG FOO k"), Error("ERR Unknown PFDEBUG subcommand 'FOO'"));
  EXPECT_THAT(Run("PFDEBUG FOO none"), Error("ERR The specified key does not exist"));
}

TEST_P(HyperLogLogCommands, SelfTestPasses) { EXPECT_THAT(Run("PFSELFTEST"), Ok()); }

}  // namespace

}  // namespace respite
