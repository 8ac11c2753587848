#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace respite {

namespace {

__extension__ using Wide = unsigned __int128;

// Returns the next number of the generator splitmix64, which spreads a poor seed (0, 1, 2 …) over the whole state. The
// generator cannot produce the forbidden all-zero state.
uint64_t SplitMix(uint64_t& seed) {
  seed += 0x9e3779b97f4a7c15;
  uint64_t mixed = seed;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

// Fills `size` bytes with random bytes from the kernel. Ends the process if the kernel provides none, because no secret
// would be safe.
void FillFromKernel(void* out, size_t size) {
  auto* next = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = getrandom(next, size, 0);
    if (got < 0 && errno != EINTR) std::abort();
    if (got <= 0) continue;
    next += got;
    size -= static_cast<size_t>(got);
  }
}

}  // namespace

Random::Random(uint64_t seed) : state_{} {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

// Random::Below returns the high half of a 128-bit product. Products whose low half is under 2^64 mod bound would be
// over-represented, so these products are drawn again. (This is Lemire's method, which divides only if the low half is
// under `bound`.)
uint64_t Random::Below(uint64_t bound) {
  Wide product = Wide{Next()} * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < threshold) product = Wide{Next()} * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

HashKey HashKey::FromKernel() {
  HashKey key;
  FillFromKernel(&key, sizeof key);
  return key;
}

uint64_t SystemSeed() {
  uint64_t seed = 0;
  FillFromKernel(&seed, sizeof seed);
  return seed;
}

uint64_t DerivedSeed(uint64_t seed, uint64_t number) { return Random(Random(seed).Next() + number).Next(); }

std::string RandomHex(size_t digits) {
  std::vector<unsigned char> bytes((digits + 1) / 2);
  FillFromKernel(bytes.data(), bytes.size());
  std::string text;
  text.reserve(digits);
  for (size_t i = 0; i < digits; i++) {
    const unsigned nibble = i % 2 == 0 ? bytes[i / 2] >> 4U : bytes[i / 2] & 15U;
    text.push_back(kHexDigits[nibble]);
  }
  return text;
}

std::string IdSource::Hex(size_t digits) {
  if (!seeded_random_) return RandomHex(digits);
  std::string text(digits, '0');
  for (char& digit : text) digit = kHexDigits[seeded_random_->Below(sizeof kHexDigits - 1)];
  return text;
}

}  // namespace respite
