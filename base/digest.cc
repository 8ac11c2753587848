#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace respite {

namespace {

const unsigned char* RawBytes(Bytes text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

std::array<uint8_t, 20> Sha1(Bytes text) {
  std::array<uint8_t, 20> digest{};
  SHA1(RawBytes(text), text.size(), digest.data());
  return digest;
}

std::array<uint8_t, 32> Sha256(Bytes text) {
  std::array<uint8_t, 32> digest{};
  SHA256(RawBytes(text), text.size(), digest.data());
  return digest;
}

uint64_t Xxh3(Bytes text) { return XXH3_64bits(text.data(), text.size()); }

std::string HexText(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool ConstantTimeEquals(Bytes a, Bytes b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace respite
