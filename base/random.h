// Random numbers. `Random` is fast, seeded and reproducible (never for secrets); SystemSeed and RandomHex ask the
// kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace respite {

// xoshiro256**: 32 bytes of state, period 2^256 - 1. The same seed gives the same sequence on every machine.
// Cost: about 1 ns per number. Not thread safe.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();

  // Uniformly distributed in [0, bound), without bias. Requires: bound > 0.
  uint64_t Below(uint64_t bound);

  // Uniformly distributed in [0, 1), a multiple of 2^-53.
  double Unit();

 private:
  std::array<uint64_t, 4> state_;
};

// 64 bits from the kernel, for seeding.
uint64_t SystemSeed();

// `digits` lower-case hexadecimal digits from the kernel, suitable for run ids and passwords.
std::string RandomHex(size_t digits);

// Another seed for each number of the same seed. Seeds of different numbers give unrelated sequences.
uint64_t DerivedSeed(uint64_t seed, uint64_t number);

// Where run ids, ids of histories and passwords come from: the kernel, or, in tests that must be repeatable, a seed.
class IdSource {
 public:
  IdSource() = default;
  // Everybody who knows the seed knows all ids and passwords.
  explicit IdSource(uint64_t seed) : seeded_(seed) {}

  // `digits` lower-case hexadecimal digits.
  std::string Hex(size_t digits);

 private:
  std::optional<Random> seeded_;
};

}  // namespace respite
