// The parts of rdb_value_reader.h and rdb_value_writer.h, a file for each type of value.
#pragma once

#include "base/result.h"
#include "datatypes/database.h"
#include "persistence/packed_elements.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_output.h"
#include "persistence/rdb_value_reader.h"

namespace respite {

// Read what stands behind a type octet of theirs. Whether the input has failed is for the caller to see: what they give
// then is of no use.
RdbValueResult ReadRdbList(RdbInput& input, rdb::Type type, const RdbTarget& target);
RdbValueResult ReadRdbSet(RdbInput& input, rdb::Type type, const RdbTarget& target);
RdbValueResult ReadRdbSortedSet(RdbInput& input, rdb::Type type, const RdbTarget& target);
RdbValueResult ReadRdbHash(RdbInput& input, rdb::Type type, const RdbTarget& target);
RdbValueResult ReadRdbStream(RdbInput& input, rdb::Type type, const RdbTarget& target);

// Write what stands behind the type octet, which rdb_value_writer.cc knows.
void WriteRdbList(RdbOutput& out, const Entry& entry);
void WriteRdbSet(RdbOutput& out, const Entry& entry);
void WriteRdbSortedSet(RdbOutput& out, const Entry& entry);
void WriteRdbHash(RdbOutput& out, const Entry& entry);
void WriteRdbStream(RdbOutput& out, const Entry& entry);

inline Failure<RdbValueFault> BadValue(const char* why) {
  return Failure(RdbValueFault{RdbValueFault::Kind::kBad, why});
}
inline Failure<RdbValueFault> EmptyValue() {
  return Failure(RdbValueFault{RdbValueFault::Kind::kEmpty, "the collection is empty"});
}

inline EntryPtr PackedEntry(const RdbTarget& target, ValueType type, ValueForm form, Bytes packed) {
  return EntryPtr(Entry::CreatePacked(target.key, type, form, packed, 0, target.access));
}
inline EntryPtr ObjectEntry(const RdbTarget& target, ValueType type, std::unique_ptr<Object> object) {
  return EntryPtr(Entry::CreateObject(target.key, type, std::move(object), target.access));
}

// `count` texts, fewer when the input fails. Requires: that many are wanted at once (a small collection).
std::vector<RdbText> ReadTexts(RdbInput& input, uint64_t count);
// The same as elements, which view the texts.
PackedElements ElementsOf(const std::vector<RdbText>& texts);
// Whether a packed collection can be kept as it is: canonical, of items of `stride` elements, `most` at most, the first
// of each in no other, too.
bool CanBeKept(const CanonicalListpack& listpack, size_t stride, uint64_t most, const RdbTarget& target);
// True when an element from `begin` on, each stride-th, has more than `max` octets.
bool HasLongElement(const PackedElements& elements, uint64_t max);

}  // namespace respite
