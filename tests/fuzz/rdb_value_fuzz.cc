// A value of an RDB file or DUMP payload that may be anything. What is read must be a sound value: its own invariants
// hold, and it is written and read again as the same. The first octet chooses the limits, the second is the type.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "datatypes/chunked_list.h"
#include "datatypes/digest.h"
#include "datatypes/hash.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"

namespace respite {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

EncodingLimits LimitsFor(uint8_t choice) {
  if (choice % 2 == 0) return {};
  return {.hash_max_listpack_entries = 2,
          .hash_max_listpack_value = 4,
          .set_max_intset_entries = 3,
          .set_max_listpack_entries = 2,
          .set_max_listpack_value = 4,
          .zset_max_listpack_entries = 2,
          .zset_max_listpack_value = 4,
          .list_max_listpack_size = 2};
}

bool IsSound(const Entry& entry, const EncodingLimits& limits) {
  const CollectionPlace place{ValueSlot(&entry), limits, 0};
  switch (entry.Type()) {
    case ValueType::kSet:
      return Set(place).CheckInvariants();
    case ValueType::kSortedSet:
      return SortedSet(place).CheckInvariants();
    case ValueType::kHash:
      return Hash::Complete(entry).CheckInvariants();
    case ValueType::kList:
      return entry.Form() != ValueForm::kObject ||
             static_cast<const ChunkedList*>(entry.HeldObject())->CheckInvariants();
    default:
      return true;
  }
}

std::string DigestText(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  return digest.Hex();
}

EntryPtr Read(Bytes value, const EncodingLimits& limits) {
  RdbInput input(value);
  const uint8_t type = input.Octet();
  auto entry = ReadRdbValue(input, type, {"key", 0, limits, 7});
  if (!entry) return nullptr;
  Require(!input.Failed() && entry.value() != nullptr);
  return std::move(entry).value();
}

void Try(Bytes value, const EncodingLimits& limits) {
  const EntryPtr entry = Read(value, limits);
  if (entry == nullptr) return;
  Require(IsSound(*entry, limits));
  RdbOutput out(RdbCompression::kOn);
  WriteRdbValue(out, *entry);
  const EntryPtr again = Read(out.Buffered(), limits);
  Require(again != nullptr && DigestText(*again) == DigestText(*entry));
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  if (size < 2) return 0;
  Try({reinterpret_cast<const char*>(data) + 1, size - 1}, LimitsFor(data[0]));
  return 0;
}
