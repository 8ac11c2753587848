// ValueSlot: the place of one collection in a database. The classes Hash, List, Set, SortedSet, Stream, Array,
// VectorSet and Json read and edit the value through the slot.
//
// Small collections are packed inside the entry, which moves when they grow; the slot tracks the address of the entry.
// A slot without an entry represents an empty collection that must not be edited.
#pragma once

#include <memory>
#include <utility>

#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "datatypes/packed_store.h"

namespace respite {

class ValueSlot final : public PackedStore {  // the place of one collection in a database; an edit may move the entry
 public:
  ValueSlot() = default;
  // Makes a read-only ValueSlot.
  explicit ValueSlot(const Entry* entry) : entry_(const_cast<Entry*>(entry)) { UpdateView(); }
  ValueSlot(Database& database, Entry* entry) : database_(&database), entry_(entry) { UpdateView(); }

  bool Exists() const { return entry_ != nullptr; }  // false: there is no such key
  Entry* entry() const { return entry_; }            // the entry of the key; null: there is no such key
  Database& database() const { return *database_; }  // the database of the key; requires: the slot is not read-only
  // This function and all functions below require Exists().
  ValueForm Form() const { return entry_->Form(); }
  // As<Table> returns the object of the entry as a `Table`. Requires: Form() == kObject, and `Table` is the class of
  // objects for the type of the entry.
  template <class Table>
  Table& As() const {
    return *static_cast<Table*>(entry_->ObjectValue());
  }

  char* Splice(size_t offset,  // replaces bytes of a packed value; returns where the new, unset ones begin
               size_t removed, size_t inserted) override;
  // Requires: `packed` is not part of the old value.
  void ConvertTo(ValueForm form, Bytes packed);    // changes the encoding: the value is now these bytes
  void ConvertTo(std::unique_ptr<Object> object);  // changes the encoding: the value is now this object

 private:
  void UpdateView();  // sets data_ and size_ again, after the entry has moved

  Database* database_ = nullptr;  // the database of the key; null: the slot is read-only
  Entry* entry_ = nullptr;        // the key with the collection; null: there is no such key
};

struct CollectionContext {  // constructor arguments of Hash, List, Set … Json
  ValueSlot slot;
  const EncodingLimits& limits;  // the sizes up to which a collection stays packed
  int64_t now_ms;                // Unix ms; fields of a hash with earlier deadlines are expired
};

class Collection {  // the base class of Hash, List, Set … Json: gives access to the value of one key
 public:
  static constexpr bool kStaysWhenEmpty = false;  // true: the key stays when its collection is empty

  // A missing key reads as an empty collection.
  bool Exists() const { return slot_.Exists(); }  // false: there is no such key
  const ValueSlot& slot() const { return slot_; }

 protected:
  explicit Collection(const CollectionContext& place)
      : slot_(place.slot), limits_(&place.limits), now_ms_(place.now_ms) {}

  ValueSlot slot_;
  const EncodingLimits* limits_;  // the sizes up to which a collection stays packed
  int64_t now_ms_;                // Unix ms; fields of a hash with earlier deadlines are expired
};

}  // namespace respite
