// Reads and writes hashes in RDB form.
#include <algorithm>
#include <memory>

#include "datatypes/hash_table.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr char kRepeatedField[] = "Hash ziplist or listpack with dup elements: integrity check failed.";

RdbValueResult MakeHashTable(const PackedElements& pairs, const RdbEntryProperties& target) {
  auto table = std::make_unique<HashTable>(target.hash_key);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const ElementText field(pairs[i]);
    const ElementText value(pairs[i + 1]);
    if (table->Set(field.View(), value.View()) != HashTable::Outcome::kAdded) return BadValueFault(kRepeatedField);
  }
  return MakeObjectEntry(target, ValueType::kHash, std::move(table));
}

RdbValueResult MakeHash(const PackedElements& pairs, const RdbEntryProperties& target) {
  if (pairs.empty()) return EmptyValueFault();
  if (pairs.size() % 2 != 0) return BadValueFault("Hash listpack integrity check failed: a field has no value");
  if (pairs.size() / 2 > target.limits.hash_max_listpack_entries) return MakeHashTable(pairs, target);
  if (HasEqualElements(pairs, 2, target.hash_key)) return BadValueFault(kRepeatedField);
  return MakePackedEntry(target, ValueType::kHash, ValueForm::kListpack, MakeListpack(pairs));
}

RdbValueResult MakeHashBySize(const PackedElements& pairs, const RdbEntryProperties& target) {
  if (HasLongElement(pairs, target.limits.hash_max_listpack_value)) return MakeHashTable(pairs, target);
  return MakeHash(pairs, target);
}

RdbValueResult ReadLargeHash(RdbInput& input, uint64_t count, const RdbEntryProperties& target) {
  auto table = std::make_unique<HashTable>(target.hash_key);
  for (; count > 0 && !input.Failed(); --count) {
    const RdbText field = input.Text();
    const RdbText value = input.Text();
    if (table->Set(field.View(), value.View()) != HashTable::Outcome::kAdded) return BadValueFault(kRepeatedField);
    input.FreeTexts();
  }
  return MakeObjectEntry(target, ValueType::kHash, std::move(table));
}

RdbValueResult ReadPlainHash(RdbInput& input, const RdbEntryProperties& target) {
  const uint64_t count = input.Count(2);
  if (count == 0) return EmptyValueFault();
  if (count > target.limits.hash_max_listpack_entries) return ReadLargeHash(input, count, target);
  const std::vector<RdbText> texts = ReadTexts(input, count * 2);
  if (input.Failed()) return BadValueFault("a hash is cut off");
  return MakeHashBySize(ElementsOf(texts), target);
}

RdbValueResult ReadHashListpack(RdbInput& input, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  if (MayStoreUnchanged(CanonicalListpack(text.View()), 2, target.limits.hash_max_listpack_entries, target))
    return MakePackedEntry(target, ValueType::kHash, ValueForm::kListpack, text.View());
  const auto pairs = ListpackElements(text.View());
  return pairs ? MakeHash(*pairs, target) : BadValueFault("Hash listpack integrity check failed.");
}

RdbValueResult ReadHashZiplist(RdbInput& input, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  const auto pairs = ZiplistElements(text.View());
  return pairs ? MakeHash(*pairs, target) : BadValueFault("Hash ziplist integrity check failed.");
}

