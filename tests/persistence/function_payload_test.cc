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
  const std::string one(1000, 'a');
  const std::string other(500, 'b');
  for (const RdbCompression compression : {RdbCompression::kOff, RdbCompression::kOn}) {
    const std::string libraries = PayloadLibraries({one, other}, compression);
    EXPECT_EQ(libraries.size() < 200, compression == RdbCompression::kOn);
    const auto codes = ReadFunctionPayload(libraries, 1500);
    ASSERT_TRUE(codes);
    EXPECT_EQ(codes.value(), (std::vector<std::string>{one, other}));
    for (const uint64_t most_bytes : std::initializer_list<uint64_t>{1499, 1000, 999, 1, 0}) {
      const auto refused = ReadFunctionPayload(libraries, most_bytes);
      ASSERT_FALSE(refused) << most_bytes;
      EXPECT_EQ(refused.error(), FunctionPayloadError::kTooLarge) << most_bytes;
    }
  }
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
