#include <string>
#include <vector>

#include "base/crc64.h"
#include "base/str_cat.h"
#include "persistence/dump_payload.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

using namespace std::string_literals;

// Builds a payload: a type byte and a value, followed by version and checksum.
std::string Payload(std::string value, char version = 11) {
  value += version;
  value += '\0';
  const uint64_t checksum = Crc64(0, value);
  for (int shift = 0; shift < 64; shift += 8) value += static_cast<char>(checksum >> shift);
  return value;
}

class DumpCommands : public CommandTest {
 protected:
  DumpCommands() : CommandTest({"enable-debug-command yes"}) {}
  std::string Dumped(Bytes key) { return Run({"DUMP", key}).Text(); }
};
INSTANTIATE_TEST_SUITE_P(Resp, DumpCommands, BothVersions(), VersionName);

TEST_P(DumpCommands, DumpReturnsAPayloadOrNull) {
  Run("SET k 10");
  EXPECT_THAT(Run("DUMP k"), Bulk("\0\xc0\n\x0b\0\a@\xea"
                                  "6\xf3"
                                  "1\x8a"
                                  "2"s));
  EXPECT_THAT(Run("DUMP nokey"), Nil());
  EXPECT_THAT(Run("DUMP k x"), Error("ERR wrong number of arguments for 'dump' command"));
}

TEST_P(DumpCommands, RestoreReadsDumps) {
  Run("SET string hello");
  Run("RPUSH list a b 3");
  Run("SADD set a 1");
  Run("ZADD zset 1.5 a");
  Run("HSET hash f v");
  for (Bytes key : {"string", "list", "set", "zset", "hash"}) {
    const std::string copy = std::string(key) + "2";
    EXPECT_THAT(Run({"RESTORE", copy, "0", Dumped(key)}), Ok());
    EXPECT_EQ(Dumped(copy), Dumped(key));
  }
  EXPECT_THAT(Run("LRANGE list2 0 -1"), Bulks({"a", "b", "3"}));
  EXPECT_THAT(Run("TTL hash2"), Int(-1));
}

// Valkey 9 has an RDB version of its own, 80, in which type 22 is a hash with field deadlines.
TEST_P(DumpCommands, RestoreReadsPayloadsOfValkey9) {
  const std::string hash =
      "\x16\x02\x01"
      "f\x01v\x00\xd8\xc3,\xbb\x03\x00\x00\x01g\x01w\xff\xff\xff\xff\xff\xff\xff\xff"s;
  EXPECT_THAT(Run({"RESTORE", "h", "0", Payload(hash, 80)}), Ok());
  EXPECT_THAT(Run("HPEXPIRETIME h FIELDS 2 f g"), ArrayOf(Int(4'102'444'800'000), Int(-1)));
  EXPECT_THAT(Run("HMGET h f g"), Bulks({"v", "w"}));
  EXPECT_THAT(Run({"RESTORE", "k", "0", Payload("\0\x05hello"s, 80)}), Ok());
  EXPECT_THAT(Run("GET k"), Bulk("hello"));
  EXPECT_THAT(Run({"RESTORE", "x", "0", Payload(hash, 11)}), Error("ERR Bad data format")) << "type 22 is not Redis'";
  EXPECT_THAT(Run({"RESTORE", "x", "0", Payload(hash, 81)}), Error("ERR DUMP payload version or checksum are wrong"));
  std::string impossible = hash;
  impossible[7 + 6] = '\x7f';  // the deadline is beyond the greatest one
  EXPECT_THAT(Run({"RESTORE", "x", "0", Payload(impossible, 80)}), Error("ERR Bad data format"));
  EXPECT_THAT(Run({"RESTORE", "x", "0", Payload(hash.substr(0, 20), 80)}), Error("ERR Bad data format"));
}

TEST_P(DumpCommands, RdbCompressionDecidesAboutLongTexts) {
  Run({"SET", "k", std::string(1000, 'x')});
  EXPECT_LT(Dumped("k").size(), 100u);
  Run("CONFIG SET rdbcompression no");
  const std::string plain = Dumped("k");
  EXPECT_GT(plain.size(), 1000u);
  EXPECT_THAT(Run({"RESTORE", "copy", "0", plain}), Ok());
  EXPECT_THAT(Run("STRLEN copy"), Int(1000));
}

