#include "datatypes/hash.h"

#include <limits>

namespace respite {

namespace {

constexpr EncodingLimits kDefaultLimits;

// kPackedNone is the number that a listpack stores as the deadline of a field without a deadline.
constexpr int64_t kPackedNone = 0;
int64_t Packed(int64_t deadline_ms) { return deadline_ms == kNoDeadline ? kPackedNone : deadline_ms; }

ElementText TextOf(Bytes text) { return ElementText(PackedElement{.text = text}); }

}  // namespace

Hash Hash::WithExpiredFields(const Entry& entry) {
  return Hash({ValueSlot(&entry), kDefaultLimits, std::numeric_limits<int64_t>::min()});
}

const HashTable* Hash::Table() const { return Exists() && IsTable() ? &AsTable() : nullptr; }

Hash::Row Hash::PackedFieldAt(size_t at) const {
  const Listpack listpack = AsListpack();
  Row row{.field = at, .value = listpack.Next(at), .next = 0, .deadline_ms = kNoDeadline};
  row.next = listpack.Next(row.value);
  if (!IsTimed()) return row;
  const int64_t packed = listpack.At(row.next).integer;
  if (packed != kPackedNone) row.deadline_ms = packed;
  row.next = listpack.Next(row.next);
  return row;
}

bool Hash::IsEmpty() const {
  if (!Exists()) return true;
  return IsTable() ? AsTable().Size() == 0 : AsListpack().IsEmpty();
}

size_t Hash::Size() const {
  if (!Exists()) return 0;
  const size_t all = IsTable() ? AsTable().Size() : AsListpack().Count() / Stride();
  return all - CountExpiredFields();
}

size_t Hash::CountExpiredFields() const {
  return IsTable() ? AsTable().CountExpiredFields(now_ms_) : CountExpiredInListpack();
}

size_t Hash::CountExpiredInListpack() const {
  size_t count = 0;
  if (!IsTimed()) return count;
  const Listpack listpack = AsListpack();
  for (size_t at = listpack.Begin(); at != listpack.End(); ++count) {
    const Row row = PackedFieldAt(at);
    if (!IsDeadlineOver(row.deadline_ms)) break;
    at = row.next;
  }
  return count;
}

std::optional<ElementText> Hash::Get(Bytes field) const {
  if (!Exists()) return std::nullopt;
  if (IsTable()) {
    const HashField* found = AsTable().Find(field);
    if (found == nullptr || (found->IsTimed() && !IsAlive(*found))) return std::nullopt;
    return TextOf(found->Value());
  }
  const size_t at = Find(field);
  if (at == Listpack::kNowhere) return std::nullopt;
  if (!IsTimed()) return AsListpack().TextAt(AsListpack().Next(at));
  const Row row = PackedFieldAt(at);
  if (IsDeadlineOver(row.deadline_ms)) return std::nullopt;
  return AsListpack().TextAt(row.value);
}

std::optional<int64_t> Hash::DeadlineOf(Bytes field) const {
  if (!Exists()) return std::nullopt;
  int64_t deadline_ms = kNoDeadline;
  if (IsTable()) {
    const HashField* found = AsTable().Find(field);
    if (found == nullptr) return std::nullopt;
    deadline_ms = AsTable().DeadlineOf(*found);
  } else {
    const size_t at = Find(field);
    if (at == Listpack::kNowhere) return std::nullopt;
    deadline_ms = PackedFieldAt(at).deadline_ms;
  }
  if (IsDeadlineOver(deadline_ms)) return std::nullopt;
  return deadline_ms;
}

Hash::Pair Hash::At(const Place& place) const {
  if (place.field != nullptr) return {TextOf(place.field->Key()), TextOf(place.field->Value())};
  const Row row = PackedFieldAt(place.offset);
  return {AsListpack().TextAt(row.field), AsListpack().TextAt(row.value)};
}

std::vector<Hash::Place> Hash::Places() const {
  std::vector<Place> places;
  if (!Exists()) return places;
  places.reserve(Size());
  if (const HashTable* table = Table()) {
    table->ForEach([&](const HashField* field) {
      if (IsAlive(*field)) places.push_back({.field = field});
    });
    return places;
  }
  for (size_t at = Listpack::kHeader; at != AsListpack().End();) {
    const Row row = PackedFieldAt(at);
    if (!IsDeadlineOver(row.deadline_ms)) places.push_back({.offset = at});
    at = row.next;
  }
  return places;
}

Hash::Place Hash::PickRandom(Random& random) const {
  if (HasExpiredFields()) {
    const std::vector<Place> places = Places();
    return places[random.Below(places.size())];
  }
  if (IsTable()) return {.field = AsTable().PickRandom(random)};
  const size_t index = random.Below(AsListpack().Count() / Stride());
  return {.offset = AsListpack().Seek(index * Stride())};
}

// ---------------------------------------------------------------------------------------------------------------------
// Edits

void Hash::PrepareToAdd(std::span<const Bytes> fields_and_values) {
  if (IsTable()) return;
  if (fields_and_values.size() / 2 > limits_->hash_max_listpack_entries) return ConvertToTable();
  size_t total = slot_.Size();
  for (Bytes text : fields_and_values) {
    if (text.size() > limits_->hash_max_listpack_value) return ConvertToTable();
    total += text.size();
  }
  if (total > Listpack::kMaxBytes) ConvertToTable();
}

Hash::Outcome Hash::Set(Bytes field, Bytes value, OldDeadline old_deadline) {
  if (!IsTable()) {
    const size_t longest = limits_->hash_max_listpack_value;
    if (field.size() <= longest && value.size() <= longest) return SetInListpack(field, value, old_deadline);
    ConvertToTable();
  }
  return SetInTable(field, value, old_deadline);
}

Hash::Outcome Hash::SetInTable(Bytes field, Bytes value, OldDeadline old_deadline) {
  HashTable& table = AsTable();
  const auto outcome = table.Set(field, value);
  if (outcome == HashTable::Outcome::kAdded) return Outcome::kAdded;
  if (old_deadline == OldDeadline::kDrop && table.TimedCount() != 0) {
    table.SetDeadline(field, kNoDeadline);
    UpdateDeadlineIndex();
  }
  return Outcome::kReplaced;
}

Hash::Outcome Hash::SetInListpack(Bytes field, Bytes value, OldDeadline old_deadline) {
  const EncodedElement new_field(field);
  const EncodedElement new_value(value);
  const size_t at = AsListpack().Find(new_field, Listpack::kHeader, Stride());
  if (at != Listpack::kNowhere) {
    const Row row = PackedFieldAt(at);
    ReplaceElement(slot_, row.value, new_value);
    if (old_deadline == OldDeadline::kDrop && row.deadline_ms != kNoDeadline) SetPackedDeadline(at, kNoDeadline);
    return Outcome::kReplaced;
  }
  InsertPackedField(new_field, new_value, kNoDeadline);
  if (AsListpack().Count() / Stride() > limits_->hash_max_listpack_entries) ConvertToTable();
  return Outcome::kAdded;
}

void Hash::InsertPackedField(const EncodedElement& field, const EncodedElement& value, int64_t deadline_ms) {
  size_t at = AsListpack().End();
  if (!IsTimed()) {
    const EncodedElement row[] = {field, value};
    return InsertElements(slot_, at, row);
  }
  if (deadline_ms != kNoDeadline) {
    for (at = Listpack::kHeader; at != AsListpack().End();) {
      const Row row = PackedFieldAt(at);
      if (row.deadline_ms == kNoDeadline || row.deadline_ms > deadline_ms) break;
      at = row.next;
    }
  }
  const EncodedElement row[] = {field, value, EncodedElement(Packed(deadline_ms))};
  InsertElements(slot_, at, row);
}

void Hash::SetPackedDeadline(size_t at, int64_t deadline_ms) {
  const Row row = PackedFieldAt(at);
  const std::string field(AsListpack().TextAt(row.field).View());
  const std::string value(AsListpack().TextAt(row.value).View());
  RemoveElements(slot_, at, Stride());
  InsertPackedField(EncodedElement(field), EncodedElement(value), deadline_ms);
  UpdateDeadlineIndex();
}

bool Hash::Remove(Bytes field) {
  if (IsTable()) {
    const bool was_timed = AsTable().TimedCount() != 0;
    if (!AsTable().Remove(field)) return false;
    if (was_timed) UpdateDeadlineIndex();
    return true;
  }
  const size_t at = Find(field);
  if (at == Listpack::kNowhere) return false;
  RemoveElements(slot_, at, Stride());
  if (IsTimed()) UpdateDeadlineIndex();
  return true;
}

bool Hash::SetDeadline(Bytes field, int64_t deadline_ms) {
  if (IsTable()) {
    if (!AsTable().SetDeadline(field, deadline_ms)) return false;
    UpdateDeadlineIndex();
    return true;
  }
  size_t at = Find(field);
  if (at == Listpack::kNowhere) return false;
  if (PackedFieldAt(at).deadline_ms == deadline_ms) return true;
  if (!IsTimed()) {
    ConvertToTimedListpack();
    at = Find(field);
  }
  SetPackedDeadline(at, deadline_ms);
  return true;
}

void Hash::PrepareForDeadlines() {
  if (Exists() && slot_.Form() == ValueForm::kListpack) ConvertToTimedListpack();
}

int64_t Hash::NextDeadline() const {
  if (!Exists()) return kNoDeadline;
  if (IsTable()) return AsTable().NextDeadline();
  return IsTimed() && !AsListpack().IsEmpty() ? PackedFieldAt(Listpack::kHeader).deadline_ms : kNoDeadline;
}

bool Hash::AreAllFieldsExpired() const {
  if (!HasExpiredFields()) return false;
  return IsTable() ? AsTable().AreAllFieldsExpired(now_ms_) : Size() == 0;
}

std::vector<std::string> Hash::RemoveExpired(size_t limit) {
  std::vector<std::string> names;
  if (!HasExpiredFields()) return names;
  if (IsTable()) {
    for (const HashField* field; names.size() < limit && (field = AsTable().FirstExpired(now_ms_)) != nullptr;) {
      names.emplace_back(field->Key());
      AsTable().Remove(names.back());
    }
  } else {
    size_t at = Listpack::kHeader;
    while (names.size() < limit && at != AsListpack().End() && IsDeadlineOver(PackedFieldAt(at).deadline_ms)) {
      names.emplace_back(AsListpack().TextAt(at).View());
      at = PackedFieldAt(at).next;
    }
    RemoveElements(slot_, Listpack::kHeader, names.size() * Stride());
  }
  UpdateDeadlineIndex();
  return names;
}

void Hash::UpdateDeadlineIndex() {
  const bool some = NextDeadline() != kNoDeadline;
  slot_.database().IndexFieldDeadlines(slot_.entry(),
                                       some ? Database::FieldDeadlines::kSome : Database::FieldDeadlines::kNone);
}

// ---------------------------------------------------------------------------------------------------------------------
// Changes of form

void Hash::ConvertToTable() {
  auto table = std::make_unique<HashTable>(slot_.database().hash_key());
  const Listpack listpack = AsListpack();
  for (size_t at = listpack.Begin(); at != listpack.End();) {
    const Row row = PackedFieldAt(at);
    const ElementText field = listpack.TextAt(row.field);
    table->Set(field.View(), listpack.TextAt(row.value).View());
    if (row.deadline_ms != kNoDeadline) table->SetDeadline(field.View(), row.deadline_ms);
    at = row.next;
  }
  slot_.ConvertTo(std::move(table));
}

void Hash::ConvertToTimedListpack() {
  StringStore timed(Listpack::Empty());
  const Listpack listpack = AsListpack();
  for (size_t at = listpack.Begin(); at != listpack.End();) {
    const Row row = PackedFieldAt(at);
    const ElementText field = listpack.TextAt(row.field);
    const ElementText value = listpack.TextAt(row.value);
    const EncodedElement elements[] = {EncodedElement(field.View()), EncodedElement(value.View()),
                                       EncodedElement(kPackedNone)};
    InsertElements(timed, Listpack(timed.View()).End(), elements);
    at = row.next;
  }
  slot_.ConvertTo(ValueForm::kTimedListpack, timed.View());
}

bool Hash::IsConsistent() const {
  if (!Exists()) return true;
  if (slot_.entry()->HasFieldDeadlines() != (NextDeadline() != kNoDeadline)) return false;
  if (IsTable()) return AsTable().IsConsistent();
  if (!Listpack::IsWellFormed(slot_.View()) || AsListpack().Count() % Stride() != 0) return false;
  int64_t last = std::numeric_limits<int64_t>::min();
  for (size_t at = Listpack::kHeader; at != AsListpack().End();) {
    const Row row = PackedFieldAt(at);
    const int64_t here = row.deadline_ms == kNoDeadline ? std::numeric_limits<int64_t>::max() : row.deadline_ms;
    if (here < last) return false;
    last = here;
    at = row.next;
  }
  return true;
}

}  // namespace respite
