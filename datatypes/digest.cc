#include "datatypes/digest.h"

#include "base/byte_order.h"
#include "base/digest.h"
#include "base/number_text.h"
#include "datatypes/array.h"
#include "datatypes/hash.h"
#include "datatypes/json/json_document.h"
#include "datatypes/json/json_text.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "datatypes/stream.h"
#include "datatypes/vector_set.h"

namespace respite {

namespace {

// Returns the number that Redis uses for a type. Redis' number 5 is for values of modules, to which vector sets and
// JSON belong.
uint32_t TypeNumber(ValueType type) {
  switch (type) {
    case ValueType::kString:
      return 0;
    case ValueType::kList:
      return 1;
    case ValueType::kSet:
      return 2;
    case ValueType::kSortedSet:
      return 3;
    case ValueType::kHash:
      return 4;
    case ValueType::kStream:
      return 6;
    case ValueType::kArray:
      return 8;
    case ValueType::kVectorSet:
    case ValueType::kJson:
      return 5;
  }
  return 0;
}

void MixHash(Digest& digest, const Entry& entry) {
  const Hash hash = Hash::WithExpiredFields(entry);
  hash.ForEach([&](Bytes field, Bytes value) {
    Digest pair;
    pair.Mix(field);
    pair.Mix(value);
    if (entry.HasFieldDeadlines() && hash.DeadlineOf(field) != kNoDeadline) pair.Add("!!hexpire!!");
    digest.Add(pair.RawBytes());
  });
}

void MixList(Digest& digest, const List& list) {
  for (ListCursor cursor(list, 0); cursor.IsValid(); cursor.Next()) digest.Mix(cursor.Element());
}

void MixSortedSet(Digest& digest, const SortedSet& set) {
  set.ForEach([&](Bytes member, double score) {
    Digest element;
    element.Mix(member);
    element.Mix(ShortDoubleText(score));
    digest.Add(element.RawBytes());
  });
}

void MixStream(Digest& digest, const StreamLog& log) {
  for (StreamLog::Walk walk(log, StreamId::Min(), StreamId::Max()); walk.IsValid(); walk.Next()) {
    digest.Mix(StreamIdText(walk.Id(), '.'));
    walk.ForEachPair([&](Bytes field, Bytes value) {
      digest.Mix(field);
      digest.Mix(value);
    });
  }
}

void MixArray(Digest& digest, const ArrayTable& table) {
  table.VisitRange(0, ArrayTable::kMaxIndex, [&](uint64_t index, const ArrayElement& element) {
    digest.Mix(IntegerText::FromUnsigned(index));
    digest.Mix(ArrayText(element).View());
    return true;
  });
}

// Adds a vector set to a digest (DEBUG DIGEST). The digest covers names, vectors and attributes, but not the links.
void MixVectorSet(Digest& digest, const VectorTable& table) {
  for (SlotOrder::Place at = table.order().First(); !table.order().IsEnd(at); table.order().Next(at)) {
    const uint32_t slot = table.order().At(at);
    const HnswGraph& graph = table.graph();
    const StoredVector vector = graph.VectorOf(slot);
    Digest element;
    element.Mix(table.NameOf(slot));
    element.Mix({static_cast<const char*>(vector.data), graph.format().Bytes()});
    element.Mix(ShortDoubleText(vector.scale));
    element.Mix(ShortDoubleText(graph.LengthOf(slot)));
    if (const auto attributes = table.AttributesOf(slot)) element.Mix(*attributes);
    digest.Add(element.RawBytes());
  }
}

void MixContent(Digest& digest, const Entry& entry) {
  const EncodingLimits unused;  // nothing is changed, so no limit applies
  const CollectionContext place{ValueSlot(&entry), unused, 0};
  switch (entry.Type()) {
    case ValueType::kString:
      return digest.Mix(StringText(entry).View());
    case ValueType::kList:
      return MixList(digest, List(place));
    case ValueType::kSet:
      return Set(place).ForEach([&](const PackedElement& member) { digest.Add(ElementText(member).View()); });
    case ValueType::kHash:
      return MixHash(digest, entry);
    case ValueType::kSortedSet:
      return MixSortedSet(digest, SortedSet(place));
    case ValueType::kStream:
      return MixStream(digest, Stream(place).Log());
    case ValueType::kArray:
      return MixArray(digest, Array(place).Table());
    case ValueType::kVectorSet:
      return MixVectorSet(digest, VectorSet(place).Table());
    case ValueType::kJson:
      return digest.Mix(JsonText(Json(place).Document().root()));
  }
}

}  // namespace

void Digest::Add(Bytes part) {
  std::array<uint8_t, 20> sum = Sha1(part);
  for (size_t i = 0; i < sum.size(); ++i) bytes_[i] ^= sum[i];
}

void Digest::Mix(Bytes part) {
  Add(part);
  bytes_ = Sha1(RawBytes());
}

void Digest::MixNumber(uint32_t number) {
  std::array<char, sizeof number> bytes;
  StoreBig<uint32_t>(bytes.data(), number);
  Mix({bytes.data(), bytes.size()});
}

std::string Digest::Hex() const { return HexText(bytes_); }

void MixValue(Digest& digest, const Entry& entry) {
  digest.MixNumber(TypeNumber(entry.Type()));
  MixContent(digest, entry);
  if (entry.Deadline() != kNoDeadline) digest.Add("!!expire!!");
}

Digest DigestOf(const Keyspace& keyspace) {
  Digest all;
  for (int db = 0; db < keyspace.Count(); ++db) {
    if (keyspace[db].Size() == 0) continue;
    all.MixNumber(static_cast<uint32_t>(db));
    keyspace[db].ForEach([&](const Entry* entry) {
      Digest one;
      one.Mix(entry->Key());
      MixValue(one, *entry);
      all.Add(one.RawBytes());
    });
  }
  return all;
}

}  // namespace respite
