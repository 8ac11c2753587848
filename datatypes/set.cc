#include "datatypes/set.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace respite {

namespace {

// As in Redis, an intset has at most kIntsetMax members, even if the directive set-max-intset-entries allows more.
constexpr uint64_t kIntsetMax = uint64_t{1} << 30;

// An upper bound for the size in bytes of a listpack element that holds an integer.
constexpr size_t kLongestInteger = 11;

size_t DigitsOf(int64_t value) { return IntegerText(value).View().size(); }

// Returns the number that a member is, as an integer or as decimal text. Returns nullopt for any other text.
std::optional<int64_t> IntegerOf(const PackedElement& member) {
  return member.is_integer ? std::optional(member.integer) : ParseInteger(member.text);
}

}  // namespace

size_t Set::Size() const {
  if (!Exists()) return 0;
  if (const MemberTable* table = Table()) return table->Size();
  return slot_.Form() == ValueForm::kIntset ? AsIntset().Count() : AsListpack().Count();
}

const MemberTable* Set::Table() const {
  return Exists() && slot_.Form() == ValueForm::kObject ? &MutableTable() : nullptr;
}

void Set::PrefetchMembers(std::span<const Bytes> members) const {
  const MemberTable* table = Table();
  if (table == nullptr) return;
  std::array<uint64_t, kPrefetchAhead> hashes;
  const size_t count = std::min(members.size(), hashes.size());
  for (size_t i = 0; i < count; ++i) hashes[i] = table->Hash(members[i]);
  for (size_t i = 0; i < count; ++i) table->PrefetchBucket(hashes[i]);
  for (size_t i = 0; i < count; ++i) table->PrefetchItem(hashes[i]);
}

size_t Set::MaxIntegers() const { return std::min(limits_->set_max_intset_entries, kIntsetMax); }

bool Set::Contains(Bytes member) const {
  if (!Exists()) return false;
  if (const MemberTable* table = Table()) return table->Contains(member);
  if (slot_.Form() == ValueForm::kListpack)
    return AsListpack().Find(member, AsListpack().Begin()) != Listpack::kNowhere;
  const auto integer = ParseInteger(member);
  return integer && AsIntset().Contains(*integer);
}

bool Set::Contains(const PackedElement& member) const {
  if (!member.is_integer) return Contains(member.text);
  if (!Exists()) return false;
  if (slot_.Form() == ValueForm::kIntset) return AsIntset().Contains(member.integer);
  if (slot_.Form() == ValueForm::kListpack)
    return AsListpack().Find(EncodedElement(member.integer), AsListpack().Begin()) != Listpack::kNowhere;
  return Table()->Contains(IntegerText(member.integer));
}

// ---------------------------------------------------------------------------------------------------------------------
// Random members

PackedElement Set::PackedAt(size_t index) const {
  if (slot_.Form() == ValueForm::kListpack) return AsListpack().At(AsListpack().Seek(index));
  return {.text = {}, .integer = AsIntset().At(index), .is_integer = true};
}

std::vector<PackedElement> Set::All() const {
  std::vector<PackedElement> all;
  all.reserve(Size());
  ForEach([&](const PackedElement& member) { all.push_back(member); });
  return all;
}

std::vector<size_t> Set::ChooseIndexes(size_t count, size_t size, Random& random) {
  if (count == 1) return {random.Below(size)};
  std::vector<size_t> chosen;
  chosen.reserve(count);
  for (size_t i = 0; chosen.size() < count; ++i)
    if (random.Below(size - i) < count - chosen.size()) chosen.push_back(i);
  return chosen;
}

void Set::RemoveAtIndexes(const std::vector<size_t>& indexes) {
  const ValueForm form = slot_.Form();
  if (indexes.size() == 1) {
    if (form == ValueForm::kIntset) return RemoveFromIntsetAt(slot_, indexes[0]);
    return RemoveElements(slot_, AsListpack().Seek(indexes[0]), 1);
  }
  StringStore kept(form == ValueForm::kIntset ? Intset::Empty() : Listpack::Empty());
  size_t index = 0;
  auto next = indexes.begin();
  ForEach([&](const PackedElement& member) {
    if (next != indexes.end() && *next == index++) {
      ++next;
    } else if (form == ValueForm::kIntset) {
      AddToIntset(kept, member.integer);
    } else {
      AppendElement(kept, member.is_integer ? EncodedElement(member.integer) : EncodedElement(member.text));
    }
  });
  slot_.ConvertTo(form, kept.View());
}

std::vector<Member> Set::TakeRandomMembers(size_t count, Random& random) {
  std::vector<Member> kept = MutableTable().Sample(count, random);
  for (const Member& member : kept) MutableTable().Take(member.Text());
  return kept;
}

void Set::ReplaceBy(const std::vector<Member>& members) {
  const bool packs = members.size() <= limits_->set_max_listpack_entries &&
                     std::all_of(members.begin(), members.end(), [&](const Member& member) {
                       return member.Text().size() <= limits_->set_max_listpack_value;
                     });
  if (!packs) {
    auto table = std::make_unique<MemberTable>(slot_.database().hash_key());
    for (const Member& member : members) table->Adopt(member);
    return slot_.ConvertTo(std::move(table));
  }
  StringStore packed(Listpack::Empty());
  for (const Member& member : members) {
    AppendElement(packed, EncodedElement(member.Text()));
    Member::Destroy(member);
  }
  slot_.ConvertTo(ValueForm::kListpack, packed.View());
}

// ---------------------------------------------------------------------------------------------------------------------
// Forms

