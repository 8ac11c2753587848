// HyperLogLog: estimates the number of different elements seen, in 12 KB at most, with a standard error of 0.81 %.
//
// An element is hashed (MurmurHash64A). 14 bits of the hash choose one of 16384 registers. This register keeps the
// largest rank seen. The rank of an element is one more than the number of zeros at the low end of the other bits of
// its hash. The value is an ordinary string in Redis' format, so that it can be copied, dumped and read by either
// server:
//
//   "HYLL"  encoding 1  unused 3  count 8  registers …
//
//   encoding   0 dense, 1 sparse
//   count      little-endian; the last count that was computed, stale when the highest bit is set
//   dense      16384 registers of 6 bits, the first in the lowest bits of the first byte
//   sparse     runs: 00llllll           l+1 registers are 0                     (ZERO)
//                    01llllll llllllll  l+1 registers are 0, l has 14 bits, high bits first (XZERO)
//                    1vvvvvll           l+1 registers are v+1                   (VAL)
//
// A new value is sparse: one XZERO. The value becomes dense for good when a register exceeds 32, or when the sparse
// text would grow beyond hll-sparse-max-bytes. Two servers that saw the same elements in the same order hold the same
// bytes.
//
// Clients can write any bytes to a string. Hll::Of checks header and size. The functions of Hll accept any text that
// passes this check, and never read beyond its end. Functions that need all registers report an error if the runs do
// not add up to 16384. (As in Redis, Merge and ToDense ignore surplus runs at the end that begin with a VAL.)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

uint64_t MurmurHash(Bytes text, uint64_t seed);  // the MurmurHash64A of `text`; attackers can find collisions

enum class HllEncoding : uint8_t { kDense, kSparse };

struct HllObservation {  // an element's effect: register `index` becomes at least `rank`
  uint32_t index = 0;    // which of the 16384 registers the element may raise
  uint8_t rank = 0;
};
HllObservation HllObserve(Bytes element);  // hashes an element: which register it may raise, and to which rank

class Hll;

class HllRegisters {  // all 16384 ranks, one byte each, for merging several values
 public:
  static constexpr size_t kCount = 16384;  // number of registers

  uint8_t operator[](size_t index) const { return ranks_[index]; }
  // Each register keeps the larger rank. Returns false if the value is corrupt; some of its registers may have been
  // merged already.
  [[nodiscard]] bool Merge(const Hll& hll);  // includes `hll`; false: `hll` is corrupt, and perhaps merged in part
  void Add(HllObservation observation) {     // includes one element
    ranks_[observation.index] = std::max(ranks_[observation.index], observation.rank);
  }
  uint64_t Count() const;  // the estimated number of distinct elements

 private:
  std::array<uint8_t, kCount> ranks_{};  // the rank of each register
};

struct HllChange {  // how the stored text must change so that it includes one more element
  enum class Kind : uint8_t {
    kNone,      // the value already includes the observation
    kRegister,  // dense: call HllSetRegister
    kSplice,    // sparse: replace `removed` bytes at `offset` by `InsertedBytes()`
    kPromote,   // make the value dense, then set the register
    kCorrupt,   // the runs end before this register, or its run is cut
  };

  Kind kind = Kind::kNone;
  uint8_t inserted_size = 0;        // number of bytes in `inserted` that kSplice writes
  uint16_t removed = 0;             // number of bytes that kSplice removes at `offset`
  size_t offset = 0;                // byte offset in the text at which kSplice edits
  std::array<char, 24> inserted{};  // the bytes that kSplice writes

  Bytes InsertedBytes() const { return {inserted.data(), inserted_size}; }  // the bytes that kSplice writes
};

// Reads the text of a HyperLogLog value. The text must not change while this object is used.
class Hll {
 public:
  static constexpr size_t kHeaderSize = 16;                                         // bytes of the header
  static constexpr size_t kDenseSize = kHeaderSize + HllRegisters::kCount * 6 / 8;  // bytes of a dense value

  // Makes a reader for this text. Returns nullopt if the text is not a HyperLogLog. Checks only the header and, for a
  // dense value, the size.
  static std::optional<Hll> Of(Bytes text);
  static Bytes Empty();  // the text of a new value, which is sparse

  HllEncoding Encoding() const { return static_cast<HllEncoding>(text_[4]); }  // dense or sparse
  std::optional<uint64_t> CachedCount() const;                                 // the stored count; nullopt: outdated
  // Computes the count from the registers. Cost: O(registers) for a dense value, O(runs) for a sparse value.
  std::optional<uint64_t> Count() const;  // the estimated number of distinct elements; nullopt: the value is corrupt
  // Returns true for a dense value, and for a sparse value whose runs are complete and cover exactly 16384 registers.
  // If the result is false, Add may return kCorrupt.
  bool HasAllRegisters() const;  // false: corrupt, as the sparse runs do not add up to 16384 registers

  // Add computes how the stored text must change to include an element, but does not change the text. Cost: O(1) for a
  // dense value; O(runs) for a sparse value, read eight bytes at a time.
  HllChange Add(HllObservation observation, size_t sparse_max_bytes) const;
  std::optional<std::string> ToDense() const;  // the whole text in dense encoding; nullopt: corrupt
  std::string DescribeRuns() const;  // the sparse runs in readable form: "Z:16384" or "z:3 v:2,1"; requires: sparse

  uint8_t Register(size_t index) const;  // the rank in register `index`; requires: dense

 private:
  friend class HllRegisters;

  explicit Hll(Bytes text) : text_(text) {}

  Bytes Registers() const { return text_.substr(kHeaderSize); }  // the registers: the text after the header
  HllChange AddToSparse(HllObservation observation,  // computes the edit that adds an element to a sparse value
                        size_t sparse_max_bytes) const;

  Bytes text_;
};

// All functions below change the string value of a HyperLogLog in place. Requires: Hll::Of accepts the text.
void HllSetRegister(std::span<char> text,  // sets a register, even if its current rank is larger; requires: dense
                    HllObservation observation);
void HllStoreRegisters(std::span<char> text, const HllRegisters& registers);  // stores all registers; requires: dense
void HllStoreCount(std::span<char> text, uint64_t count);  // stores the count, and marks it as up to date
void HllInvalidateCachedCount(std::span<char> text);       // marks the stored count as outdated
// Requires: Hll::HasAllRegisters().
void HllAdd(std::string& text, HllObservation observation,  // adds an element; may make the value dense
            size_t sparse_max_bytes);

}  // namespace respite
