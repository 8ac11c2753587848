// ScoredMember: the record of one member of a large sorted set, with its score, in ONE allocation.
//
//   offset 0   double score
//          8   size of the member: 7 bits per byte, low bits first; the high bit means that more bytes follow
//          …   the bytes of the member
//
// A 17-byte member takes 26 bytes, for which jemalloc uses its size class of 32. The record never moves: the member
// index and the score tree both point to it, and a new score is written in place.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/bytes.h"
#include "base/out_of_memory.h"

namespace respite {

class ScoredMember {  // one member of a large sorted set, with its score
 public:
  ScoredMember(const ScoredMember&) = delete;
  ScoredMember& operator=(const ScoredMember&) = delete;

  // Cost: one allocation. The caller owns the record.
  static ScoredMember* Create(double score, Bytes member) {  // allocates a record; free it with Destroy
    void* memory = AllocateOrEnd(sizeof(ScoredMember) + SizePrefixBytes(member.size()) + member.size());
    auto* record = new (memory) ScoredMember(score);
    char* to = record->Payload();
    size_t left = member.size();
    for (; left > 0x7f; left >>= 7) *to++ = static_cast<char>(left | 0x80);
    *to++ = static_cast<char>(left);
    member.copy(to, member.size());
    return record;
  }
  static void Destroy(ScoredMember* record) { std::free(record); }  // frees a record

  double Score() const { return score_; }          // the score of the member
  void SetScore(double score) { score_ = score; }  // sets the score, but does not update a ScoreTree
  Bytes Key() const { return Member(); }           // for HashIndex
  Bytes Member() const {                           // the text of the member
    const char* from = Payload();
    const auto first = static_cast<uint8_t>(*from++);
    if (first <= 0x7f) [[likely]]
      return {from, first};
    return ReadLongMember(from, first);
  }
  // Returns the number of bytes that the record requested from the allocator.
  size_t Size() const {
    const size_t size = Member().size();
    return sizeof(ScoredMember) + SizePrefixBytes(size) + size;
  }

 private:
  explicit ScoredMember(double score) : score_(score) {}

  static size_t SizePrefixBytes(size_t size) {  // number of bytes that encode the size of a text
    size_t bytes = 1;
    for (; size > 0x7f; size >>= 7) ++bytes;
    return bytes;
  }
  static Bytes ReadLongMember(const char* from, size_t first) {  // the text of more than 127 bytes
    size_t size = first & 0x7f;
    uint8_t byte = 0x80;
    for (int shift = 7; byte > 0x7f; shift += 7) {
      byte = static_cast<uint8_t>(*from++);
      size |= static_cast<size_t>(byte & 0x7f) << shift;
    }
    return {from, size};
  }
  const char* Payload() const { return reinterpret_cast<const char*>(this + 1); }  // after the score: size, then text
  char* Payload() { return reinterpret_cast<char*>(this + 1); }  // after the score: the size of the text, then the text

  double score_;  // the score of the member
};
static_assert(sizeof(ScoredMember) == 8);

}  // namespace respite
