#include "base/byte_order.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace respite {

namespace {

constexpr char kBytes[] = "\x01\x82\x03\x84\x05\x86\x07\x88";
constexpr uint64_t kLittle = 0x8807860584038201;
constexpr uint64_t kBig = 0x0182038405860788;

TEST(ByteOrderTest, LoadsEachWidth) {
  EXPECT_EQ(LoadLittle<uint8_t>(kBytes), 0x01);
  EXPECT_EQ(LoadLittle<uint16_t>(kBytes), 0x8201);
  EXPECT_EQ(LoadLittle<uint32_t>(kBytes), 0x84038201);
  EXPECT_EQ(LoadLittle<uint64_t>(kBytes), kLittle);
  EXPECT_EQ(LoadLittle<int16_t>(kBytes), -32255);
  EXPECT_EQ(LoadBig<uint8_t>(kBytes), 0x01);
  EXPECT_EQ(LoadBig<uint16_t>(kBytes), 0x0182);
  EXPECT_EQ(LoadBig<uint32_t>(kBytes), 0x01820384u);
  EXPECT_EQ(LoadBig<uint64_t>(kBytes), kBig);
  EXPECT_EQ(LoadBig<int16_t>(kBytes + 1), -32253);
}

template <class Number>
std::string Stored(void (*store)(char*, Number), Number number) {
  std::string bytes(sizeof number, '\0');
  store(bytes.data(), number);
  return bytes;
}

TEST(ByteOrderTest, StoresEachWidth) {
  EXPECT_EQ(Stored<uint8_t>(StoreLittle<uint8_t>, 0x12), "\x12");
  EXPECT_EQ(Stored<uint16_t>(StoreLittle<uint16_t>, 0x1234), "\x34\x12");
  EXPECT_EQ(Stored<int32_t>(StoreLittle<int32_t>, -2), "\xfe\xff\xff\xff");
  EXPECT_EQ(Stored<uint64_t>(StoreLittle<uint64_t>, kLittle), kBytes);
  EXPECT_EQ(Stored<uint8_t>(StoreBig<uint8_t>, 0x12), "\x12");
  EXPECT_EQ(Stored<uint16_t>(StoreBig<uint16_t>, 0x1234), "\x12\x34");
  EXPECT_EQ(Stored<int32_t>(StoreBig<int32_t>, -2), "\xff\xff\xff\xfe");
  EXPECT_EQ(Stored<uint64_t>(StoreBig<uint64_t>, kBig), kBytes);
}

// The array has no room for another byte, so a sanitizer sees an access past the end.
TEST(ByteOrderTest, AnyNumberOfBytes) {
  for (size_t bytes = 0; bytes <= 8; ++bytes) {
    SCOPED_TRACE(bytes);
    const std::vector<char> from(kBytes, kBytes + bytes);
    uint64_t little = 0;
    uint64_t big = 0;
    for (size_t i = 0; i < bytes; ++i) {
      little |= uint64_t{static_cast<uint8_t>(from[i])} << 8 * i;
      big = big << 8 | static_cast<uint8_t>(from[i]);
    }
    EXPECT_EQ(LoadLittle(from.data(), bytes), little);
    EXPECT_EQ(LoadBig(from.data(), bytes), big);
    EXPECT_EQ(LoadBigPrefix(Bytes(from.data(), bytes)), bytes == 0 ? 0 : big << (64 - 8 * bytes));
    std::vector<char> to(bytes);
    StoreLittle(to.data(), kLittle, bytes);
    EXPECT_EQ(to, from);
  }
}

TEST(ByteOrderTest, PrefixesOrderLikeTexts) {
  const std::array<Bytes, 6> ordered = {"", "a", "ab", "abcdefgh", "b", "\xff"};
  for (size_t i = 1; i < ordered.size(); ++i) EXPECT_LT(LoadBigPrefix(ordered[i - 1]), LoadBigPrefix(ordered[i]));
  EXPECT_EQ(LoadBigPrefix("abcdefgh"), LoadBigPrefix("abcdefghi"));
}

TEST(ByteOrderTest, ExtendsSigns) {
  EXPECT_EQ(SignExtended(0x1fff, 13), -1);
  EXPECT_EQ(SignExtended(0x0fff, 13), 4095);
  EXPECT_EQ(SignExtended(0x80, 8), -128);
  EXPECT_EQ(SignExtended(UINT64_MAX, 64), -1);
}

}  // namespace

}  // namespace respite
