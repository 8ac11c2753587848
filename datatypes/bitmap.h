// Functions for bitmaps. A bitmap is a string seen as bits: bit 0 is the highest bit of the first byte, bit 8 the
// highest of the second. Bits after the end of the string are clear. A field is an integer of 1 to 64 bits that begins
// at any bit, highest bit first.
//
// No function here allocates, or reads or writes beyond the text passed to it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace respite {

enum class Bit : uint8_t { kClear, kSet };

struct BitRange {      // a range of bit positions, both ends included; requires: first <= last
  uint64_t first = 0;  // the first bit of the range
  uint64_t last = 0;
};

Bit BitAt(Bytes bitmap, uint64_t at);             // the bit at position `at`; clear after the end of the string
void PutBit(char* bitmap, uint64_t at, Bit bit);  // sets or clears a bit; requires: `at` is within the bitmap

// Cost: O(n), 8 bytes per cycle if the processor has an instruction that counts bits.
uint64_t CountSetBits(Bytes bitmap);  // number of bits that are set
// Requires: the range is within the bitmap.
uint64_t CountSetBits(Bytes bitmap, BitRange range);  // number of set bits in the range
// Requires: the range is within the bitmap. Cost: O(bytes of the range); compares eight bytes at a time.
std::optional<uint64_t> FindBit(Bytes bitmap, BitRange range,  // position of the first `wanted` bit; nullopt: none
                                Bit wanted);

// The operations of BITOP. kDiff, kDiff1 and kAndOr combine the first source X with the others Y. kDiff sets the bits
// that X has and no Y has. kDiff1 sets the bits that at least one Y has and X does not have. kAndOr sets the bits that
// X and at least one Y have. kOne sets the bits that exactly one source has.
enum class BitOperation : uint8_t { kAnd, kOr, kXor, kNot, kDiff, kDiff1, kAndOr, kOne };

// Shorter sources are padded with clear bits. `result` must be as long as the longest source. `result` may be the
// memory of a source that begins at the same address. Requires: at least one source; exactly one for kNot, at least two
// for kDiff, kDiff1 and kAndOr. Cost: O(n) for each source; each is read once, `result` is written once.
void CombineBits(BitOperation operation,  // BITOP: combines the sources bit by bit into `result`
                 std::span<const Bytes> sources, std::span<char> result);

// ---------------------------------------------------------------------------------------------------------------------
// Fields

enum class FieldSign : uint8_t { kUnsigned, kSigned };

struct BitField {       // an integer within a string, as BITFIELD reads and writes it: place, width and sign
  uint64_t offset = 0;  // position of the first bit of the field
  int bits = 0;         // number of bits: at most 64 if signed, 63 if unsigned, so that each value is an int64_t
  FieldSign sign = FieldSign::kUnsigned;

  uint64_t LastBit() const {  // position of the last bit of the field
    return offset + static_cast<uint64_t>(bits) - 1;
  }
  int64_t Min() const;
  int64_t Max() const;
};

int64_t ReadField(Bytes bitmap, const BitField& field);  // the integer in the field; bits after the string are 0
// Requires: the field is within the bitmap.
void WriteField(char* bitmap, const BitField& field, int64_t value);  // stores the lowest bits of `value` in the field

// The option OVERFLOW of BITFIELD says what is stored when a value does not fit its field. kWrap stores the lowest bits
// of the value. kSaturate stores the field's maximum if the value is too high, or its minimum if the value is too low.
// kFail stores nothing.
enum class FieldOverflow : uint8_t { kWrap, kSaturate, kFail };

// Returns the value to store in the field, which is `value` itself if `value` fits. Returns nullopt if `value` does not
// fit and `overflow` is kFail. As in Redis, a negative value for an unsigned field counts as too high. So does a value
// that is so far below the minimum of a signed field that Max() - value overflows an int64_t.
std::optional<int64_t> ApplyOverflow(const BitField& field,  // fits `value` to the field; nullopt: overflow and kFail
                                     int64_t value, FieldOverflow overflow);
// Returns the value to store for `old_value` + `delta`, or nullopt if the sum does not fit and `overflow` is kFail.
// Requires: `old_value` fits the field.
std::optional<int64_t> AddToField(const BitField& field,  // BITFIELD INCRBY: the new value; nullopt: overflow and kFail
                                  int64_t old_value, int64_t delta, FieldOverflow overflow);

}  // namespace respite
