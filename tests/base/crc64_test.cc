#include "base/crc64.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace respite {
namespace {

// Follows the definition: applies the polynomial bit by bit.
uint64_t BitwiseCrc64(uint64_t crc, Bytes data) {
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x95ac9329ac4bc9b5 : 0);
  }
  return crc;
}

TEST(Crc64, HasTheKnownCheckValues) {
  EXPECT_EQ(Crc64(0, ""), 0U);
  EXPECT_EQ(Crc64(0, "123456789"), 0xe9c6d914c4b8d9ca);
}

TEST(Crc64, AgreesWithTheDefinitionAtEverySizeAndSplit) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  std::string data;
  for (int size = 0; size < 70; size++) {
    const uint64_t whole = Crc64(0, data);
    ASSERT_EQ(whole, BitwiseCrc64(0, data));
    for (size_t split = 0; split <= data.size(); split++) {
      ASSERT_EQ(Crc64(Crc64(0, Bytes(data).substr(0, split)), Bytes(data).substr(split)), whole);
    }
    data.push_back(static_cast<char>(random.Below(256)));
  }
}

TEST(Crc64, IsTheSameByTable) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  std::string data(5000, '\0');
  for (char& c : data) c = static_cast<char>(random.Below(256));
  for (int round = 0; round < 3000; ++round) {
    const size_t begin = random.Below(data.size());
    const Bytes part = Bytes(data).substr(begin, random.Below(round % 2 == 0 ? 300 : data.size()));
    const uint64_t crc = random.Next();
    ASSERT_EQ(Crc64(crc, part), Crc64ByTable(crc, part)) << begin << " " << part.size();
  }
}

}  // namespace
}  // namespace respite