RdbValueResult ReadZipmap(RdbInput& input, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  const auto pairs = ZipmapElements(text.View());
  // As in Redis, an empty zipmap is corrupt, although other empty hashes are skipped.
  if (!pairs || pairs->empty()) return BadValueFault("Zipmap integrity check failed.");
  return MakeHashBySize(*pairs, target);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fields with deadlines

// A field that is being read from an RDB. Its texts are views of what was read.
struct TimedPair {
  PackedElement field;
  PackedElement value;
  int64_t deadline_ms;  // 0 if none, as in the file
};

constexpr int64_t kLastDeadlineMs = (int64_t{1} << 46) - 1;  // the maximum of HPEXPIREAT

bool IsPossibleDeadline(int64_t deadline_ms) { return deadline_ms >= 0 && deadline_ms <= kLastDeadlineMs; }

RdbValueResult MakeTimedTable(const std::vector<TimedPair>& pairs, const RdbEntryProperties& target) {
  auto table = std::make_unique<HashTable>(target.hash_key);
  for (const TimedPair& pair : pairs) {
    const ElementText field(pair.field);
    const ElementText value(pair.value);
    if (table->Set(field.View(), value.View()) != HashTable::Outcome::kAdded) return BadValueFault(kRepeatedField);
    if (pair.deadline_ms != 0) table->SetDeadline(field.View(), pair.deadline_ms);
  }
  return MakeObjectEntry(target, ValueType::kHash, std::move(table));
}

// Creates a listpack whose fields are in the order of their deadlines. Fields without a deadline come last.
RdbValueResult MakeTimedListpack(std::vector<TimedPair> pairs, const RdbEntryProperties& target) {
  auto rank = [](const TimedPair& pair) { return static_cast<uint64_t>(pair.deadline_ms) - 1; };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  PackedElements rows;
  for (const TimedPair& pair : pairs) {
    rows.push_back(pair.field);
    rows.push_back(pair.value);
    rows.push_back({.text = {}, .integer = pair.deadline_ms, .is_integer = true});
  }
  if (HasEqualElements(rows, 3, target.hash_key)) return BadValueFault(kRepeatedField);
  return MakePackedEntry(target, ValueType::kHash, ValueForm::kTimedListpack, MakeListpack(rows));
}

PackedElements WithoutDeadlines(const std::vector<TimedPair>& pairs) {
  PackedElements elements;
  for (const TimedPair& pair : pairs) {
    elements.push_back(pair.field);
    elements.push_back(pair.value);
  }
  return elements;
}

// Which limits decide whether a hash becomes a table. kByCount: only hash-max-listpack-entries. kByCountAndSize: also
// hash-max-listpack-value.
enum class Judge : uint8_t { kByCount, kByCountAndSize };

RdbValueResult MakeTimedHash(std::vector<TimedPair> pairs, const RdbEntryProperties& target, Judge judge) {
  const PackedElements untimed = WithoutDeadlines(pairs);
  const bool is_timed = std::any_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.deadline_ms != 0; });
  const bool has_long =
      judge == Judge::kByCountAndSize && HasLongElement(untimed, target.limits.hash_max_listpack_value);
  if (!is_timed) return has_long ? MakeHashTable(untimed, target) : MakeHash(untimed, target);
  const bool is_large = has_long || pairs.size() > target.limits.hash_max_listpack_entries;
  auto entry = is_large ? MakeTimedTable(pairs, target) : MakeTimedListpack(std::move(pairs), target);
  if (entry) entry.value()->MarkFieldDeadlines();
  return entry;
}

RdbValueResult ReadTimed(RdbInput& input, const RdbEntryProperties& target) {
  const int64_t first_ms = input.Millis();
  const uint64_t count = input.Count(3);
  std::vector<RdbText> texts;
  std::vector<int64_t> deadlines;
  for (uint64_t i = 0; i < count && !input.Failed(); ++i) {
    const uint64_t ttl = input.Length();
    const int64_t deadline_ms = ttl == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(first_ms) + ttl - 1);
    if (!IsPossibleDeadline(deadline_ms)) return BadValueFault("a field has an impossible deadline");
    deadlines.push_back(deadline_ms);
    texts.push_back(input.Text());
    texts.push_back(input.Text());
  }
  if (input.Failed()) return BadValueFault("a hash is cut off");
  if (count == 0) return EmptyValueFault();
  const PackedElements elements = ElementsOf(texts);
  std::vector<TimedPair> pairs;
  for (size_t i = 0; i < count; ++i) pairs.push_back({elements[2 * i], elements[2 * i + 1], deadlines[i]});
  return MakeTimedHash(std::move(pairs), target, Judge::kByCountAndSize);
}

