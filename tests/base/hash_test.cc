#include "base/hash.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

// SipHash-1-3 as OpenSSL computes it.
uint64_t ReferenceHash(Bytes text, const HashKey& key) {
  std::array<unsigned char, 16> key_bytes;
  std::memcpy(key_bytes.data(), &key.low, 8);
  std::memcpy(key_bytes.data() + 8, &key.high, 8);
  unsigned rounds = 1;
  unsigned final_rounds = 3;
  size_t size = sizeof(uint64_t);
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &rounds),
                             OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &final_rounds),
                             OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size), OSSL_PARAM_construct_end()};
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(EVP_MAC_fetch(nullptr, "SIPHASH", nullptr), EVP_MAC_free);
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_new(mac.get()), EVP_MAC_CTX_free);
  uint64_t hash = 0;
  EXPECT_EQ(EVP_MAC_init(context.get(), key_bytes.data(), key_bytes.size(), parameters), 1);
  EXPECT_EQ(EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size()), 1);
  EXPECT_EQ(EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(&hash), &size, sizeof hash), 1);
  return hash;
}

TEST(HashTest, IsSipHash13) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (size_t size = 0; size <= 300; ++size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random.Next());
    const HashKey key{random.Next(), random.Next()};
    ASSERT_EQ(HashBytes(text, key), ReferenceHash(text, key)) << size;
  }
}

// Typical key names: the hash must handle long common parts well.
struct Names {
  const char* label;
  std::string (*name)(uint64_t number);
};

std::string Uuid(uint64_t number) {
  Random random(number + 1);  // distinct, and the same in each run
  std::string text = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  for (char& c : text)
    if (c == 'x') c = "0123456789abcdef"[random.Below(16)];
  return text;
}

std::string FourBytes(uint64_t number) {
  const auto word = static_cast<uint32_t>(number);
  return {reinterpret_cast<const char*>(&word), sizeof word};
}

class HashOfNames : public testing::TestWithParam<Names> {
 protected:
  static constexpr size_t kNames = 1'000'000;

  static std::vector<uint64_t> Hashes(const HashKey& key, uint64_t names = kNames) {
    std::vector<uint64_t> hashes;
    hashes.reserve(names);
    for (uint64_t i = 1; i <= names; ++i) hashes.push_back(HashBytes(GetParam().name(i), key));
    return hashes;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Names, HashOfNames,
    testing::Values(Names{"Users", [](uint64_t number) { return StrCat("user:", number); }}, Names{"Uuids", Uuid},
                    Names{"FourBytes", FourBytes},
                    Names{"Padded",
                          [](uint64_t number) {
                            std::string digits = std::to_string(number);
                            return "key:" + std::string(12 - digits.size(), '0') + digits;
                          }},
                    Names{"LongEqualBeginnings",
                          [](uint64_t number) { return std::string(100, 'a') + FourBytes(number); }},
                    Names{"LongEqualEnds", [](uint64_t number) { return FourBytes(number).append(100, 'a'); }}),
    [](const auto& names) { return std::string(names.param.label); });

// Returns the deviation of the counts from a uniform distribution, in standard deviations of chi-square.
double Deviation(const std::vector<uint64_t>& counts, size_t total) {
  const double expected = static_cast<double>(total) / static_cast<double>(counts.size());
  double sum = 0;
  for (uint64_t count : counts) sum += std::pow(static_cast<double>(count) - expected, 2) / expected;
  const double degrees = static_cast<double>(counts.size()) - 1;
  return (sum - degrees) / std::sqrt(2 * degrees);
}

TEST_P(HashOfNames, FillsLowMiddleAndHighBitsAlike) {
  const HashKey key = HashKey::FromKernel();
  SCOPED_TRACE(testing::Message() << "key " << key.low << " " << key.high);
  constexpr int kBits = 12;
  const std::vector<uint64_t> hashes = Hashes(key);
  for (int shift : {0, 20, 32, 64 - kBits}) {
    std::vector<uint64_t> counts(size_t{1} << kBits);
    for (uint64_t hash : hashes) ++counts[(hash >> shift) & (counts.size() - 1)];
    EXPECT_LT(std::abs(Deviation(counts, hashes.size())), 7) << "bits from " << shift;
  }
}

TEST_P(HashOfNames, KeysAreIndependent) {
  const HashKey key = HashKey::FromKernel();
  SCOPED_TRACE(testing::Message() << "key " << key.low << " " << key.high);
  constexpr uint64_t kCompared = 50'000;
  const std::vector<uint64_t> hashes = Hashes(key, kCompared);
  for (const HashKey other :
       {HashKey{key.low ^ 1, key.high}, HashKey{key.low, key.high ^ 1}, HashKey{key.high, key.low}}) {
    const std::vector<uint64_t> others = Hashes(other, kCompared);
    // Each bit of one hash agrees with each bit of the other in half of all cases; tests bits 0, 7, 14 … of both.
    for (int bit = 0; bit < 64; bit += 7)
      for (int other_bit = 0; other_bit < 64; other_bit += 7) {
        int64_t agree = 0;
        for (size_t i = 0; i < hashes.size(); ++i) agree += ~((hashes[i] >> bit) ^ (others[i] >> other_bit)) & 1;
        ASSERT_NEAR(static_cast<double>(agree), kCompared / 2.0, 7 * std::sqrt(kCompared / 4.0))
            << bit << " " << other_bit;
      }
  }
}

TEST_P(HashOfNames, EachBitOfANameChangesHalfTheHash) {
  const HashKey key = HashKey::FromKernel();
  SCOPED_TRACE(testing::Message() << "key " << key.low << " " << key.high);
  constexpr uint64_t kTried = 2000;
  std::array<uint64_t, 64> changes{};
  uint64_t flips = 0;
  for (uint64_t i = 1; i <= kTried; ++i) {
    std::string name = GetParam().name(i);
    const uint64_t hash = HashBytes(name, key);
    for (size_t byte = 0; byte < name.size(); byte += 1 + name.size() / 20, ++flips) {
      name[byte] = static_cast<char>(name[byte] ^ (1 << (i % 8)));
      const uint64_t changed = hash ^ HashBytes(name, key);
      for (size_t bit = 0; bit < 64; ++bit) changes[bit] += (changed >> bit) & 1;
      name[byte] = static_cast<char>(name[byte] ^ (1 << (i % 8)));
    }
  }
  for (size_t bit = 0; bit < 64; ++bit) {
    const double half = static_cast<double>(flips) / 2;
    EXPECT_NEAR(static_cast<double>(changes[bit]), half, 7 * std::sqrt(half / 2)) << "bit " << bit;
  }
}

// These keys once had the same hash for every seed, because a constant in the source cancelled the seed.
TEST(HashTest, NoPublicConstantCancelsTheKey) {
  const HashKey key = HashKey::FromKernel();
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 1000; ++i) {
    std::string text = "\x3b\xa7\xca\x84\x85\xae\x67\xbb";
    const uint64_t rest = random.Next();
    text.append(reinterpret_cast<const char*>(&rest), sizeof rest);
    hashes.push_back(HashBytes(text, key));
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(HashKeyTest, Differs) { EXPECT_NE(HashKey::FromKernel(), HashKey::FromKernel()); }

}  // namespace
}  // namespace respite