TEST_P(DumpCommands, RestoreSetsADeadline) {
  Run("SET k v");
  const std::string payload = Dumped("k");
  Run({"RESTORE", "relative", "5000", payload});
  EXPECT_THAT(Run("PEXPIRETIME relative"), Int(kStartMs + 5000));
  // The words of the request are propagated as they are.
  Run({"restore", "absolute", std::to_string(kStartMs + 7000), payload, "AbsTTL"});
  EXPECT_THAT(Run("PEXPIRETIME absolute"), Int(kStartMs + 7000));
  EXPECT_THAT(Run({"RESTORE", "none", "0", payload, "ABSTTL"}), Ok());
  EXPECT_THAT(Run("TTL none"), Int(-1));
  const std::string older = PayloadWithVersion(payload, rdb::kVersionOf70);
  EXPECT_EQ(Journaled()[1], StrCat("0: RESTORE relative ", kStartMs + 5000, " ", older, " ABSTTL"));
  EXPECT_EQ(Journaled()[2], StrCat("0: restore absolute ", kStartMs + 7000, " ", older, " AbsTTL"));
  Run({"RESTORE", "none", "9000", payload, "REPLACE", "IDLETIME", "7"});
  EXPECT_EQ(Journaled().back(), StrCat("0: RESTORE none ", kStartMs + 9000, " ", older, " REPLACE IDLETIME 7 ABSTTL"));
}

TEST_P(DumpCommands, RestoreOfAnExpiredValueStoresNothing) {
  Run("SET k v");
  const std::string payload = Dumped("k");
  EXPECT_THAT(Run({"RESTORE", "new", "1", payload, "ABSTTL"}), Ok());
  EXPECT_THAT(Run("EXISTS new"), Int(0));
  EXPECT_EQ(Journaled().size(), 1u);
  EXPECT_THAT(Run({"RESTORE", "k", "1", payload, "ABSTTL", "REPLACE"}), Ok());
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  EXPECT_EQ(Journaled().back(), "0: DEL k");
  EXPECT_THAT(Run({"RESTORE", "late", "9223372036854775807", payload}), Ok());
  EXPECT_THAT(Run("EXISTS late"), Int(0));
}

TEST_P(DumpCommands, RestoreDoesNotOverwriteUnlessTold) {
  Run("SET k v");
  Run("RPUSH old a");
  const std::string payload = Dumped("k");
  EXPECT_THAT(Run({"RESTORE", "old", "0", payload}), Error("BUSYKEY Target key name already exists."));
  EXPECT_THAT(Run({"RESTORE", "old", "-1", "garbage"}), Error("BUSYKEY Target key name already exists."));
  EXPECT_THAT(Run("TYPE old"), Simple("list"));
  EXPECT_THAT(Run({"RESTORE", "old", "0", payload, "REPLACE"}), Ok());
  EXPECT_THAT(Run("GET old"), Bulk("v"));
  Run("PEXPIRE old 10");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run({"RESTORE", "old", "0", payload}), Ok());
}

