// Hash: the value of a key of type hash: fields with values and optional deadlines (HEXPIRE).
//
//   kListpack        field, value, field, value …                  OBJECT ENCODING says listpack
//   kTimedListpack   field, value, deadline, field, …              listpackex; sorted by deadline, 0 (none) last
//   kObject          HashTable (hash_table.h)                      hashtable
//
// A kListpack becomes a kTimedListpack with its first deadline, and never becomes a kListpack again. A packed hash
// becomes a table if it gets more fields than hash-max-listpack-entries, or a text longer than hash-max-listpack-value.
// A table never becomes a listpack.
//
// Readers see an expired field as absent. Edits require that RemoveExpired was called first. The hash keeps the
// database's index of hashes with deadlines on fields up to date.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "datatypes/hash_table.h"
#include "datatypes/listpack.h"
#include "datatypes/value_slot.h"

namespace respite {

class Hash : public Collection {  // gives access to the hash of one key
 public:
  static constexpr ValueType kType = ValueType::kHash;             // the type of an entry that holds a hash
  static constexpr ValueForm kInitialForm = ValueForm::kListpack;  // a new hash is a listpack
  static Bytes InitialPacked() { return Listpack::Empty(); }       // the bytes of an empty packed hash

  explicit Hash(const CollectionContext& place) : Collection(place) {}
  static Hash WithExpiredFields(const Entry& entry);  // for reading: expired fields count as present

  // Cost: O(1).
  bool IsEmpty() const;  // true: there are no fields, not even expired ones
  // Returns the number of fields that are not expired. Cost: O(1 + expired fields).
  size_t Size() const;

  // Returns the value of a field, or nullopt if there is no such field or the field is expired. The text is a view of
  // the hash.
  std::optional<ElementText> Get(Bytes field) const;
  bool Has(Bytes field) const { return Get(field).has_value(); }
  // Returns nullopt also for an expired field.
  std::optional<int64_t> DeadlineOf(Bytes field) const;  // Unix ms, or kNoDeadline for none; nullopt: no such field

  // ForEach calls visit(Bytes field, Bytes value). The texts are valid during the call. Cost: O(n).
  template <class Visit>
  void ForEach(Visit&& visit) const;  // calls visit(field, value) for each field that is not expired

  struct Place {                       // where one field is stored; valid until the next edit
    size_t offset = 0;                 // of a packed hash: offset in the listpack of the field's name
    const HashField* field = nullptr;  // of a table: the field; null: the hash is packed
  };
  struct Pair {
    ElementText field;  // the name of the field
    ElementText value;  // the value of the field
  };
  Pair At(const Place& place) const;
  // Cost: O(n).
  std::vector<Place> Places() const;  // where each field is stored; leaves out expired fields
  // Each field is equally likely. Cost: O(1) for a table without expired fields, otherwise O(n).
  Place PickRandom(Random& random) const;  // a random field that is not expired; requires: Size() > 0

  // Scans with a cursor need the table. Fields of the table may be expired: see IsAlive.
  const HashTable* Table() const;               // the table of a large hash; null: packed or no such key
  bool IsAlive(const HashField& field) const {  // true: the field is not expired
    return !IsDeadlineOver(Table()->DeadlineOf(field));
  }

  // Converts a packed hash to a table if the new fields and values alone exceed the limits of a packed hash. Also
  // converts if the listpack would exceed Listpack::kMaxBytes. So a large command does not convert the hash halfway. As
  // in Redis, all arguments count as new fields, even arguments that only replace existing fields.
  void PrepareToAdd(std::span<const Bytes> fields_and_values);  // makes a table if these texts are too long or too many
  enum class Outcome : uint8_t { kAdded, kReplaced };
  enum class OldDeadline : uint8_t { kDrop, kKeep };
  // Sets the value of a field. The field loses its deadline unless `old_deadline` is kKeep. Requires: the texts are not
  // views of this hash. Cost: O(1), O(n) when packed.
  Outcome Set(Bytes field, Bytes value, OldDeadline old_deadline = OldDeadline::kDrop);
  bool Remove(Bytes field);  // removes a field; false: there is no such field
  // Cost: O(n) for a kListpack, otherwise O(1).
  void PrepareForDeadlines();  // turns a kListpack into a kTimedListpack; no effect on other forms
  // Cost: O(log n), O(n) when packed.
  bool SetDeadline(Bytes field, int64_t deadline_ms);  // Unix ms, or kNoDeadline to remove; false: no such field

