// Hash: fields with values and optional deadlines.
//
//   kListpack        field, value, field, value …                  OBJECT ENCODING says listpack
//   kTimedListpack   field, value, deadline, field, …              listpackex; sorted by deadline, 0 (none) last
//   kObject          HashTable (hash_table.h)                      hashtable
//
// A hash becomes timed with its first deadline and stays timed. It becomes a table if it has more fields than
// hash-max-listpack-entries or a text longer than hash-max-listpack-value; it never converts back.
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

class Hash : public Collection {
 public:
  static constexpr ValueType kType = ValueType::kHash;             // the type of an entry that holds a hash
  static constexpr ValueForm kInitialForm = ValueForm::kListpack;  // a new hash is a listpack
  static Bytes InitialPacked() { return Listpack::Empty(); }       // the bytes of an empty packed hash

  explicit Hash(const CollectionContext& place) : Collection(place) {}
  static Hash WithExpiredFields(const Entry& entry);  // for reading, as if no field were expired

  // Returns true if there are no fields, not even expired ones. Cost: O(1).
  bool IsEmpty() const;  // true: there are no fields, not even expired ones
  // Returns the number of fields that are not expired. Cost: O(1 + expired fields).
  size_t Size() const;

  // Returns the value of a field, or nullopt if there is no such field or it is expired. The text is a view of the
  // hash.
  std::optional<PackedText> Get(Bytes field) const;
  bool Has(Bytes field) const { return Get(field).has_value(); }
  // Returns the deadline of a field, kNoDeadline if the field has none, or nullopt if there is no such field.
  std::optional<int64_t> DeadlineOf(Bytes field) const;  // Unix ms or kNoDeadline; nullopt: no such field

  // Calls visit(Bytes field, Bytes value) for each field that is not expired. The texts are valid during the call.
  // Cost: O(n).
  template <class Visit>
  void ForEach(Visit&& visit) const;  // calls visit(field, value) for each field that is not expired

  struct Place {                       // the place of one field, valid until the next edit
    size_t offset = 0;                 // of a packed hash: offset of the field in the listpack
    const HashField* field = nullptr;  // of a table: the field; else null
  };
  struct Pair {
    PackedText field;  // the name of the field
    PackedText value;  // the value of the field
  };
  Pair At(const Place& place) const;
  // Returns the places of all fields that are not expired. Cost: O(n).
  std::vector<Place> Places() const;  // the places of all fields that are not expired
  // Returns a random field that is not expired, uniformly chosen. Requires: Size() > 0. Cost: O(1) for tables without
  // expired fields.
  Place PickRandom(Random& random) const;  // a random field that is not expired; requires: Size() > 0

  // Returns the table, for scans with a cursor. Returns null if the hash is packed, or if there is no hash. Fields of
  // the table may be expired: see IsAlive.
  const HashTable* Table() const;               // the table of a large hash; null: packed or no such key
  bool IsAlive(const HashField& field) const {  // true: the field is not expired
    return !IsDeadlineOver(Table()->DeadlineOf(field));
  }

  // Converts a packed hash to a table if the new fields and values alone exceed the limits of a packed hash. So a large
  // command does not convert the hash halfway. As in Redis, counts all arguments, even those that only replace existing
  // fields, but not the other fields that the hash already has.
  void PrepareToAdd(std::span<const Bytes> fields_and_values);  // converts to a table if texts are too long or many
  enum class Outcome : uint8_t { kAdded, kReplaced };
  enum class OldDeadline : uint8_t { kDrop, kKeep };
  // Sets a field. Requires: the texts are not views of this hash. Cost: O(1), O(n) when packed.
  Outcome Set(Bytes field, Bytes value, OldDeadline old_deadline = OldDeadline::kDrop);
  // Removes a field. Returns false if there is no such field.
  bool Remove(Bytes field);  // removes a field; false: there is no such field
  // Sets or replaces the deadline of a field; kNoDeadline removes it. Returns false if there is no such field. Cost:
  // O(log n), O(n) when packed.
  bool SetDeadline(Bytes field, int64_t deadline_ms);  // Unix ms, or kNoDeadline; false: there is no such field

  // Returns the earliest deadline of all fields, or kNoDeadline if no field has one. Cost: O(1).
  int64_t NextDeadline() const;    // the earliest deadline of any field in Unix ms, or kNoDeadline
  bool HasExpiredFields() const {  // true: at least one field has expired and is not removed yet
    return IsDeadlineOver(NextDeadline());
  }
  // Returns the number of expired fields. Requires: Exists(). Cost: O(expired fields), O(n) when packed.
  size_t CountExpiredFields() const;  // number of expired fields that are not removed yet
  // Returns true if there are fields and all of them are expired.
  bool AreAllFieldsExpired() const;                      // true: there are fields, and all are expired
  std::vector<std::string> RemoveExpired(size_t limit);  // removes at most `limit` expired fields; returns their names

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  bool IsDeadlineOver(int64_t deadline_ms) const {  // true: the deadline is before the time of the command
    return respite::IsDeadlineOver(deadline_ms, now_ms_);
  }
  bool IsTable() const { return slot_.Form() == ValueForm::kObject; }  // true: the hash is a HashTable, false: packed
  bool IsTimed() const {  // true: a listpack that stores the deadlines of its fields
    return slot_.Form() == ValueForm::kTimedListpack;
  }
  HashTable& AsTable() const { return slot_.As<HashTable>(); }    // the table; requires: IsTable()
  Listpack AsListpack() const { return Listpack(slot_.View()); }  // the listpack; requires: packed
  size_t Stride() const { return IsTimed() ? 3 : 2; }             // number of listpack elements per field

  struct Row {            // a packed field: the offsets of its elements and of the next field
    size_t field;         // offset of the listpack element with the field's name
    size_t value;         // offset of the listpack element with the value
    size_t next;          // offset of the next packed field
    int64_t deadline_ms;  // Unix ms or kNoDeadline
  };
  Row PackedFieldAt(size_t at) const;  // the packed field that begins at offset `at`
  // Returns the offset of a field in the listpack, expired or not. Returns Listpack::kNowhere if there is no such
  // field.
  size_t Find(Bytes field) const { return AsListpack().Find(field, Listpack::kHeader, Stride()); }
  size_t CountExpiredInListpack() const;  // number of expired fields of a packed hash
  // Inserts a field into a packed hash, at the position that its deadline determines.
  void InsertPackedField(const EncodedElement& field,  // inserts a field at the place that its deadline gives
                         const EncodedElement& value, int64_t deadline_ms);
  void SetPackedDeadline(size_t at, int64_t deadline_ms);  // sets a deadline, and moves the field to its sorted place
  Outcome SetInListpack(Bytes field, Bytes value, OldDeadline old_deadline);  // sets a field of a packed hash
  Outcome SetInTable(Bytes field, Bytes value, OldDeadline old_deadline);     // sets a field of a hash that is a table
  void ConvertToTable();                                                      // makes a packed hash a HashTable
  void ConvertToTimedListpack();  // gives each field of a packed hash room for a deadline
  void UpdateDeadlineIndex();     // tells the database whether any field of this hash has a deadline
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
