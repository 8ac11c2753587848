// Reads and writes sets in RDB form.
#include <algorithm>
#include <memory>

#include "datatypes/member_table.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr char kRepeatedSetMember[] = "Duplicate set members detected";

// Returns the integers that the members stand for, or nullopt if a member is not an integer.
std::optional<std::vector<int64_t>> IntegersOf(const PackedElements& members) {
  std::vector<int64_t> integers;
  for (const PackedElement& member : members) {
    const auto integer = ParseInteger(member.text);
    if (!integer) return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

RdbValueResult MakeSetTable(const PackedElements& members, const RdbEntryProperties& target) {
  auto table = std::make_unique<MemberTable>(target.hash_key);
  for (const PackedElement& member : members)
    if (!table->Add(ElementText(member).View())) return BadValueFault(kRepeatedSetMember);
  return MakeObjectEntry(target, ValueType::kSet, std::move(table));
}

RdbValueResult ReadLargeSet(RdbInput& input, uint64_t count, const RdbEntryProperties& target) {
  auto table = std::make_unique<MemberTable>(target.hash_key);
  for (; count > 0 && !input.Failed(); --count) {
    if (!table->Add(input.Text().View())) return BadValueFault(kRepeatedSetMember);
    input.FreeTexts();
  }
  return MakeObjectEntry(target, ValueType::kSet, std::move(table));
}

RdbValueResult MakeListpackSet(const PackedElements& members, const RdbEntryProperties& target) {
  if (members.empty()) return EmptyValueFault();
  if (members.size() > target.limits.set_max_listpack_entries) return MakeSetTable(members, target);
  if (HasEqualElements(members, 1, target.hash_key)) return BadValueFault(kRepeatedSetMember);
  return MakePackedEntry(target, ValueType::kSet, ValueForm::kListpack, MakeListpack(members));
}

RdbValueResult MakeIntegerSet(std::vector<int64_t> integers, const RdbEntryProperties& target) {
  std::sort(integers.begin(), integers.end());
  if (std::adjacent_find(integers.begin(), integers.end()) != integers.end()) return BadValueFault(kRepeatedSetMember);
  return MakePackedEntry(target, ValueType::kSet, ValueForm::kIntset, MakeIntset(integers));
}

// As in Redis, a set of more than set-max-intset-entries members becomes a table, even if set-max-listpack-entries
// would allow a listpack.
RdbValueResult ReadPlainSet(RdbInput& input, const RdbEntryProperties& target) {
  const uint64_t count = input.Count(1);
  if (count == 0) return EmptyValueFault();
  if (count > target.limits.set_max_intset_entries) return ReadLargeSet(input, count, target);
  const std::vector<RdbText> texts = ReadTexts(input, count);
  const PackedElements members = ElementsOf(texts);
  if (auto integers = IntegersOf(members)) return MakeIntegerSet(std::move(*integers), target);
  if (HasLongElement(members, target.limits.set_max_listpack_value)) return MakeSetTable(members, target);
  return MakeListpackSet(members, target);
}

RdbValueResult ReadIntset(RdbInput& input, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  const auto members = IntsetElements(text.View());
  if (!members || members->empty()) return BadValueFault("Intset integrity check failed.");
  if (members->size() > target.limits.set_max_intset_entries) return MakeSetTable(*members, target);
  return MakePackedEntry(target, ValueType::kSet, ValueForm::kIntset, text.View());
}

RdbValueResult ReadSetListpack(RdbInput& input, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  if (MayStoreUnchanged(CanonicalListpack(text.View()), 1, target.limits.set_max_listpack_entries, target))
    return MakePackedEntry(target, ValueType::kSet, ValueForm::kListpack, text.View());
  const auto members = ListpackElements(text.View());
  if (!members) return BadValueFault("Set listpack integrity check failed.");
  return MakeListpackSet(*members, target);
}

// Writes the members one by one, because Redis 7.0 does not know listpacks of sets.
void WritePlain(RdbOutput& out, Bytes listpack) {
  const auto members = ListpackElements(listpack);
  out.Length(members->size());
  for (const PackedElement& member : *members) out.Text(ElementText(member).View());
}

}  // namespace

RdbValueResult ReadRdbSet(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  if (type == rdb::Type::kSetIntset) return ReadIntset(input, target);
  if (type == rdb::Type::kSetListpack) return ReadSetListpack(input, target);
  return ReadPlainSet(input, target);
}

void WriteRdbSet(RdbOutput& out, const Entry& entry) {
  if (entry.Form() == ValueForm::kListpack && out.dialect() == RdbDialect::k70) return WritePlain(out, entry.Packed());
  if (entry.Form() != ValueForm::kObject) return out.Text(entry.Packed());
  const auto& table = static_cast<const MemberTable&>(*entry.ObjectValue());
  out.Length(table.Size());
  table.ForEach([&](const Member& member) { out.Text(member.Text()); });
}

}  // namespace respite
