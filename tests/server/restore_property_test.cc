// Whatever RESTORE accepts is a sound value, and DUMP, RESTORE, SAVE, a rewrite, replay and loading bring it back: what
// CommandTest checks when a test ends. The payloads are dumps of every type and encoding with random damage.
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "server/commands/draw.h"
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
    server()->debug().skip_payload_checksum = true;
    Bytes lines = kMakeValues;
    for (size_t end; (end = lines.find('\n')) != Bytes::npos; lines.remove_prefix(end + 1))
      if (end > 0) Run(lines.substr(0, end));
    for (int i = 0; i < 20; ++i) Run({"RPUSH", "quicklist", "element " + std::to_string(i)});
    for (const std::string& key : Run("KEYS *").Texts()) dumps_.push_back(Run({"DUMP", key}).Text());
  }

  std::string& Any() { return dumps_[random_.Below(dumps_.size())]; }
  char Octet() {
    static constexpr Bytes kTelling = "\x00\x01\x02\x03\x7f\x80\x81\xc0\xdf\xf1\xfe\xff"s;
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
        payload[at] = Octet();
        return;
      case 3:
        payload.insert(at, 1, Octet());
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
  // What stands behind a value: version and checksum, which is not looked at.
  static constexpr size_t kTrailer = 10;
  std::string Damaged() {
    const std::string& whole = Any();
    std::string value = whole.substr(0, whole.size() - kTrailer);
    for (uint64_t left = 1 + random_.Below(4); left > 0; --left) Damage(value);
    return value + "\x0c\0"s + std::string(8, '\0');
  }

  uint64_t seed_ = static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed()) + 1;
  Random random_{seed_};
  std::vector<std::string> dumps_;
};
INSTANTIATE_TEST_SUITE_P(Resp, RestoreProperty, testing::Values(RespVersion::kResp2), VersionName);

TEST_P(RestoreProperty, WhatIsAcceptedComesBack) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string payload = Damaged();
    const std::string key = "k" + std::to_string(i);
    const TestReply reply = Run({"RESTORE", key, "0", payload});
    if (reply.tree->IsError()) continue;
    ++accepted;
    const Entry* entry = server()->keyspace()[0].Find(key);
    if (entry != nullptr) {
      ASSERT_TRUE(IsSound(*entry, server()->settings())) << Quoted(payload);
      const std::string dump = Run({"DUMP", key}).Text();
      ASSERT_THAT(Run({"RESTORE", key, "0", dump, "REPLACE"}), Ok()) << Quoted(payload);
      if (entry->Type() == ValueType::kStream) ASSERT_EQ(Run({"DUMP", key}).Text(), dump) << Quoted(payload);
    }
    // The rest is checked at the end, for all of them; what is the same as what was there need not be.
    if (random_.Below(4) != 0) Run({"DEL", key});
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace respite
