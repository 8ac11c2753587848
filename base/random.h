// Random numbers. `Random` is fast, seeded and reproducible (never use it for secrets). SystemSeed and RandomHex get
// random bits from the kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace respite {

// xoshiro256**: 32 bytes of state, period 2^256 - 1. Equal seeds give equal sequences on every machine.
// Cost: about 1 ns per number. Not thread safe.
class Random {  // a fast pseudo-random generator with a seed, never for secrets
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();

  // Requires: bound > 0.
  uint64_t Below(uint64_t bound);  // a random number from 0 to bound - 1, uniformly distributed

  // Returns a number uniformly distributed in [0, 1), a multiple of 2^-53.
  double Unit();

 private:
  std::array<uint64_t, 4> state_;  // the state of xoshiro256**
};

uint64_t SystemSeed();  // 64 random bits from the kernel

std::string RandomHex(size_t digits);  // this many lower-case hexadecimal digits from the kernel, good for passwords

// Generators with seeds of different `number` give unrelated sequences.
uint64_t DerivedSeed(uint64_t seed, uint64_t number);  // computes another seed from `seed`, different for each `number`

// The digits of an ID come from the kernel or, in tests that must be repeatable, from a seed.
class IdSource {  // generates random run IDs, replication IDs and passwords
 public:
  IdSource() = default;
  // For tests: anyone who knows the seed can predict all IDs and passwords.
  explicit IdSource(uint64_t seed) : seeded_random_(seed) {}

  // Returns `digits` random lower-case hexadecimal digits.
  std::string Hex(size_t digits);

 private:
  std::optional<Random> seeded_random_;  // source of the digits of IDs; nullopt: the kernel
};

}  // namespace respite
