// ScoredMember: the record of one member of a large sorted set, with its score, in ONE allocation.
//
//   offset 0   double score
//          8   size of the member * 2 + pooled: 7 bits per byte, low bits first; the high bit means that more bytes
//          follow …   the bytes of the member
//
// A 17-byte member takes 26 bytes, for which jemalloc uses its size class of 32, and a SlabPool 28. The member index
// and the score tree both point to the record, and a new score is written in place.
#pragma once

#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/bytes.h"
#include "base/out_of_memory.h"
#include "datatypes/slab_pool.h"

namespace respite {

class ScoredMember {  // one member of a large sorted set, with its score
 public:
  ScoredMember(const ScoredMember&) = delete;
  ScoredMember& operator=(const ScoredMember&) = delete;

  // The memory comes from `pool` if there is one and it suits. Cost: one allocation. The caller owns the record.
  static ScoredMember* Create(double score, Bytes member,
                              SlabPool* pool = nullptr) {  // allocates a record; free it with Destroy
    const size_t size = SizeFor(member.size());
    const bool is_pooled = pool != nullptr && SlabPool::Suits(size);
    void* memory = is_pooled ? pool->Allocate(size) : AllocateOrEnd(size);
    auto* record = new (memory) ScoredMember;
    record->SetScore(score);
    char* to = record->Payload();
    size_t left = member.size() << 1 | (is_pooled ? 1 : 0);
    for (; left > 0x7f; left >>= 7) *to++ = static_cast<char>(left | 0x80);
    *to++ = static_cast<char>(left);
    member.copy(to, member.size());
    return record;
  }
  static void Destroy(ScoredMember* record) {  // frees a record; its pool must still exist
    record->IsPooled() ? SlabPool::Free(record) : std::free(record);
  }

  double Score() const {  // the score of the member
    double score;
    std::memcpy(&score, score_, sizeof score);
    return score;
  }
  void SetScore(double score) { std::memcpy(score_, &score, sizeof score); }  // does not update a ScoreTree
  Bytes Key() const { return Member(); }                                      // for HashIndex
  Bytes Member() const {                                                      // the text of the member
    const char* from = Payload();
    const auto first = static_cast<uint8_t>(*from++);
    if (first <= 0x7f) [[likely]]
      return {from, size_t{first} >> 1};
    return ReadLongMember(from, first);
  }
  size_t Size() const { return SizeFor(Member().size()); }  // bytes of the contents of the record
  size_t BlockSize() const {                                // bytes of memory that the record takes
    return IsPooled() ? SlabPool::SizeOf(this) : malloc_usable_size(const_cast<ScoredMember*>(this));
  }

 private:
  ScoredMember() = default;

  static size_t SizeFor(size_t member_size) {  // bytes of a record for a member of this size
    size_t prefix = 1;
    for (size_t size = member_size << 1; size > 0x7f; size >>= 7) ++prefix;
    return sizeof(ScoredMember) + prefix + member_size;
  }
  bool IsPooled() const { return (*Payload() & 1) != 0; }        // true: the memory comes from a SlabPool
  static Bytes ReadLongMember(const char* from, size_t first) {  // the text of more than 63 bytes
    size_t size = first & 0x7f;
    uint8_t byte = 0x80;
    for (int shift = 7; byte > 0x7f; shift += 7) {
      byte = static_cast<uint8_t>(*from++);
      size |= static_cast<size_t>(byte & 0x7f) << shift;
    }
    return {from, size >> 1};
  }
  const char* Payload() const { return reinterpret_cast<const char*>(this + 1); }  // after the score: size, then text
  char* Payload() { return reinterpret_cast<char*>(this + 1); }  // after the score: the size of the text, then the text

  char score_[sizeof(double)];  // the score of the member; a record of a SlabPool is aligned to 4 bytes only
};
static_assert(sizeof(ScoredMember) == 8);

}  // namespace respite
