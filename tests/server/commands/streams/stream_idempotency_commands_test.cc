// XADD … IDMP and IDMPAUTO, XCFGSET, XIDMPRECORD, and what XINFO STREAM shows of them. The replies were taken from
// Redis 8.6.3.
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class StreamIdempotencyCommands : public CommandTest {
 protected:
  // Returns duration, maxsize, producers, idempotent IDs, added, duplicates.
  std::string Info(const std::string& key = "s") {
    const TestReply fields = Run({"XINFO", "STREAM", key});
    std::string text;
    for (size_t i = 0; i + 1 < fields.Size(); i += 2) {
      const std::string& name = fields[i].Text();
      if (name.starts_with("idmp-") || name.starts_with("pids-") || name.starts_with("iids-")) {
        StrAppend(text, text.empty() ? "" : " ", fields[i + 1].Integer());
      }
    }
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, StreamIdempotencyCommands, BothVersions(), VersionName);

constexpr char kNeedsAutoId[] = "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs";
constexpr char kInvalidEntryId[] = "ERR Invalid stream ID specified as stream command argument";
constexpr char kOnlyReplicas[] = "for a client, an idempotent ID does not replace one that has not expired";

TEST_P(StreamIdempotencyCommands, XAddRepliesWithTheFirstEntry) {
  const std::string first = Run("XADD s IDMP p1 i1 * a b").Text();
  EXPECT_THAT(Run("XADD s IDMP p1 i1 * a c"), Bulk(first));
  EXPECT_THAT(Run("XADD s IDMP p1 i1 NOMKSTREAM MAXLEN 0 * a c"), Bulk(first));
  EXPECT_THAT(Run("XLEN s"), Int(1));
  Run("XADD s IDMP p1 i2 * a b");
  Run("XADD s IDMP p2 i1 * a b");
  const std::string automatic = Run("XADD s IDMPAUTO p1 * a b c d").Text();
  EXPECT_THAT(Run("XADD s IDMPAUTO p1 * c d a b"), Bulk(automatic));
  Run("XADD s IDMPAUTO p1 * b a c d");
  EXPECT_THAT(Run("XLEN s"), Int(5));
  EXPECT_EQ(Info(), "100 100 2 5 5 3");
  EXPECT_THAT(Run("XADD no NOMKSTREAM IDMP p i * a b"), Nil());
  Run("SET text x");
  EXPECT_THAT(Run("XADD text IDMP p i * a b"), Error(kWrongType));
}

TEST_P(StreamIdempotencyCommands, XAddChecksItsArguments) {
  EXPECT_THAT(Run("XADD s IDMP p i 5-5 a b"), Error(kNeedsAutoId));
  EXPECT_THAT(Run("XADD s IDMP p i 5-* a"), Error(kNeedsAutoId));
  EXPECT_THAT(Run({"XADD", "s", "IDMP", "", "i", "x", "a", "b"}),
              Error("ERR syntax error, IDMP requires a non-empty producer ID"));
  EXPECT_THAT(Run({"XADD", "s", "IDMP", "p", "", "*", "a", "b"}),
              Error("ERR syntax error, IDMP requires a non-empty idempotent ID"));
  EXPECT_THAT(Run({"XADD", "s", "IDMPAUTO", "", "*", "a", "b"}),
              Error("ERR syntax error, IDMPAUTO requires a non-empty producer ID"));
  EXPECT_THAT(Run("XADD s IDMP p i IDMPAUTO p * a b"),
              Error("ERR syntax error, IDMP/IDMPAUTO specified multiple times"));
  EXPECT_THAT(Run("XADD s IDMP p * a b"), Error(kInvalidEntryId));
  EXPECT_THAT(Run("XADD s IDMP p i LIMIT 3 * a b"),
              Error("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"));
  EXPECT_THAT(Run("XADD s IDMP p i * a b c"), Error("ERR wrong number of arguments for 'xadd' command"));
  EXPECT_THAT(Run("EXISTS s"), Int(0));
}

TEST_P(StreamIdempotencyCommands, IdsExpireAndAreEvicted) {
  SkipClientReplay(kOnlyReplicas);
  Run("XADD s 1-1 a b");
  EXPECT_THAT(Run("XCFGSET s IDMP-DURATION 1 IDMP-MAXSIZE 2"), Ok());
  const std::string first = Run("XADD s IDMP p i1 * a b").Text();
  clock().AdvanceMs(999);
  EXPECT_THAT(Run("XADD s IDMP p i1 * a b"), Bulk(first));
  clock().AdvanceMs(1);
  EXPECT_EQ(Info(), "1 2 0 0 1 1");
  EXPECT_THAT(Run("XADD s IDMP p i1 * a b"), BulkThat(testing::Ne(first)));
  EXPECT_EQ(Info(), "1 2 1 1 2 1");
  Run("XADD s IDMP p i2 * a b");
  Run("XADD s IDMP p i3 * a b");
  EXPECT_EQ(Info(), "1 2 1 2 4 1");
  Run("XADD s IDMP p i1 * a b");  // was evicted
  EXPECT_THAT(Run("XLEN s"), Int(6));
}

TEST_P(StreamIdempotencyCommands, XCfgSetForgetsWhenSomethingChanges) {
  EXPECT_THAT(Run("XCFGSET no FOO"), Error("ERR no such key"));
  Run("SET text x");
  EXPECT_THAT(Run("XCFGSET text FOO"), Error(kWrongType));
  Run("XADD s IDMP p i * a b");
  EXPECT_THAT(Run("XCFGSET s"), Error("ERR At least one parameter must be specified"));
  EXPECT_THAT(Run("XCFGSET s FOO 3"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XCFGSET s IDMP-DURATION"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XCFGSET s IDMP-DURATION x"), Error("ERR value is not an integer or out of range"));
  for (const char* value : {"0", "-1", "86401"}) {
    EXPECT_THAT(Run({"XCFGSET", "s", "IDMP-DURATION", value}),
                Error("ERR IDMP-DURATION must be between 1 and 86400 seconds"));
  }
  for (const char* value : {"0", "10001"}) {
    EXPECT_THAT(Run({"XCFGSET", "s", "IDMP-MAXSIZE", value}),
                Error("ERR IDMP-MAXSIZE must be between 1 and 10000 entries"));
  }
  EXPECT_THAT(Run("XCFGSET s IDMP-DURATION 5 IDMP-DURATION 6"), Error("ERR IDMP-DURATION specified multiple times"));
  EXPECT_THAT(Run("XCFGSET s IDMP-DURATION 100"), Ok());
  EXPECT_EQ(Info(), "100 100 1 1 1 0");
  EXPECT_THAT(Run("XCFGSET s IDMP-DURATION 86400 IDMP-MAXSIZE 10000"), Ok());
  EXPECT_EQ(Info(), "86400 10000 0 0 1 0");
}

TEST_P(StreamIdempotencyCommands, XIdmpRecordNeedsTheEntry) {
  Run("XADD s 1700000000000-1 a b");
  Run("XADD s 1700000000000-2 a b");
  Run("XADD s 1700000000000-3 a b");
  Run("XDEL s 1700000000000-2");
  EXPECT_THAT(Run("XIDMPRECORD no p i x"), Error(kInvalidEntryId));
  EXPECT_THAT(Run("XIDMPRECORD no p i 1-1"), Error("ERR no such key"));
  EXPECT_THAT(Run({"XIDMPRECORD", "no", "", "i", "1-1"}), Error("ERR producer ID must be non-empty"));
  EXPECT_THAT(Run({"XIDMPRECORD", "s", "p", "", "1-1"}), Error("ERR idempotent ID must be non-empty"));
  Run("SET text x");
  EXPECT_THAT(Run("XIDMPRECORD text p i 1-1"), Error(kWrongType));
  EXPECT_THAT(Run("XIDMPRECORD s p i 1700000000000-2"), Error("ERR No such message in stream"));
  EXPECT_THAT(Run("XIDMPRECORD s p i 1700000000000-1"), Ok());
  EXPECT_THAT(Run("XIDMPRECORD s p i 1700000000000-1"), Ok());
  EXPECT_THAT(Run("XIDMPRECORD s p i 1700000000000-3"),
              Error("ERR IID already exists for this producer with a different stream ID"));
  EXPECT_EQ(Info(), "100 100 1 1 1 0");
}

// A replica gets most XIDMPRECORD after the transaction that has added the entry, and later than the primary forgets
// IDs. The entry may already be trimmed (XADD … MAXLEN 0): the record of 1-1 is stored, and then replaced.
TEST_P(StreamIdempotencyCommands, AReplayedRecordIsNeverRefused) {
  SkipClientReplay(kOnlyReplicas);
  TestClient primary(server(), GetParam());
  Run("XADD s 1700000000000-1 a b");
  Run("XADD s 1700000000000-2 a b");
  Run("SET text x");
  primary.session().authenticated = true;
  primary.session().kind = SessionKind::kPrimary;
  for (const char* line : {"XIDMPRECORD no p i 1-1", "XIDMPRECORD text p i 1-1", "XIDMPRECORD s p i 1-1",
                           "XIDMPRECORD s p i 1700000000000-1", "XIDMPRECORD s p i 1700000000000-2"}) {
    primary.Run(line);
  }
  EXPECT_EQ(server()->services().env.stats.unexpected_errors, 0u);
  EXPECT_EQ(Info(), "100 100 1 1 3 0");
  EXPECT_THAT(Run("EXISTS no"), Int(0));
  EXPECT_THAT(Run("XADD s IDMP p i * a b"), Bulk("1700000000000-2"));
}

TEST_P(StreamIdempotencyCommands, DirectivesApplyToNewStreams) {
  Run("XADD old 1-1 a b");
  EXPECT_THAT(Run("CONFIG SET stream-idmp-maxsize 10001"), ErrorStartsWith("ERR CONFIG SET failed"));
  EXPECT_THAT(Run("CONFIG SET stream-idmp-maxsize 7 stream-idmp-duration 9"), Ok());
  Run("XADD s 1-1 a b");
  Run("XGROUP CREATE made g 0 MKSTREAM");
  Run("XADD made 1-1 a b");
  Run("XADD old 2-1 a b");
  EXPECT_EQ(Info(), "9 7 0 0 0 0");
  EXPECT_EQ(Info("made"), "9 7 0 0 0 0");
  EXPECT_EQ(Info("old"), "");  // as in Redis 7.2
  Run("COPY s copy");
  EXPECT_EQ(Info("copy"), "9 7 0 0 0 0");
}

TEST_P(StreamIdempotencyCommands, AreJournaledAndRestored) {
  const std::string first = Run("XADD s IDMP p i MAXLEN ~ 5 * a b").Text();
  Run("XADD s IDMP p i * a b");
  const std::string second = Run("XADD s IDMPAUTO p * a b").Text();
  Run("XCFGSET s IDMP-MAXSIZE 100");  // changes nothing
  EXPECT_THAT(Journaled(),
              testing::ElementsAre("0: XADD s MAXLEN = 1 " + first + " a b", "0: XIDMPRECORD s p i " + first,
                                   "0: XADD s " + second + " a b", testing::StartsWith("0: XIDMPRECORD s p ")));
  const std::string dump = Run("DUMP s").Text();
  EXPECT_THAT(Run({"RESTORE", "restored", "0", dump}), Ok());
  EXPECT_EQ(Info("restored"), "100 100 1 2 2 1");
  EXPECT_THAT(Run("XADD restored IDMP p i * a b"), Bulk(first));
}

std::string FromHex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Payloads of Redis 8.6.3: a stream that only has other limits, and one with two producers.
TEST_P(StreamIdempotencyCommands, PayloadsOfRedisAreRestored) {
  const std::string head =
      "1a0110000000000000000100000000000000011d1d0000000a0001010001010181660200010201000100018176020401ff01010101010000"
      "01"
      "00";
  const std::string limits = FromHex(head + "412c070000000d00a78b154c2e8eaf22");
  EXPECT_THAT(Run({"RESTORE", "s", "0", limits}), Ok());
  EXPECT_EQ(Info(), "300 7 0 0 0 0");
  const std::string producers = FromHex(head + "412c070201700101690101017101c00c010102010d00b18f5e79019cbbfd");
  EXPECT_THAT(Run({"RESTORE", "t", "0", producers}), Ok());
  EXPECT_EQ(Info("t"), "300 7 0 0 2 1");  // the entry is too old
  EXPECT_THAT(Run("DUMP t"), Bulk(producers));
}

}  // namespace
}  // namespace respite
