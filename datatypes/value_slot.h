// ValueSlot: the place of one collection in a database: what the types (Hash, List, Set, SortedSet) read and edit
// through.
//
// Small collections are packed inside the entry, so the entry moves when they grow; the slot follows it. Without an
// entry it stands for an empty collection that nobody may edit.
#pragma once

#include <memory>
#include <utility>

#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "datatypes/packed_store.h"

namespace respite {

class ValueSlot final : public PackedStore {
 public:
  ValueSlot() = default;
  // For reading only.
  explicit ValueSlot(const Entry* entry) : entry_(const_cast<Entry*>(entry)) { Point(); }
  ValueSlot(Database& database, Entry* entry) : database_(&database), entry_(entry) { Point(); }

  bool Exists() const { return entry_ != nullptr; }
  Entry* entry() const { return entry_; }
  Database& database() const { return *database_; }
  // Requires: Exists(), as all below.
  ValueForm Form() const { return entry_->Form(); }
  // The object, which is a `Table` by the type of the entry. Requires: Form() == kObject.
  template <class Table>
  Table& As() const {
    return *static_cast<Table*>(entry_->HeldObject());
  }

  char* Splice(size_t offset, size_t removed, size_t inserted) override;
  // Changes the encoding. `packed` must not be part of the value it replaces.
  void Become(ValueForm form, Bytes packed);
  void Become(std::unique_ptr<Object> object);

 private:
  void Point();

  Database* database_ = nullptr;
  Entry* entry_ = nullptr;
};

// What every collection is made from.
struct CollectionPlace {
  ValueSlot slot;
  const EncodingLimits& limits;
  int64_t now_ms;  // for fields with a deadline
};

// What the types have in common.
class Collection {
 public:
  // True: the key stays when nothing is left in the collection.
  static constexpr bool kStaysWhenEmpty = false;

  // False: no such key; it reads as an empty collection.
  bool Exists() const { return slot_.Exists(); }
  const ValueSlot& slot() const { return slot_; }

 protected:
  explicit Collection(const CollectionPlace& place)
      : slot_(place.slot), limits_(&place.limits), now_ms_(place.now_ms) {}

  ValueSlot slot_;
  const EncodingLimits* limits_;
  int64_t now_ms_;
};

}  // namespace respite
