// Slots of keys, and the index of keys by slot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/key_slot.h"
#include "base/random.h"
#include "base/slot_set.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"

namespace respite {
namespace {

// Facts of a real server, from CLUSTER KEYSLOT.
TEST(KeySlotTest, IsThatOfRedis) {
  EXPECT_EQ(Crc16("123456789"), 0x31c3);
  EXPECT_EQ(KeySlot("foo"), 12182);
  EXPECT_EQ(KeySlot("bar"), 5061);
  EXPECT_EQ(KeySlot(""), 0);
  EXPECT_EQ(KeySlot("{user1000}.following"), KeySlot("user1000"));
  EXPECT_EQ(HashTag("foo{}{bar}"), "foo{}{bar}");
  EXPECT_EQ(HashTag("foo{{bar}}zap"), "{bar");
  EXPECT_EQ(HashTag("foo{bar}{zap}"), "bar");
  EXPECT_EQ(HashTag("foo{bar"), "foo{bar");
}

// Computes the checksum bit by bit, as the polynomial defines it.
uint16_t SlowCrc16(const std::string& data) {
  uint32_t crc = 0;
  for (const char c : data) {
    crc ^= static_cast<uint32_t>(static_cast<uint8_t>(c)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return static_cast<uint16_t>(crc);
}

TEST(KeySlotTest, EveryLengthAndByteCounts) {
  Random random(7);
  for (size_t length = 0; length < 70; ++length) {
    std::string data;
    for (size_t i = 0; i < length; ++i) data += static_cast<char>(random.Below(256));
    EXPECT_EQ(Crc16(data), SlowCrc16(data)) << length;
  }
}

TEST(SlotSetTest, RangesAndBytes) {
  SlotSet slots;
  for (int slot : {0, 1, 2, 5, 100, 16382, 16383}) slots.Add(slot);
  EXPECT_THAT(RangesOf(slots),
              testing::ElementsAre(SlotRange{0, 2}, SlotRange{5, 5}, SlotRange{100, 100}, SlotRange{16382, 16383}));
  std::string bytes;
  slots.AppendBytes(bytes);
  ASSERT_EQ(bytes.size(), SlotSet::kBytes);
  EXPECT_EQ(bytes[0], 0x27);
  EXPECT_EQ(SlotSet::FromBytes(bytes), slots);
  slots.Remove(5);
  EXPECT_EQ(slots.Count(), 6);
}

// After any changes the index contains exactly the existing keys.
TEST(SlotIndexTest, FollowsTheKeys) {
  Random random(7);
  Keyspace keyspace(1, HashKey{1, 2}, Keyspace::Index::kBySlot);
  std::set<std::string> model;
  for (int round = 0; round < 20'000; ++round) {
    const std::string key = StrCat("{", random.Below(20), "}", random.Below(50));
    Entry* entry = keyspace[0].Find(key);
    switch (random.Below(4)) {
      case 0:
        if (entry == nullptr) keyspace[0].Add(key, StringContent::Text("v"), kNoDeadline, 0);
        model.insert(key);
        break;
      case 1:
        if (entry != nullptr) keyspace[0].Take(entry);
        model.erase(key);
        break;
      case 2:
        if (entry != nullptr) keyspace[0].Assign(entry, StringContent::Text(std::string(random.Below(300), 'x')));
        break;
      default:
        if (entry != nullptr) keyspace[0].SetDeadline(entry, static_cast<int64_t>(random.Below(2)) * 1000);
    }
    if (random.Below(3000) == 0) {
      keyspace.Detach(0);
      model.clear();
    }
  }
  for (int tag = 0; tag < 20; ++tag) {
    std::set<std::string> expected;
    const int slot = KeySlot(std::to_string(tag));
    for (const std::string& key : model) {
      if (KeySlot(key) == slot) expected.insert(key);
    }
    const auto some = keyspace[0].by_slot()->Some(slot, SIZE_MAX);
    EXPECT_EQ(std::set<std::string>(some.begin(), some.end()), expected);
    EXPECT_EQ(keyspace[0].by_slot()->Count(slot), expected.size());
    EXPECT_EQ(keyspace[0].by_slot()->Some(slot, 2).size(), std::min<size_t>(2, expected.size()));
  }
}

TEST(SlotIndexTest, AnEmptyDatabaseHasNoKeysInAnySlot) {
  const Keyspace keyspace(1, {}, Keyspace::Index::kBySlot);
  int visits = 0;
  keyspace[0].by_slot()->ForEachWhile(5, [&](const Entry*) { return ++visits > 0; });
  EXPECT_EQ(visits, 0);
}

}  // namespace
}  // namespace respite