void Set::PrepareToAdd(Bytes first, size_t count) {
  const ValueForm form = slot_.Form();
  if (form == ValueForm::kObject) return;
  if (!IsEmpty()) {
    const uint64_t most =
        form == ValueForm::kIntset ? limits_->set_max_intset_entries : limits_->set_max_listpack_entries;
    if (count > most) ConvertToTable();
    return;
  }
  if (count <= limits_->set_max_intset_entries && ParseInteger(first)) return SetFormWhileEmpty(ValueForm::kIntset);
  if (count <= limits_->set_max_listpack_entries) return SetFormWhileEmpty(ValueForm::kListpack);
  ConvertToTable();
}

void Set::SetFormWhileEmpty(ValueForm form) {
  if (slot_.Form() == form) return;
  slot_.ConvertTo(form, form == ValueForm::kIntset ? Intset::Empty() : Listpack::Empty());
}

void Set::ConvertToTable() {
  auto table = std::make_unique<MemberTable>(slot_.database().hash_key());
  ForEach([&](const PackedElement& member) { table->Adopt(Member::Create(ElementText(member).View())); });
  slot_.ConvertTo(std::move(table));
}

bool Set::TryConvertToListpack(Bytes text) {
  const Intset intset = AsIntset();
  const size_t count = intset.Count();
  size_t longest = text.size();
  if (count > 0) longest = std::max({longest, DigitsOf(intset.At(0)), DigitsOf(intset.At(count - 1))});
  if (count >= limits_->set_max_listpack_entries || longest > limits_->set_max_listpack_value) return false;
  if (count * kLongestInteger + text.size() > Listpack::kMaxBytes) return false;
  StringStore packed(Listpack::Empty());
  for (size_t i = 0; i < count; ++i) AppendElement(packed, EncodedElement(intset.At(i)));
  slot_.ConvertTo(ValueForm::kListpack, packed.View());
  return true;
}

void Set::TryConvertToIntset() {
  if (slot_.Form() == ValueForm::kIntset || Size() > MaxIntegers()) return;
  std::vector<int64_t> integers;
  integers.reserve(Size());
  ForEach([&](const PackedElement& member) { integers.push_back(IntegerOf(member).value_or(0)); });
  std::sort(integers.begin(), integers.end());
  StringStore packed(Intset::Empty());
  for (int64_t integer : integers) AddToIntset(packed, integer);
  slot_.ConvertTo(ValueForm::kIntset, packed.View());
}

// ---------------------------------------------------------------------------------------------------------------------
// Edits

bool Set::Add(Bytes member) {
  if (slot_.Form() == ValueForm::kObject) return MutableTable().Add(member);
  if (slot_.Form() == ValueForm::kIntset) {
    if (const auto integer = ParseInteger(member)) return AddInteger(*integer);
    if (!TryConvertToListpack(member)) {
      ConvertToTable();
      return MutableTable().Add(member);
    }
  }
  return AddToListpack(EncodedElement(member), member);
}

bool Set::Add(const PackedElement& member) {
  if (!member.is_integer) return Add(member.text);
  if (slot_.Form() == ValueForm::kIntset) return AddInteger(member.integer);
  const IntegerText text(member.integer);
  if (slot_.Form() == ValueForm::kObject) return MutableTable().Add(text);
  return AddToListpack(EncodedElement(member.integer), text);
}

bool Set::AddInteger(int64_t value) {
  if (!AddToIntset(slot_, value)) return false;
  if (AsIntset().Count() > MaxIntegers()) ConvertToTable();
  return true;
}

bool Set::AddToListpack(const EncodedElement& element, Bytes text) {
  const Listpack listpack = AsListpack();
  if (listpack.Find(element, listpack.Begin()) != Listpack::kNowhere) return false;
  const bool fits = listpack.Count() < limits_->set_max_listpack_entries &&
                    text.size() <= limits_->set_max_listpack_value && slot_.Size() + text.size() <= Listpack::kMaxBytes;
  if (fits) {
    AppendElement(slot_, element);
  } else {
    ConvertToTable();
    MutableTable().Adopt(Member::Create(text));
  }
  return true;
}

bool Set::Remove(Bytes member) {
  if (slot_.Form() == ValueForm::kObject) return MutableTable().Remove(member);
  if (slot_.Form() == ValueForm::kListpack) return RemoveFromListpack(EncodedElement(member));
  const auto integer = ParseInteger(member);
  return integer && RemoveFromIntset(slot_, *integer);
}

bool Set::Remove(const PackedElement& member) {
  if (!member.is_integer) return Remove(member.text);
  if (slot_.Form() == ValueForm::kObject) return MutableTable().Remove(IntegerText(member.integer));
  if (slot_.Form() == ValueForm::kListpack) return RemoveFromListpack(EncodedElement(member.integer));
  return RemoveFromIntset(slot_, member.integer);
}

bool Set::RemoveFromListpack(const EncodedElement& element) {
  const size_t at = AsListpack().Find(element, AsListpack().Begin());
  if (at == Listpack::kNowhere) return false;
  RemoveElements(slot_, at, 1);
  return true;
}

bool Set::IsConsistent() const {
  if (!Exists()) return true;
  if (const MemberTable* table = Table()) return table->IsConsistent();
  if (slot_.Form() == ValueForm::kIntset)
    return Intset::IsWellFormed(slot_.View()) && AsIntset().Count() <= MaxIntegers();
  return Listpack::IsWellFormed(slot_.View());
}

}  // namespace respite