  // Cost: O(1).
  int64_t NextDeadline() const;    // the earliest deadline of any field in Unix ms; kNoDeadline: no field has one
  bool HasExpiredFields() const {  // true: at least one field has expired and is not removed yet
    return IsDeadlineOver(NextDeadline());
  }
  // Requires: Exists(). Cost: O(expired fields), O(n) when packed.
  size_t CountExpiredFields() const;                     // number of expired fields that are not removed yet
  bool AreAllFieldsExpired() const;                      // true: there are fields, and all are expired
  std::vector<std::string> RemoveExpired(size_t limit);  // removes at most `limit` expired fields; returns their names

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  bool IsDeadlineOver(int64_t deadline_ms) const {  // true: it is a deadline, and before the time of the command
    return respite::IsDeadlineOver(deadline_ms, now_ms_);
  }
  bool IsTable() const { return slot_.Form() == ValueForm::kObject; }  // true: the hash is a HashTable, false: packed
  bool IsTimed() const {  // true: a listpack that stores the deadlines of its fields
    return slot_.Form() == ValueForm::kTimedListpack;
  }
  HashTable& AsTable() const { return slot_.As<HashTable>(); }    // the table; requires: IsTable()
  Listpack AsListpack() const { return Listpack(slot_.View()); }  // the listpack; requires: packed
  size_t Stride() const { return IsTimed() ? 3 : 2; }             // number of listpack elements per field

  struct Row {            // a packed field: the offsets of its listpack elements and of the next field
    size_t field;         // offset of the listpack element with the field's name
    size_t value;         // offset of the listpack element with the value
    size_t next;          // offset of the next packed field
    int64_t deadline_ms;  // when the field expires (Unix ms), or kNoDeadline
  };
  Row PackedFieldAt(size_t at) const;  // the packed field whose name is at offset `at`
  // Returns the offset of a field's name in the listpack, also if the field is expired. Returns Listpack::kNowhere if
  // there is no such field.
  size_t Find(Bytes field) const { return AsListpack().Find(field, Listpack::kHeader, Stride()); }
  size_t CountExpiredInListpack() const;               // number of expired fields of a packed hash
  void InsertPackedField(const EncodedElement& field,  // inserts a field into a packed hash, sorted by deadline
                         const EncodedElement& value, int64_t deadline_ms);
  void SetPackedDeadline(size_t at, int64_t deadline_ms);  // sets a deadline, and moves the field to its new place
  Outcome SetInListpack(Bytes field, Bytes value, OldDeadline old_deadline);  // sets a field of a packed hash
  Outcome SetInTable(Bytes field, Bytes value, OldDeadline old_deadline);     // sets a field of a hash that is a table
  void ConvertToTable();                                                      // makes a packed hash a HashTable
  void ConvertToTimedListpack();  // gives each field of a packed hash room for a deadline
  void UpdateDeadlineIndex();     // updates the Database's index of hashes that have fields with deadlines
};

template <class Visit>
void Hash::ForEach(Visit&& visit) const {  // visits the fields that are not expired
  if (!Exists()) return;
  if (const HashTable* table = Table()) {
    const bool some_expired = HasExpiredFields();
    return table->ForEach([&](const HashField* field) {
      if (!some_expired || IsAlive(*field)) visit(field->Key(), field->Value());
    });
  }
  const Listpack listpack = AsListpack();
  for (size_t at = listpack.Begin(); at != listpack.End();) {
    const Row row = PackedFieldAt(at);
    if (!IsDeadlineOver(row.deadline_ms)) visit(listpack.TextAt(row.field).View(), listpack.TextAt(row.value).View());
    at = row.next;
  }
}

}  // namespace respite
