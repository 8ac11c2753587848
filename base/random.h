// Random numbers. `Random` is fast, seeded and reproducible (never use it for secrets). SystemSeed and RandomHex ask
// the kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace respite {

// xoshiro256**: 32 bytes of state, period 2^256 - 1. Equal seeds give equal sequences on every machine.
// Cost: about 1 ns per number. Not thread safe.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();

  // Returns a number uniformly distributed in [0, bound), without bias. Requires: bound > 0.
  uint64_t Below(uint64_t bound);

  // Returns a number uniformly distributed in [0, 1), a multiple of 2^-53.
  double Unit();

 private:
  std::array<uint64_t, 4> state_;
};

// Returns 64 bits from the kernel, for seeding.
uint64_t SystemSeed();

// Returns `digits` lower-case hexadecimal digits from the kernel, suitable for run IDs and passwords.
std::string RandomHex(size_t digits);

// Derives one of many seeds from a seed. Seeds derived with different numbers give unrelated sequences.
uint64_t DerivedSeed(uint64_t seed, uint64_t number);

// Generates run IDs, replication IDs and passwords: from the kernel or, in tests that must be repeatable, from a seed.
class IdSource {
 public:
  IdSource() = default;
  // All IDs and passwords are predictable for anyone with the seed.
  explicit IdSource(uint64_t seed) : seeded_(seed) {}

  // Returns `digits` lower-case hexadecimal digits.
  std::string Hex(size_t digits);

 private:
  std::optional<Random> seeded_;
};

}  // namespace respite
