#include "datatypes/digest.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

constexpr uint64_t kSeed = 1;

void Add(Keyspace& keyspace, int db, Bytes key, Bytes value, int64_t deadline_ms = kNoDeadline) {
  keyspace[db].Add(key, StringContent::Value(value), deadline_ms, 0);
}

TEST(Digest, OfNothingIsZero) {
  Keyspace keyspace(16, {kSeed});
  EXPECT_EQ(DigestOf(keyspace).Hex(), std::string(40, '0'));
}

TEST(Digest, AddForgetsOrderAndMixKeepsIt) {
  Digest ab, ba;
  ab.Add("a"), ab.Add("b");
  ba.Add("b"), ba.Add("a");
  EXPECT_EQ(ab.Hex(), ba.Hex());
  Digest mixed_ab, mixed_ba;
  mixed_ab.Mix("a"), mixed_ab.Mix("b");
  mixed_ba.Mix("b"), mixed_ba.Mix("a");
  EXPECT_NE(mixed_ab.Hex(), mixed_ba.Hex());
}

TEST(Digest, DependsOnDatabaseKeyValueAndWhetherThereIsADeadline) {
  Keyspace plain(16, {kSeed}), other_db(16, {kSeed}), timed(16, {kSeed}), later(16, {kSeed}), other_value(16, {kSeed});
  Add(plain, 0, "k", "v");
  Add(other_db, 1, "k", "v");
  Add(timed, 0, "k", "v", 1000);
  Add(later, 0, "k", "v", 2000);
  Add(other_value, 0, "k", "w");
  EXPECT_NE(DigestOf(plain).Hex(), DigestOf(other_db).Hex());
  EXPECT_NE(DigestOf(plain).Hex(), DigestOf(timed).Hex());
  EXPECT_NE(DigestOf(plain).Hex(), DigestOf(other_value).Hex());
  EXPECT_EQ(DigestOf(timed).Hex(), DigestOf(later).Hex());
}

TEST(Digest, IgnoresHowAValueIsStored) {
  Keyspace integer(16, {kSeed}), text(16, {kSeed});
  integer[0].Add("k", StringContent::Integer(42), kNoDeadline, 0);
  text[0].Add("k", StringContent::Raw("42"), kNoDeadline, 0);
  EXPECT_EQ(DigestOf(integer).Hex(), DigestOf(text).Hex());
}

TEST(Digest, IgnoresTheOrderOfKeys) {
  Keyspace up(16, {kSeed}), down(16, {kSeed + 1});
  for (int i = 0; i < 1000; ++i) Add(up, 0, std::to_string(i), "v");
  for (int i = 999; i >= 0; --i) Add(down, 0, std::to_string(i), "v");
  EXPECT_EQ(DigestOf(up).Hex(), DigestOf(down).Hex());
}

}  // namespace
}  // namespace respite
