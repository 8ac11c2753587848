// Every value that RESTORE accepts is sound and survives DUMP, RESTORE, SAVE, a rewrite, replay and loading, which
// CommandTest checks when a test ends. The payloads are dumps of every type and encoding with random damage.
#include <cstdio>
#include <string>
#include <vector>

#include "base/crc64.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "tests/fuzz/sound_value.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

using namespace std::string_literals;

constexpr char kMakeValues[] = R"(
SET embstr hello
SET int 12345
HSET hash a 1 b 22 c hello
HSET table a 1 b this-is-a-longer-value-than-fits c x
HSETEX timed PX 100000000 FIELDS 2 a 1 b two
HSETEX timed PX 200000000 FIELDS 1 c 3
HSETEX timedtable PX 100000000 FIELDS 1 a this-is-a-longer-value-than-fits
HSET timedtable b 2
RPUSH list a b 1 -70000 5000000000 xyz
SADD intset 1 2 70000
SADD set a b 1
SADD members a this-is-a-longer-member-than-fits
ZADD zset 1 a 2.5 b -inf c
ZADD tree 1 a 2 this-is-a-longer-member-than-fits 3 c
XADD stream 1-1 a 1 b 2
XADD stream 2-1 a 3 b 4
XADD stream 2-2 other x
XADD stream 5-0 a y b z
XDEL stream 2-1
XGROUP CREATE stream group 0
XREADGROUP GROUP group alice COUNT 2 STREAMS stream >
XREADGROUP GROUP group bob COUNT 1 STREAMS stream >
XGROUP CREATECONSUMER stream group idle
XGROUP CREATE stream second $ ENTRIESREAD 3
XADD emptied 1-1 a b
XDEL emptied 1-1
)";

class RestoreProperty : public CommandTest {
 protected:
  RestoreProperty()
      : CommandTest({"enable-debug-command yes", "hash-max-listpack-value 20", "set-max-listpack-value 20",
                     "zset-max-listpack-value 20", "list-max-listpack-size 4", "stream-node-max-entries 3"}) {
    Bytes lines = kMakeValues;
    for (size_t end; (end = lines.find('\n')) != Bytes::npos; lines.remove_prefix(end + 1))
      if (end > 0) Run(lines.substr(0, end));
    for (int i = 0; i < 20; ++i) Run({"RPUSH", "quicklist", StrCat("element ", i)});
    for (const std::string& key : Run("KEYS *").Texts()) dumps_.push_back(Run({"DUMP", key}).Text());
  }

  std::string& Any() { return dumps_[random_.Below(dumps_.size())]; }
  char Byte() {
    static constexpr Bytes kTelling("\x00\x01\x02\x03\x7f\x80\x81\xc0\xdf\xf1\xfe\xff", 12);
    return random_.Below(2) == 0 ? kTelling[random_.Below(kTelling.size())] : static_cast<char>(random_.Below(256));
  }
  void Damage(std::string& payload) {
    const size_t at = random_.Below(payload.size());
    switch (random_.Below(6)) {
      case 0:
        payload[at] = static_cast<char>(payload[at] ^ (1 << random_.Below(8)));
        return;
      case 1:
      case 2:
        payload[at] = Byte();
        return;
      case 3:
        payload.insert(at, 1, Byte());
        return;
      case 4:
        payload.erase(at, 1 + random_.Below(3));
        if (payload.empty()) payload = "x";
        return;
      default:  // the end of another value
        const std::string& other = Any();
        payload = payload.substr(0, at) + other.substr(random_.Below(other.size()));
    }
  }
  // Appends version and checksum.
  static std::string Sealed(std::string value) {
    value += "\x0c\0"s;
    const uint64_t checksum = Crc64(0, value);
    for (int shift = 0; shift < 64; shift += 8) value += static_cast<char>(checksum >> shift);
    return value;
  }
  // XCLAIM, which a rewrite uses for deliveries, changes a time in the future to now, as in Redis.
  bool HasDeliveryAhead(const Entry& entry) {
    if (entry.Type() != ValueType::kStream) return false;
    for (const auto& [name, group] : static_cast<const StreamLog*>(entry.ObjectValue())->groups()) {
      for (auto at = group.pending().First(); !at.AtEnd(); at.Next())
        if (at.Get().delivered_ms > now_ms()) return true;
    }
    return false;
  }
  // The size of the version and checksum after a value.
  static constexpr size_t kTrailer = 10;
  std::string Damaged() {
    const std::string& whole = Any();
    std::string value = whole.substr(0, whole.size() - kTrailer);
    for (uint64_t left = 1 + random_.Below(4); left > 0; --left) Damage(value);
    return Sealed(value);
  }

  uint64_t seed_ = static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed()) + 1;
  Random random_{seed_};
  std::vector<std::string> dumps_;
};
INSTANTIATE_TEST_SUITE_P(Resp, RestoreProperty, testing::Values(RespVersion::kResp2), VersionName);

