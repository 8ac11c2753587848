// Hashes in RDB texts.
#include "datatypes/hash_table.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr char kRepeated[] = "a hash has a field twice";
constexpr char kEmpty[] = "a hash is empty";

Result<EntryPtr> MakeTable(const PackedElements& pairs, const RdbTarget& target) {
  auto table = std::make_unique<HashTable>(target.hash_seed);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const PackedText field(pairs[i]);
    const PackedText value(pairs[i + 1]);
    if (table->Set(field.View(), value.View()) != HashTable::Outcome::kAdded) return BadValue(kRepeated);
  }
  return ObjectEntry(target, ValueType::kHash, std::move(table));
}

Result<EntryPtr> MakeHash(const PackedElements& pairs, const RdbTarget& target) {
  if (pairs.empty()) return BadValue(kEmpty);
  if (pairs.size() % 2 != 0) return BadValue("a hash has a field without a value");
  if (pairs.size() / 2 > target.limits.hash_max_listpack_entries) return MakeTable(pairs, target);
  if (HasEqualElements(pairs, 2)) return BadValue(kRepeated);
  return PackedEntry(target, ValueType::kHash, ValueForm::kListpack, MakeListpack(pairs));
}

Result<EntryPtr> MakeHashBySize(const PackedElements& pairs, const RdbTarget& target) {
  if (HasLongElement(pairs, target.limits.hash_max_listpack_value)) return MakeTable(pairs, target);
  return MakeHash(pairs, target);
}

Result<EntryPtr> ReadLarge(RdbInput& input, uint64_t count, const RdbTarget& target) {
  auto table = std::make_unique<HashTable>(target.hash_seed);
  for (; count > 0 && !input.Failed(); --count) {
    const RdbText field = input.Text();
    const RdbText value = input.Text();
    if (table->Set(field.View(), value.View()) != HashTable::Outcome::kAdded) return BadValue(kRepeated);
  }
  return ObjectEntry(target, ValueType::kHash, std::move(table));
}

Result<EntryPtr> ReadPlain(RdbInput& input, const RdbTarget& target) {
  const uint64_t count = input.Count(2);
  if (count == 0) return BadValue(kEmpty);
  if (count > target.limits.hash_max_listpack_entries) return ReadLarge(input, count, target);
  const std::vector<RdbText> texts = ReadTexts(input, count * 2);
  if (input.Failed()) return BadValue(kEmpty);
  return MakeHashBySize(ElementsOf(texts), target);
}

Result<EntryPtr> ReadListpack(RdbInput& input, const RdbTarget& target) {
  const RdbText text = input.Text();
  const auto pairs = ListpackElements(text.View());
  return pairs ? MakeHash(*pairs, target) : BadValue("a listpack is malformed");
}

Result<EntryPtr> ReadZiplist(RdbInput& input, const RdbTarget& target) {
  const RdbText text = input.Text();
  const auto pairs = ZiplistElements(text.View());
  return pairs ? MakeHash(*pairs, target) : BadValue("a ziplist is malformed");
}

Result<EntryPtr> ReadZipmap(RdbInput& input, const RdbTarget& target) {
  const RdbText text = input.Text();
  const auto pairs = ZipmapElements(text.View());
  if (!pairs || pairs->empty()) return BadValue("a zipmap is malformed or empty");
  return MakeHashBySize(*pairs, target);
}

}  // namespace

}  // namespace respite
