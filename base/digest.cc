#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace respite {

namespace {

const unsigned char* Octets(Bytes text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

std::array<uint8_t, 20> Sha1(Bytes text) {
  std::array<uint8_t, 20> digest{};
  SHA1(Octets(text), text.size(), digest.data());
  return digest;
}

std::array<uint8_t, 32> Sha256(Bytes text) {
  std::array<uint8_t, 32> digest{};
  SHA256(Octets(text), text.size(), digest.data());
  return digest;
}

std::string HexText(std::span<const uint8_t> octets) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(octets.size() * 2);
  for (const uint8_t octet : octets) {
    text.push_back(kDigits[octet >> 4]);
    text.push_back(kDigits[octet & 15]);
  }
  return text;
}

bool ConstantTimeEquals(Bytes a, Bytes b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace respite
