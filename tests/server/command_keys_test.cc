// The keys of requests, compared with replies of Redis 7.2 to COMMAND GETKEYSANDFLAGS.

#include <gtest/gtest.h>

#include "protocol/reply.h"
#include "server/catalogue/command_docs.h"
#include "server/catalogue/key_finder.h"
#include "tests/server/command_facts.h"

namespace respite {
namespace {

constexpr int kReads = kKeyRO | kKeyAccess;
constexpr int kStores = kKeyOW | kKeyUpdate;
constexpr int kMoves = kKeyRW | kKeyAccess | kKeyDelete;

// One card for each way to find keys; other tests compare the real cards with the golden file.
const CommandSpec kSpecs[] = {
    {.syntax = "GET key", .keys = {Key(1, kReads)}},
    {.syntax = "MSET data{key value}...", .keys = {KeyRange(1, -1, 2, kStores)}},
    {.syntax = "DEL key...", .keys = {KeyRange(1, -1, 1, kKeyRM | kKeyDelete)}},
    {.syntax = "MGET key...", .keys = {KeyRange(1, -1, 1, kReads)}},
    {.syntax = "SET key value [GET]",
     .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags)},
     .find_keys = KeysOfSet},
    {.syntax = "BITFIELD key [operation...]",
     .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags)},
     .find_keys = KeysOfBitField},
    {.syntax = "SORT key [STORE destination:key#2]",
     .keys = {Key(1, kReads), UnknownKeys(kReads), UnknownKeys(kStores)},
     .find_keys = KeysOfSort},
    {.syntax = "SORT_RO key", .keys = {Key(1, kReads), UnknownKeys(kReads)}, .find_keys = KeysOfSortRo},
    {.syntax = "MIGRATE host port key destination-db timeout [KEYS keys:key...]",
     .keys = {Key(3, kMoves), KeysAfter("KEYS", -2, {.last = -1}, kMoves | kKeyIncomplete)},
     .find_keys = KeysOfMigrate},
    {.syntax = "GEORADIUS key longitude latitude radius unit [STORE a:key|STOREDIST b:key]",
     .keys = {Key(1, kReads), KeysAfter("STORE", 6, {}, kStores), KeysAfter("STOREDIST", 6, {}, kStores)}},
    {.syntax = "XREAD STREAMS streams{key... id...}",
     .keys = {KeysAfter("STREAMS", 1, {.last = -1, .limit = 2}, kReads)}},
    {.syntax = "ZUNION numkeys key...", .keys = {CountedKeys(1, kReads)}},
    {.syntax = "ZUNIONSTORE destination:key numkeys key...", .keys = {Key(1, kStores), CountedKeys(2, kReads)}},
    {.syntax = "EVAL script numkeys [key...]", .keys = {CountedKeys(2, kKeyRW | kKeyAccess | kKeyUpdate)}},
    {.syntax = "BLPOP key... timeout", .keys = {KeyRange(1, -2, 1, kMoves)}},
    {.syntax = "OBJECT|ENCODING key", .keys = {Key(2, kKeyRO)}},
    {.syntax = "LCS key1:key key2:key", .keys = {KeyRange(1, 1, 1, kReads)}},
    {.syntax = "SUNIONSTORE destination:key key...", .keys = {Key(1, kStores), KeyRange(2, -1, 1, kReads)}},
};

const CommandSpec* SpecOf(Bytes word) {
  for (const CommandSpec& spec : kSpecs)
    if (spec.syntax.substr(0, spec.syntax.find_first_of(" |")) == word) return &spec;
  return nullptr;
}

std::string FlagsText(uint32_t flags) {
  BlockPool pool;
  ReplyBuffer buffer(pool);
  Reply reply(buffer, RespVersion::kResp3);
  WriteKeyFlags(reply, flags);
  std::string text;
  for (const Decoded& flag : DecodeResp3(buffer.Text()).items) text += (text.empty() ? "" : ",") + flag.text;
  return text;
}

std::string KeysText(const CommandSpec& spec, const std::vector<std::string>& words) {
  const std::vector<Bytes> argv(words.begin(), words.end());
  std::string text;
  for (const KeyRef& key : KeyPositions(spec, argv))
    text += (text.empty() ? "" : "; ") + words[key.index] + " " + FlagsText(key.flags);
  return text;
}

TEST(KeyPositions, EqualThoseOfRedis) {
  size_t compared = 0;
  for (const std::string& line : GoldenLines("command_keys_7.2.txt")) {
    const size_t arrow = line.find(" => ");
    const std::vector<std::string> words = SplitQuoted(line.substr(0, arrow)).value();
    std::string expected = line.substr(arrow + 4);
    const bool checked_elsewhere = expected.starts_with("ERR ") && !expected.starts_with("ERR Invalid arguments");
    if (checked_elsewhere) continue;
    if (expected.starts_with("ERR")) expected.clear();
    ASSERT_NE(SpecOf(words[0]), nullptr) << line;
    EXPECT_EQ(KeysText(*SpecOf(words[0]), words), expected) << line;
    ++compared;
  }
  EXPECT_GT(compared, 45u);
}

TEST(KeyPositions, AreFoundWhateverTheCaseOfTheKeyword) {
  EXPECT_EQ(KeysText(*SpecOf("XREAD"), {"xread", "streams", "a", "1"}), "a RO,access");
}

TEST(KeyPositions, IgnoreWhatIsNoKey) {
  const CommandSpec publish = {.syntax = "SPUBLISH channel message", .keys = {Key(1, kKeyNotKey)}};
  EXPECT_EQ(KeysText(publish, {"spublish", "c", "m"}), "");
  EXPECT_FALSE(MayHaveKeys(publish));
  EXPECT_TRUE(MayHaveKeys(*SpecOf("GET")));
}

TEST(KeyPositions, OfTooShortRequestsAreNone) {
  for (const CommandSpec& spec : kSpecs) {
    if (spec.find_keys) continue;  // hooks need requests of the right length
    EXPECT_EQ(KeysText(spec, {"x"}), "") << spec.syntax;
  }
}

TEST(LegacyKeys, JoinConsecutiveRanges) {
  const KeySpecs joined = {Key(1, kStores), KeyRange(2, -1, 1, kReads)};
  const LegacyKeys legacy = LegacyKeysOf(joined.View());
  EXPECT_EQ(legacy.first, 1);
  EXPECT_EQ(legacy.last, -1);
  EXPECT_EQ(legacy.step, 1);
  EXPECT_FALSE(legacy.movable);
}

TEST(LegacyKeys, AreMovableBehindKeywordsAndCounts) {
  EXPECT_TRUE(LegacyKeysOf(SpecOf("XREAD")->keys.View()).movable);
  const LegacyKeys counted = LegacyKeysOf(SpecOf("ZUNIONSTORE")->keys.View());
  EXPECT_TRUE(counted.movable);
  EXPECT_EQ(counted.first, 1);
  EXPECT_EQ(counted.last, 1);
}

TEST(PrefetchKeyIndex, IsWhereTheFirstKeyAlwaysStands) {
  EXPECT_EQ(PrefetchKeyIndex(SpecOf("GET")->keys.View()), 1u);
  EXPECT_EQ(PrefetchKeyIndex(SpecOf("OBJECT")->keys.View()), 2u);
  EXPECT_EQ(PrefetchKeyIndex(SpecOf("ZUNION")->keys.View()), 2u);
  EXPECT_EQ(PrefetchKeyIndex(SpecOf("XREAD")->keys.View()), 0u);
}

}  // namespace
}  // namespace respite
