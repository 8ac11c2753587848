#include <string>

#include "tests/support/command_test.h"

namespace respite {

namespace {

constexpr char kBadOffset[] = "ERR bit offset is not an integer or out of range";
constexpr char kBadBit[] = "ERR bit is not an integer or out of range";
constexpr char kBadInteger[] = "ERR value is not an integer or out of range";
constexpr char kSyntaxError[] = "ERR syntax error";

class BitmapCommands : public CommandTest {
 protected:
  std::string Get(Bytes key) { return Run({"GET", key}).Text(); }
  std::string Encoding(Bytes key) { return Run({"OBJECT", "ENCODING", key}).Text(); }
};
INSTANTIATE_TEST_SUITE_P(Resp, BitmapCommands, BothVersions(), VersionName);

TEST_P(BitmapCommands, SetBitMakesRoomAndReturnsTheOldBit) {
  EXPECT_THAT(Run("SETBIT k 1 1"), Int(0));
  EXPECT_EQ(Get("k"), "@");
  EXPECT_EQ(Encoding("k"), "raw");
  EXPECT_THAT(Run("SETBIT k 1 1"), Int(1));
  EXPECT_THAT(Run("SETBIT k 1 0"), Int(1));
  EXPECT_THAT(Run("SETBIT k 30 1"), Int(0));
  EXPECT_EQ(Get("k"), std::string("\0\0\0\x02", 4));
  EXPECT_THAT(Run("SETBIT k 100000 1"), Int(0));
  EXPECT_THAT(Run("STRLEN k"), Int(12501));
  EXPECT_THAT(Run("GETBIT k 30"), Int(1));
  EXPECT_THAT(Run("GETBIT k 100000"), Int(1));
  EXPECT_THAT(Run("GETBIT k 100001"), Int(0));
  EXPECT_THAT(Run("GETBIT k 4294967295"), Int(0));
  EXPECT_THAT(Run("GETBIT none 0"), Int(0));
}

TEST_P(BitmapCommands, SetBitWritesIntegersAsText) {
  Run("SET k 1");
  EXPECT_THAT(Run("GETBIT k 3"), Int(1));
  EXPECT_THAT(Run("SETBIT k 6 1"), Int(0));
  EXPECT_EQ(Get("k"), "3");
  EXPECT_EQ(Encoding("k"), "raw");
}

TEST_P(BitmapCommands, OnlyChangesAreJournaled) {
  Run("SETBIT k 3 0");
  Run("SETBIT k 3 0");
  Run("SETBIT k 3 1");
  Run("SETBIT k 3 1");
  Run("BITFIELD k GET u4 0");
  Run("BITFIELD k SET u4 0 1");
  Run("BITFIELD k SET u4 0 2");
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: SETBIT k 3 0", "0: SETBIT k 3 1", "0: BITFIELD k SET u4 0 2"));
}

TEST_P(BitmapCommands, OffsetsEndWhereTheLongestStringDoes) {
  for (const char* offset : {"-1", "x", "4294967296", "9223372036854775807", "1.5", ""}) {
    EXPECT_THAT(Run({"SETBIT", "k", offset, "1"}), Error(kBadOffset)) << offset;
    EXPECT_THAT(Run({"GETBIT", "k", offset}), Error(kBadOffset)) << offset;
  }
  EXPECT_THAT(Run("CONFIG SET proto-max-bulk-len 1mb"), Ok());
  EXPECT_THAT(Run("SETBIT k 8388608 1"), Error(kBadOffset));
  EXPECT_THAT(Run("SETBIT k 8388607 1"), Int(0));
  for (const char* bit : {"2", "-1", "x", ""}) EXPECT_THAT(Run({"SETBIT", "k", "0", bit}), Error(kBadBit)) << bit;
}

TEST_P(BitmapCommands, BitCountTakesRangesOfBytesAndBits) {
  Run("SET k foobar");
  EXPECT_THAT(Run("BITCOUNT k"), Int(26));
  EXPECT_THAT(Run("BITCOUNT k 0 0"), Int(4));
  EXPECT_THAT(Run("BITCOUNT k 1 1 BYTE"), Int(6));
  EXPECT_THAT(Run("BITCOUNT k -2 -1"), Int(7));
  EXPECT_THAT(Run("BITCOUNT k -100 100"), Int(26));
  EXPECT_THAT(Run("BITCOUNT k 5 30 bit"), Int(17));
  EXPECT_THAT(Run("BITCOUNT k 1 1 BIT"), Int(1));
  EXPECT_THAT(Run("BITCOUNT k 3 1"), Int(0));
  EXPECT_THAT(Run("BITCOUNT k 6 10"), Int(0));
  EXPECT_THAT(Run("BITCOUNT k -9223372036854775808 9223372036854775807 BIT"), Int(26));
  Run("SET n 1000");
  EXPECT_THAT(Run("BITCOUNT n"), Int(9));
  Run({"SET", "e", ""});
  EXPECT_THAT(Run("BITCOUNT e 0 -1 BIT"), Int(0));
}

TEST_P(BitmapCommands, BitCountChecksItsWordsOnlyWhereThereIsAKey) {
  EXPECT_THAT(Run("BITCOUNT none x"), Int(0));
  Run("SET k v");
  EXPECT_THAT(Run("BITCOUNT k 0"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITCOUNT k 0 1 BIT x"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITCOUNT k 0 1 WORD"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITCOUNT k -1 -2 WORD"), Int(0));
  EXPECT_THAT(Run("BITCOUNT k x 1"), Error(kBadInteger));
  EXPECT_THAT(Run("BITCOUNT k 0 x BIT"), Error(kBadInteger));
}

TEST_P(BitmapCommands, BitPosLooksBeyondTheStringUnlessAnEndIsGiven) {
  Run({"SET", "ones", "\xff\xff\xff"});
  EXPECT_THAT(Run("BITPOS ones 0"), Int(24));
  EXPECT_THAT(Run("BITPOS ones 0 1"), Int(24));
  EXPECT_THAT(Run("BITPOS ones 0 0 -1"), Int(-1));
  EXPECT_THAT(Run("BITPOS ones 0 0 23 BIT"), Int(-1));
  EXPECT_THAT(Run("BITPOS ones 0 3"), Int(-1));
  EXPECT_THAT(Run("BITPOS ones 1 10 20 BIT"), Int(10));
  Run({"SET", "k", Bytes("\x00\xff\xf0", 3)});
  EXPECT_THAT(Run("BITPOS k 0"), Int(0));
  EXPECT_THAT(Run("BITPOS k 1"), Int(8));
  EXPECT_THAT(Run("BITPOS k 0 1"), Int(20));
  EXPECT_THAT(Run("BITPOS k 1 2 -1 BYTE"), Int(16));
  EXPECT_THAT(Run("BITPOS k 1 7 15 bit"), Int(8));
  EXPECT_THAT(Run("BITPOS k 0 8 19 BIT"), Int(-1));
  Run({"SET", "zero", Bytes("\0\0", 2)});
  EXPECT_THAT(Run("BITPOS zero 1"), Int(-1));
  EXPECT_THAT(Run("BITPOS none 0"), Int(0));
  EXPECT_THAT(Run("BITPOS none 1 x y z w"), Int(-1));
  Run({"SET", "e", ""});
  EXPECT_THAT(Run("BITPOS e 0"), Int(-1));
}

TEST_P(BitmapCommands, BitPosRefusals) {
  Run("SET k v");
  EXPECT_THAT(Run("BITPOS none 2"), Error("ERR The bit argument must be 1 or 0."));
  EXPECT_THAT(Run("BITPOS none x"), Error(kBadInteger));
  EXPECT_THAT(Run("BITPOS k 1 x"), Error(kBadInteger));
  EXPECT_THAT(Run("BITPOS k 1 0 x"), Error(kBadInteger));
  EXPECT_THAT(Run("BITPOS k 1 0 x WORD"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITPOS k 1 0 1 BIT x"), Error(kSyntaxError));
}

TEST_P(BitmapCommands, BitOpPadsWithZeros) {
  Run({"SET", "a", "\xf0\x0f\xff"});
  Run({"SET", "b", "\x3c"});
  EXPECT_THAT(Run("BITOP AND d a b"), Int(3));
  EXPECT_EQ(Get("d"), std::string("\x30\0\0", 3));
  EXPECT_THAT(Run("BITOP or d a b none"), Int(3));
  EXPECT_EQ(Get("d"), "\xfc\x0f\xff");
  EXPECT_THAT(Run("BITOP XOR d b a"), Int(3));
  EXPECT_EQ(Get("d"), "\xcc\x0f\xff");
  EXPECT_THAT(Run("BITOP NOT d a"), Int(3));
  EXPECT_EQ(Get("d"), std::string("\x0f\xf0\0", 3));
  EXPECT_EQ(Encoding("d"), "raw");
  EXPECT_THAT(Run("BITOP NOT d d"), Int(3));
  EXPECT_EQ(Get("d"), "\xf0\x0f\xff");
  Run("SET n 12");
  EXPECT_THAT(Run("BITOP OR d n"), Int(2));
  EXPECT_EQ(Get("d"), "12");
}

TEST_P(BitmapCommands, BitOpOverwritesWhateverTheTargetWas) {
  const std::string long_text(10'000, 'a');
  Run({"SET", "a", long_text});
  Run({"SET", "b", std::string(9'000, '\xff')});
  Run({"SET", "d", std::string(10'000, 'x'), "EX", "100"});
  EXPECT_THAT(Run("BITOP AND d b a"), Int(10'000));
  EXPECT_EQ(Get("d"), std::string(9'000, 'a') + std::string(1'000, '\0'));
  EXPECT_THAT(Run("TTL d"), Int(-1));
  EXPECT_THAT(Run("BITOP AND b b a"), Int(10'000));
  EXPECT_EQ(Get("b"), Get("d"));
  EXPECT_THAT(Run("BITOP OR a a d"), Int(10'000));
  EXPECT_EQ(Get("a"), long_text);
  EXPECT_THAT(Run("SET d 5 EX 100"), Ok());
  EXPECT_THAT(Run("BITOP NOT d a"), Int(10'000));
  EXPECT_THAT(Run("TTL d"), Int(-1));
}

TEST_P(BitmapCommands, BitOpOfNothingDeletes) {
  Run("SET d v");
  EXPECT_THAT(Run("BITOP AND d none other"), Int(0));
  EXPECT_THAT(Run("EXISTS d"), Int(0));
  EXPECT_THAT(Run("BITOP NOT d none"), Int(0));
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: SET d v", "0: DEL d"));
}

TEST_P(BitmapCommands, BitOpTakesExpiredSourcesForMissing) {
  Run("SET a v PX 10");
  Run("SET b w");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("BITOP OR d a b"), Int(1));
  EXPECT_EQ(Get("d"), "w");
}

TEST_P(BitmapCommands, BitOpComparesTheFirstSourceWithTheOthers) {
  Run({"SET", "x", "\xf0\xff"});
  Run({"SET", "y", "\x3c"});
  Run({"SET", "z", std::string("\x81\x0f\x01", 3)});
  EXPECT_THAT(Run("BITOP DIFF d x y z"), Int(3));
  EXPECT_EQ(Get("d"), std::string("\x40\xf0\0", 3));
  EXPECT_THAT(Run("BITOP diff1 d x y z"), Int(3));
  EXPECT_EQ(Get("d"), std::string("\x0d\0\x01", 3));
  EXPECT_THAT(Run("BITOP ANDOR d x y z"), Int(3));
  EXPECT_EQ(Get("d"), std::string("\xb0\x0f\0", 3));
  EXPECT_THAT(Run("BITOP ONE d x y z"), Int(3));
  EXPECT_EQ(Get("d"), std::string("\x4d\xf0\x01", 3));
  EXPECT_THAT(Run("BITOP ONE d x x x"), Int(2));
  EXPECT_EQ(Get("d"), std::string("\0\0", 2));
  EXPECT_THAT(Run("BITOP DIFF d none x"), Int(2));
  EXPECT_EQ(Get("d"), std::string("\0\0", 2));
  EXPECT_THAT(Run("BITOP ONE d y"), Int(1));
  EXPECT_EQ(Get("d"), "\x3c");
}

TEST_P(BitmapCommands, BitOpRefusals) {
  for (const char* operation : {"DIFF", "DIFF1", "ANDOR"}) {
    EXPECT_THAT(Run("BITOP " + std::string(operation) + " d a"),
                Error("ERR BITOP " + std::string(operation) + " must be called with at least two source keys."));
  }
  EXPECT_THAT(Run("BITOP NAND d a"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITOP NOT d a b"), Error("ERR BITOP NOT must be called with a single source key."));
}

TEST_P(BitmapCommands, BitFieldReadsAndWrites) {
  EXPECT_THAT(Run("BITFIELD k SET u8 0 255 GET u4 4 SET i8 #1 -2 GET u16 0 GET i63 1000"),
              ArrayOf(Int(0), Int(15), Int(0), Int(65534), Int(0)));
  EXPECT_EQ(Get("k"), "\xff\xfe");
  EXPECT_THAT(Run("BITFIELD k INCRBY i5 100 1 GET u4 0"), ArrayOf(Int(1), Int(15)));
  EXPECT_THAT(Run("STRLEN k"), Int(14));
  EXPECT_THAT(Run("BITFIELD k"), EmptyArray());
  EXPECT_THAT(Run("BITFIELD_RO k GET u8 0 get u1 #15"), ArrayOf(Int(255), Int(0)));
  EXPECT_THAT(Run("BITFIELD_RO none GET i64 0"), ArrayOf(Int(0)));
  EXPECT_THAT(Run("EXISTS none"), Int(0));
  EXPECT_THAT(Run("BITFIELD i SET i64 0 -9223372036854775808 INCRBY i64 0 -1"), ArrayOf(Int(0), Int(INT64_MAX)));
}

TEST_P(BitmapCommands, BitFieldOverflowsAsToldByTheWordsBefore) {
  EXPECT_THAT(Run("BITFIELD k SET u8 0 250 INCRBY u8 0 10 OVERFLOW SAT INCRBY u8 0 1000 OVERFLOW FAIL INCRBY u8 0 1 "
                  "SET u8 0 256 overflow wrap INCRBY u8 0 1"),
              ArrayOf(Int(0), Int(4), Int(255), Nil(), Nil(), Int(0)));
}

TEST_P(BitmapCommands, AFieldThatFailsStillMakesTheStringLonger) {
  EXPECT_THAT(Run("BITFIELD k OVERFLOW FAIL SET u8 8 256"), ArrayOf(Nil()));
  EXPECT_EQ(Get("k"), std::string(2, '\0'));
}

TEST_P(BitmapCommands, BitFieldRefusals) {
  constexpr char kType[] =
      "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
  for (const char* type : {"u64", "i65", "u0", "i", "x8", "u08", "u-1", ""})
    EXPECT_THAT(Run({"BITFIELD", "k", "GET", type, "0"}), Error(kType)) << type;
  for (const char* offset : {"-1", "x", "#", "#-1", "#x", "4294967296", "#536870912"})
    EXPECT_THAT(Run({"BITFIELD", "k", "GET", "u8", offset}), Error(kBadOffset)) << offset;
  EXPECT_THAT(Run("BITFIELD k SET u8 0 x"), Error(kBadInteger));
  EXPECT_THAT(Run("BITFIELD k SET u8 0"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITFIELD k GET u8"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITFIELD k OVERFLOW"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITFIELD k OVERFLOW up"), Error("ERR Invalid OVERFLOW type specified"));
  EXPECT_THAT(Run("BITFIELD k SET u8 0 1 WHAT"), Error(kSyntaxError));
  EXPECT_THAT(Run("BITFIELD_RO k SET u8 0 1"), Error("ERR BITFIELD_RO only supports the GET subcommand"));
  EXPECT_THAT(Run("BITFIELD_RO k OVERFLOW SAT GET u8 0"), ArrayOf(Int(0)));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
}

TEST_P(BitmapCommands, EachWriteCountsAsAChange) {
  const auto changes = [&] { return server()->services().data.dataset.stats.dirty; };
  Run("BITFIELD k SET u8 0 0 SET u8 8 0");
  EXPECT_EQ(changes(), 2u);
  Run("BITFIELD k SET u8 0 0 SET u8 8 0");
  EXPECT_EQ(changes(), 2u);
  Run("BITFIELD k SET u8 0 1 SET u8 8 0 INCRBY u8 8 3");
  EXPECT_EQ(changes(), 4u);
}

}  // namespace

}  // namespace respite