TEST_P(DumpCommands, RestoreChecksItsOptionsBeforeAllElse) {
  Run("SET k v");
  const std::string payload = Dumped("k");
  EXPECT_THAT(Run("RESTORE k 0 x FOO"), Error("ERR syntax error"));
  EXPECT_THAT(Run("RESTORE k 0 x IDLETIME"), Error("ERR syntax error"));
  EXPECT_THAT(Run("RESTORE k 0 x IDLETIME 1 FREQ 1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("RESTORE k 0 x FREQ 1 IDLETIME 1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("RESTORE k 0 x IDLETIME -1"), Error("ERR Invalid IDLETIME value, must be >= 0"));
  EXPECT_THAT(Run("RESTORE k 0 x FREQ 256"), Error("ERR Invalid FREQ value, must be >= 0 and <= 255"));
  EXPECT_THAT(Run("RESTORE k 0 x FREQ x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("RESTORE n x x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("RESTORE n -1 x"), Error("ERR Invalid TTL value, must be >= 0"));
}

TEST_P(DumpCommands, RestoreRefusesBadPayloads) {
  Run("SET k v");
  std::string payload = Dumped("k");
  const char wrong[] = "ERR DUMP payload version or checksum are wrong";
  EXPECT_THAT(Run({"RESTORE", "n", "0", ""}), Error(wrong));
  EXPECT_THAT(Run({"RESTORE", "n", "0", "x" + payload}), Error(wrong));
  EXPECT_THAT(Run({"RESTORE", "n", "0", Payload("\0\x01v"s, 15)}), Error(wrong));
  payload.back() = static_cast<char>(payload.back() ^ 1);
  EXPECT_THAT(Run({"RESTORE", "n", "0", payload}), Error(wrong));
  Run("DEBUG SET-SKIP-CHECKSUM-VALIDATION 1");
  EXPECT_THAT(Run({"RESTORE", "n", "0", payload}), Ok());
  EXPECT_THAT(Run({"RESTORE", "m", "0", Payload("\0\x01v"s, 12)}), Ok());
  for (const std::string& value : {""s, "\0\x05v"s, "\x01\0"s, "\x0f\x01"s, "\x63"s, "\x0b\x01v"s}) {
    EXPECT_THAT(Run({"RESTORE", "o", "0", Payload(value)}), Error("ERR Bad data format"));
  }
  EXPECT_THAT(Run("EXISTS o"), Int(0));
  SkipReplayCheck("the other server would not take a wrong checksum");
}

TEST_P(DumpCommands, RestoreSetsIdleTimeOrFrequencyByPolicy) {
  Run("SET k v");
  const std::string payload = Dumped("k");
  Run({"RESTORE", "idle", "0", payload, "IDLETIME", "1000"});
  EXPECT_THAT(Run("OBJECT IDLETIME idle"), Int(1000));
  Run({"RESTORE", "fresh", "0", payload, "FREQ", "100"});
  EXPECT_THAT(Run("OBJECT IDLETIME fresh"), Int(0));
  Run("CONFIG SET maxmemory-policy allkeys-lfu");
  Run({"RESTORE", "freq", "0", payload, "FREQ", "100"});
  EXPECT_THAT(Run("OBJECT FREQ freq"), Int(100));
}

TEST_P(DumpCommands, FieldDeadlinesTravel) {
  Run("HSET h f 1 g 2");
  Run("HPEXPIREAT h 1800000000000 FIELDS 1 f");
  const std::string payload = Dumped("h");
  EXPECT_EQ(payload[payload.size() - 10], 12);
  EXPECT_THAT(Run({"RESTORE", "copy", "0", payload}), Ok());
  EXPECT_THAT(Run("HPEXPIRETIME copy FIELDS 2 f g"), ArrayOf(Int(1'800'000'000'000), Int(-1)));
}

TEST_P(DumpCommands, PackedPayloadsCountAsSanitizedWhereThatIsAskedFor) {
  auto sanitizations = [&] {
    const std::string info = Run("INFO stats").Text();
    const std::string name = "dump_payload_sanitizations:";
    return std::stoi(info.substr(info.find(name) + name.size()));
  };
  Run("RPUSH l a");
  const std::string payload = Dumped("l");
  Run({"RESTORE", "a", "0", payload});
  EXPECT_EQ(sanitizations(), 0);
  Run("CONFIG SET sanitize-dump-payload yes");
  Run({"RESTORE", "b", "0", payload});
  EXPECT_EQ(sanitizations(), 1);
}

TEST_P(DumpCommands, RestoreAskingIsRestore) {
  Run("SET k v");
  EXPECT_THAT(Run({"RESTORE-ASKING", "n", "0", Dumped("k")}), Ok());
  EXPECT_THAT(Run("GET n"), Bulk("v"));
}

// ---------------------------------------------------------------------------------------------------------------------

TEST_P(DumpCommands, MigrateChecksItsWordsFirst) {
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k x 10"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 10 FOO"), Error("ERR syntax error"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 10 AUTH"), Error("ERR syntax error"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 10 AUTH2 a"), Error("ERR syntax error"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 10 KEYS a"),
              Error("ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 10"), Simple("NOKEY"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 \"\" 0 10 KEYS a b"), Simple("NOKEY"));
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 \"\" 0 10 KEYS"), Simple("NOKEY"));
}

TEST_P(DumpCommands, AFailedMigrateKeepsTheKey) {
  Run("SET k v");
  EXPECT_THAT(Run("MIGRATE 127.0.0.1 1 k 0 1000"), Error("IOERR error or timeout writing to target instance"));
  EXPECT_THAT(Run("MIGRATE no.such.host.invalid 1 k 0 1000"), Error("IOERR error or timeout connecting to the client"));
  EXPECT_THAT(Run("GET k"), Bulk("v"));
  EXPECT_EQ(Journaled().size(), 1u);
}

}  // namespace

}  // namespace respite