RdbValueResult ReadValkeyTimed(RdbInput& input, const RdbEntryProperties& target) {
  constexpr int64_t kNone = -1;
  const uint64_t count = input.Count(3);
  std::vector<RdbText> texts;
  std::vector<int64_t> deadlines;
  for (uint64_t i = 0; i < count && !input.Failed(); ++i) {
    texts.push_back(input.Text());
    texts.push_back(input.Text());
    const int64_t stored_ms = input.Millis();
    const int64_t deadline_ms = stored_ms == kNone ? 0 : stored_ms;
    if (!IsPossibleDeadline(deadline_ms)) return BadValueFault("a field has an impossible deadline");
    deadlines.push_back(deadline_ms);
  }
  if (input.Failed()) return BadValueFault("a hash is cut off");
  if (count == 0) return EmptyValueFault();
  const PackedElements elements = ElementsOf(texts);
  std::vector<TimedPair> pairs;
  for (size_t i = 0; i < count; ++i) pairs.push_back({elements[2 * i], elements[2 * i + 1], deadlines[i]});
  return MakeTimedHash(std::move(pairs), target, Judge::kByCountAndSize);
}

RdbValueResult ReadTimedListpack(RdbInput& input, const RdbEntryProperties& target) {
  input.Millis();  // the first deadline, which the listpack also contains
  const RdbText text = input.Text();
  const auto rows = ListpackElements(text.View());
  if (!rows || rows->size() % 3 != 0) return BadValueFault("Hash listpack integrity check failed.");
  if (rows->empty()) return EmptyValueFault();
  std::vector<TimedPair> pairs;
  for (size_t i = 0; i < rows->size(); i += 3) {
    const PackedElement& deadline = (*rows)[i + 2];
    if (!deadline.is_integer || !IsPossibleDeadline(deadline.integer))
      return BadValueFault("a field has an impossible deadline");
    pairs.push_back({(*rows)[i], (*rows)[i + 1], deadline.integer});
  }
  return MakeTimedHash(std::move(pairs), target, Judge::kByCount);
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

void WritePlainTable(RdbOutput& out, const HashTable& table) {
  out.Length(table.Size());
  table.ForEach([&](const HashField* field) {
    out.Text(field->Key());
    out.Text(field->Value());
  });
}

void WriteTimedTable(RdbOutput& out, const HashTable& table) {
  const int64_t first_ms = table.NextDeadline();
  out.Millis(first_ms);
  out.Length(table.Size());
  table.ForEach([&](const HashField* field) {
    const int64_t deadline_ms = table.DeadlineOf(*field);
    out.Length(deadline_ms == kNoDeadline ? 0 : static_cast<uint64_t>(deadline_ms - first_ms + 1));
    out.Text(field->Key());
    out.Text(field->Value());
  });
}

void WriteTimedListpack(RdbOutput& out, Bytes packed) {
  const Listpack listpack(packed);
  const PackedElement first = listpack.At(listpack.Seek(2));
  out.Millis(first.integer);
  out.Text(packed);
}

// Writes the hash in the form without deadlines, which more servers can read. Used if no field has a deadline any more.
void WriteUntimedListpack(RdbOutput& out, Bytes packed) {
  const auto rows = ListpackElements(packed);
  PackedElements pairs;
  for (size_t i = 0; i < rows->size(); ++i)
    if (i % 3 != 2) pairs.push_back((*rows)[i]);
  out.Text(MakeListpack(pairs));
}

}  // namespace

RdbValueResult ReadRdbHash(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  switch (type) {
    case rdb::Type::kHashZipmap:
      return ReadZipmap(input, target);
    case rdb::Type::kHashZiplist:
      return ReadHashZiplist(input, target);
    case rdb::Type::kHashListpack:
      return ReadHashListpack(input, target);
    case rdb::Type::kValkeyTimedHash:
      return ReadValkeyTimed(input, target);
    case rdb::Type::kTimedHash:
      return ReadTimed(input, target);
    case rdb::Type::kTimedHashListpack:
      return ReadTimedListpack(input, target);
    default:
      return ReadPlainHash(input, target);
  }
}

void WriteRdbHash(RdbOutput& out, const Entry& entry) {
  if (entry.Form() == ValueForm::kObject) {
    const auto& table = static_cast<const HashTable&>(*entry.ObjectValue());
    return entry.HasFieldDeadlines() ? WriteTimedTable(out, table) : WritePlainTable(out, table);
  }
  if (entry.HasFieldDeadlines()) return WriteTimedListpack(out, entry.Packed());
  if (entry.Form() == ValueForm::kTimedListpack) return WriteUntimedListpack(out, entry.Packed());
  out.Text(entry.Packed());
}

}  // namespace respite
