// Payloads of function libraries: limits of what they unpack to.
#include "persistence/function_payload.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "persistence/dump_payload.h"

namespace respite {
namespace {

using namespace std::string_literals;

// The payload's part before version and checksum.
std::string PayloadLibraries(const std::vector<Bytes>& codes, RdbCompression compression) {
  const std::string payload = FunctionPayload(codes, compression);
  return std::string(VerifyPayload(payload, PayloadCheck::kChecksum).value());
}

TEST(FunctionPayload, IsReadUpToALimitOfAllCodesTogether) {
  const std::string one = "#!" + std::string(998, 'a');
  const std::string other = "#!" + std::string(498, 'b');
  for (const RdbCompression compression : {RdbCompression::kOff, RdbCompression::kOn}) {
    const std::string libraries = PayloadLibraries({one, other}, compression);
    EXPECT_EQ(libraries.size() < 200, compression == RdbCompression::kOn);
    const auto codes = ReadFunctionPayload(libraries, 1500 + 2 * 64);
    ASSERT_TRUE(codes);
    EXPECT_EQ(codes.value(), (std::vector<std::string>{one, other}));
    for (const uint64_t most_bytes : std::initializer_list<uint64_t>{1499 + 2 * 64, 1500, 1000, 999, 1, 0}) {
      const auto refused = ReadFunctionPayload(libraries, most_bytes);
      ASSERT_FALSE(refused) << most_bytes;
      EXPECT_EQ(refused.error(), FunctionPayloadError::kTooLarge) << most_bytes;
    }
  }
}

// A payload of 190 MB with the shortest libraries would otherwise take gigabytes.
TEST(FunctionPayload, ShortCodesHaveALimit) {
  const std::vector<Bytes> codes(1000, "#!");
  const std::string libraries = PayloadLibraries(codes, RdbCompression::kOff);
  EXPECT_EQ(ReadFunctionPayload(libraries, 66'000).value().size(), 1000u);
  EXPECT_EQ(ReadFunctionPayload(libraries, 65'999).error(), FunctionPayloadError::kTooLarge);
}

TEST(FunctionPayload, NothingAfterACodeThatIsNoLibraryIsUnpacked) {
  const std::string damaged = PayloadLibraries({"#!a", "", "#!b"}, RdbCompression::kOff) + "damaged";
  EXPECT_EQ(ReadFunctionPayload(damaged, 1000).value(), (std::vector<std::string>{"#!a", ""}));
}

// The announced length is checked first. Unpacking these bytes would fail.
TEST(FunctionPayload, ALongCodeIsRefusedBeforeItIsUnpacked) {
  const std::string damaged = "\xf5\xc3\x14\x43\xe8"s + std::string(20, '\xff');  // 20 bytes unpack to 1000
  EXPECT_EQ(ReadFunctionPayload(damaged, 1000).error(), FunctionPayloadError::kTruncated);
  EXPECT_EQ(ReadFunctionPayload(damaged, 999).error(), FunctionPayloadError::kTooLarge);
  const std::string cut = damaged.substr(0, 8);
  EXPECT_EQ(ReadFunctionPayload(cut, 999).error(), FunctionPayloadError::kTruncated);
}

}  // namespace
}  // namespace respite