// All entries are marked as deleted, and all but the first have smaller IDs, so the last block has no entry left.
TEST_P(RestoreProperty, AStreamWhoseEntriesAreDroppedComesBack) {
  const std::string payload =
      "\x15\x01\x10\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x1e\x1e\x00\x00\x00\x0a\x00"
      "\x00\x01\x01\x01\x01\x01\x81\x66\x02\x00\x01\x03\x01\xdf\xff\x02\x00\x01\x81\x78\x02\x04\x01\xff\x00\x05"
      "\x00\x00\x00\x00\x00\x00\x00\x0b\x00\xaa\x18\x6c\x71\xa0\xf7\x1e\x44"s;
  ASSERT_THAT(Run({"RESTORE", "s", "0", payload}), Ok());
  EXPECT_THAT(Run("XLEN s"), Int(0));
  const std::string dump = Run({"DUMP", "s"}).Text();
  EXPECT_THAT(Run({"RESTORE", "s", "0", dump, "REPLACE"}), Ok());
  EXPECT_EQ(Run({"DUMP", "s"}).Text(), dump);
  EXPECT_THAT(Run("XADD s 6-1 a b"), Bulk("6-1"));
  EXPECT_EQ(Run("XRANGE s - +").Size(), 1u);
}

// Replaces times and counts in the dump of a stream by values that no command could set.
TEST_P(RestoreProperty, AStreamHasNoTimesBeforeItsClock) {
  Run("XADD x 1-1 a b");
  Run("XGROUP CREATE x g 0");
  Run("XREADGROUP GROUP g c STREAMS x >");
  std::string dump = Run({"DUMP", "x"}).Text();
  dump.resize(dump.size() - kTrailer);
  std::string now(8, '\0');
  for (size_t i = 0; i < 8; ++i) now[i] = static_cast<char>(static_cast<uint64_t>(now_ms()) >> (8 * i));
  int times = 0;
  for (size_t at = 0; (at = dump.find(now, at)) != std::string::npos; ++at, ++times) {
    std::string hostile = dump;
    hostile.replace(at, 8, std::string("\1\0\0\0\0\0\0\x80"s));
    EXPECT_THAT(Run({"RESTORE", "y", "0", Sealed(hostile), "REPLACE"}), Error("ERR Bad data format")) << times;
    hostile.replace(at, 8, std::string("\xff\xff\xff\xff\xff\xff\xff\x7f"s));
    EXPECT_THAT(Run({"RESTORE", "y", "0", Sealed(hostile), "REPLACE"}), Ok()) << times;
    EXPECT_EQ(Run("XPENDING y g - + 10").Size(), 1u);
    Run("XINFO STREAM y FULL");
    Run("XINFO CONSUMERS y g");
    EXPECT_EQ(Run("XPENDING y g IDLE 0 - + 10").Size(), 1u);
    EXPECT_EQ(Run("XAUTOCLAIM y g d 0 0").Size(), 3u) << "what was delivered later than now can be claimed";
  }
  Run("DEL y");
  EXPECT_EQ(times, 3) << "one of the delivery, two of the consumer";
}

TEST_P(RestoreProperty, CountsOfAStreamStopAtTheirEnd) {
  Run("XADD x 1-1 a b");
  Run("XSETID x 1-1 ENTRIESADDED 9223372036854775807");
  Run("XGROUP CREATE x g 0 ENTRIESREAD 9223372036854775807");
  EXPECT_THAT(Run("XADD x 2-1 a b"), Bulk("2-1"));
  EXPECT_EQ(Run("XREADGROUP GROUP g c STREAMS x >").Size(), 1u);
  Run("XCLAIM x g c 0 1-1 RETRYCOUNT 9223372036854775807");
  Run("XCLAIM x g c 0 1-1");
  EXPECT_THAT(Run({"RESTORE", "y", "0", Run({"DUMP", "x"}).Text()}), Ok());
}

TEST_P(RestoreProperty, AcceptedValuesSurvive) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string payload = Damaged();
    const std::string key = StrCat("k", i);
    const TestReply reply = Run({"RESTORE", key, "0", payload});
    if (reply.tree->IsError()) continue;
    ++accepted;
    const Entry* entry = server()->services().data.dataset.keyspace[0].Find(key);
    bool stays = random_.Below(4) == 0;
    if (entry != nullptr) {
      stays = stays && !HasDeliveryAhead(*entry);
      const bool is_stream = entry->Type() == ValueType::kStream;
      ASSERT_TRUE(IsSound(*entry, server()->services().env.settings)) << Quoted(payload);
      const TestReply dumped = Run({"DUMP", key});
      if (dumped.tree->IsNull()) continue;  // a hash whose fields have all expired
      const std::string dump = dumped.Text();
      ASSERT_THAT(Run({"RESTORE", key, "0", dump, "REPLACE"}), Ok()) << Quoted(payload);
      if (is_stream) {
        ASSERT_EQ(Run({"DUMP", key}).Text(), dump) << Quoted(payload);
      }
    }
    // For keys that remain, the fixture checks the rest at the end.
    if (!stays) Run({"DEL", key});
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace respite
