// DbView: the selected database as one command sees it, at the time of its Unit.
//
// An expired key or hash field counts as absent (except under ExpiryRule::kIgnoreDeadlines). A write removes an expired
// key or field first. If a read finds an expired key or field, the Unit removes it when it closes, but only under
// ExpiryRule::kPurge (not on a replica, for example). Values are changed through the edits (edit.h) that Open,
// OpenOrCreate and the other Open… functions return.
#pragma once

#include <span>

#include "datatypes/value_slot.h"
#include "server/catalogue/refusals.h"
#include "server/dataset/unit.h"

namespace respite {

class KeyEdit;
template <class Type>
class Edit;

class DbView {  // the selected database as one command sees it: expired keys are absent
 public:
  // `index` is the number of the database. `touches` says whether look-ups mark keys as used (LRU, LFU). `hashed_key`
  // is a key of the request with its hash, which is the same in all databases.
  DbView(Unit& unit, int index, bool touches, const HashedText& hashed_key = {})
      : unit_(&unit), index_(index), marks_keys_used_(touches), hashed_key_(hashed_key) {}

  int Index() const { return index_; }  // number of the database
  const Database& Data() const { return unit_->data().keyspace[index_]; }
  DbView OtherDatabase(int index) const {  // a view of another database for the same command
    return DbView(*unit_, index, marks_keys_used_, hashed_key_);
  }

  // Returns the entry of a key whose value is read, or null if the key is absent. Counts a hit or a miss, and marks the
  // key as used, except under CLIENT NO-TOUCH.
  const Entry* Read(Bytes key) {
    Entry* entry = FindAlive(key);
    CountLookup(key, entry);
    if (entry != nullptr && marks_keys_used_) MarkUsed(*entry);
    return entry;
  }
  // Returns the entry of a key whose value is not read (TTL, TYPE, EXISTS), or null if the key is absent. Counts a hit
  // or a miss, but does not mark the key as used.
  const Entry* LookUpNoTouch(Bytes key) {  // finds a key; counts a hit or a miss, but no use of the key; null: absent
    const Entry* entry = Peek(key);
    CountLookup(key, entry);
    return entry;
  }
  // Returns the entry of a key, or null, and counts a hit or a miss. Reports no "keymiss" event (OBJECT, and look-ups
  // during iteration).
  const Entry* LookUpNoTouchNoEvent(Bytes key) {  // like LookUpNoTouch, without the event "keymiss" (OBJECT, SCAN)
    const Entry* entry = Peek(key);
    ++(entry != nullptr ? unit_->data().stats.hits : unit_->data().stats.misses);
    return entry;
  }
  // Returns the entry of a key, or null, for TOUCH. Counts a hit or a miss, and marks the key as used even for a client
  // with CLIENT NO-TOUCH.
  const Entry* Use(Bytes key) {  // for TOUCH: always marks the key as used
    Entry* entry = FindAlive(key);
    CountLookup(key, entry);
    if (entry != nullptr) MarkUsed(*entry);
    return entry;
  }
  // Returns the entry of a key, or null, without counting a hit or a miss and without marking the key as used. An
  // expired key counts as absent; the Unit removes the key when it closes, but only under ExpiryRule::kPurge.
  const Entry* Peek(Bytes key) { return FindAlive(key); }
  // Returns false if the key, or every field of a hash, has expired: the key then counts as absent. Whatever the
  // result, what has expired of this key is purged when the Unit closes, but only under ExpiryRule::kPurge.
  bool IsAlive(const Entry& entry) {  // false: expired, so it counts as absent; notes it for purging
    if (entry.HasFieldDeadlines() && HasExpiredFields(entry)) return HasLivingFields(entry);
    if (!entry.IsExpired(unit_->expiry_now_ms())) return true;
    unit_->PurgeLater(index_, entry.Key());
    return false;
  }
  // Returns the entry of a key in a command that changes keys, or null if the key is absent. Removes an expired key and
  // expired fields immediately, even on a replica. Marks the key as used, except under CLIENT NO-TOUCH.
  const Entry* Find(Bytes key) { return FindMutable(key); }
  // Returns the entry of a key as Find does, and also counts a hit or a miss. For commands that change the value and
  // also reply with it.
  const Entry* FindAndCountLookup(Bytes key) {  // finds a key to change it, and counts a hit or a miss; null: absent
    const Entry* entry = Find(key);
    CountLookup(key, entry);
    return entry;
  }

  // ReadString returns the entry of a string as Read does, and FindStringAndCountLookup as FindAndCountLookup does.
  // Both throw WRONGTYPE if the value is not a string.
  const Entry* ReadString(Bytes key) { return CheckString(Read(key)); }  // reads a string, or throws WRONGTYPE
  const Entry* FindStringAndCountLookup(Bytes key) {  // finds a string to change it, or throws; counts a hit or a miss
    return CheckString(FindAndCountLookup(key));
  }

  // Returns the collection (Hash, List, Set, SortedSet, Stream, Array or VectorSet) of a key. If the key is absent,
  // Exists() of the collection returns false. Throws WRONGTYPE if the value has another type. Counts a hit or a miss,
  // and marks the key as used, except under CLIENT NO-TOUCH.
  template <class Type>
  const Type Read(Bytes key) {
    return Type(ContextOf(ValueSlot(CheckType(Read(key), Type::kType))));
  }
  // Returns the collection in an entry that was already found. Requires: the entry has this type.
  template <class Type>
  const Type View(const Entry* entry) const {
    return Type(ContextOf(ValueSlot(entry)));
  }

  // Open, OpenString and OpenStringAndCountLookup find a key in order to change the key. Open accepts any type;
  // OpenString throws WRONGTYPE unless the value is a string. OpenStringAndCountLookup also counts a hit or a miss, for
  // commands that reply with the value before they change the value.
  KeyEdit Open(Bytes key);
  KeyEdit OpenString(Bytes key);                // finds a string to change it, or throws WRONGTYPE
  KeyEdit OpenStringAndCountLookup(Bytes key);  // like OpenString; also counts a hit or a miss
  KeyEdit OpenEvenIfExpired(Bytes key);         // opens a key to change it, even if it has expired (RESTORE)
  // Open, OpenAndCountLookup and OpenOrCreate find a collection in order to change the collection, and throw WRONGTYPE
  // for another type. If the key does not exist, OpenOrCreate creates an empty collection with space for `capacity`
  // bytes.
  template <class Type>
  Edit<Type> Open(Bytes key);
  template <class Type>
  Edit<Type> OpenAndCountLookup(Bytes key);  // finds a collection to change it; counts a hit or a miss
  template <class Type>
  Edit<Type> OpenOrCreate(Bytes key, size_t capacity = 0);  // opens a collection, or makes an empty one

  const EncodingLimits& Limits() const {  // sizes at which a value leaves its compact encoding
    return unit_->data().limits;
  }
  uint32_t NewKeyUsage() const {  // LRU or LFU bits of a new key
    return unit_->data().usage.BitsForNewKey(unit_->now_ms());
  }

  std::vector<Database> Flush(std::span<const int> dbs) const;  // empties databases; returns their content
  void SwapDatabases(int one, int other) {                      // swaps two databases, for SWAPDB
    unit_->data().keyspace.Swap(one, other);
    if (unit_->data().keeper != nullptr) unit_->data().keeper->OnSwap(one, other);
    unit_->ReportSwap(one, other);
  }

  // Prefetches the keys at every `step`-th argument, from the first one on, so that the cache misses of the look-ups
  // that follow overlap. At most kPrefetchAhead keys are prefetched, and none if there is only one key.
  static constexpr size_t kPrefetchAhead = 16;  // maximum number of keys that one call of Prefetch fetches
  void Prefetch(std::span<const Bytes> arguments, size_t step) const;  // fetches keys into the CPU cache

 private:
  friend class AnyEdit;
  friend class KeyEdit;
  template <class Type>
  friend class Edit;

  Database& MutableData() const { return unit_->data().keyspace[index_]; }  // the selected database, to change
  uint64_t HashOf(Bytes key) const {  // hash of the key, by which the table finds the key
    return hashed_key_.Is(key) ? hashed_key_.Hash() : Data().Hash(key);
  }
  Entry* FindAlive(Bytes key) {  // finds a key; null: absent or expired
    Entry* entry = Data().Find(key, HashOf(key));
    return entry != nullptr && IsAlive(*entry) ? entry : nullptr;
  }
  Entry* FindMutable(Bytes key);  // finds a key to change; purges what has expired, marks the key as used; null: absent

  // The functions of KeyEdit with the same names call the functions from Put to Add, which do the work. `entry` is what
  // FindMutable returned for `key`: the entry, or null.
  Entry* Put(Entry* entry, Bytes key, StringContent&& content, int64_t deadline_ms);  // sets the string and deadline
  Entry* Assign(Entry* entry, Bytes key, StringContent&& content);                    // sets the string alone
  Entry* Add(Bytes key, StringContent&& content, int64_t deadline_ms);
  Entry* Add(EntryPtr entry) {
    Entry* added = MutableData().Add(std::move(entry));
    unit_->ReportNewKey(index_, added->Key());
    return added;
  }
  void CountLookup(Bytes key, const Entry* entry) {  // counts a hit or a miss; a miss sends "keymiss"
    if (entry == nullptr) return unit_->ReportMiss(index_, key);
    ++unit_->data().stats.hits;
  }
  void MarkUsed(Entry& entry) {  // updates the LRU or LFU bits of an entry
    entry.SetAccess(unit_->data().usage.BitsAfterUse(entry.Access(), unit_->now_ms()));
  }
  template <class EntryType>
  static EntryType* CheckType(EntryType* entry, ValueType type) {  // returns `entry` (may be null), or throws WRONGTYPE
    if (entry != nullptr && entry->Type() != type) throw Refusal{refusals::kWrongType};
    return entry;
  }
  template <class EntryType>
  static EntryType* CheckString(EntryType* entry) {  // throws WRONGTYPE unless `entry` is a string or null; returns it
    return CheckType(entry, ValueType::kString);
  }
  // Returns a new empty collection of type Type. A type without a packed form (Stream) begins as an object.
  template <class Type>
  Entry* NewEntry(Bytes key, size_t capacity) {  // an empty collection for this database
    const uint32_t access = NewKeyUsage();
    SlabPool* pool = MutableData().pool();
    if constexpr (requires { Type::MakeInitialObject(); }) {
      return Entry::CreateWithObject(key, Type::kType, Type::MakeInitialObject(), access, pool);
    } else {
      return Entry::CreatePacked(key, Type::kType, Type::kInitialForm, Type::InitialPacked(), capacity, access, pool);
    }
  }
  bool HasExpiredFields(const Entry& entry) const;  // whether a hash has expired fields; requires deadlines of fields
  bool HasLivingFields(const Entry& entry);         // false: the hash counts as absent; notes the hash for purging
  CollectionContext ContextOf(ValueSlot slot) const {  // the constructor argument of Hash, List …: slot, limits, time
    return {slot, unit_->data().limits, unit_->expiry_now_ms()};
  }

  Unit* unit_;
  int index_;              // number of the database
  bool marks_keys_used_;   // marks keys as used; false under CLIENT NO-TOUCH
  HashedText hashed_key_;  // one key of the request, together with its hash
};

inline Entry* DbView::FindMutable(Bytes key) {  // finds a key to change it; purges an expired key; null: absent
  Entry* entry = Data().Find(key, HashOf(key));
  if (entry == nullptr) return nullptr;
  if (entry->IsExpired(unit_->expiry_now_ms())) {
    unit_->Purge(index_, entry);
    return nullptr;
  }
  if (entry->HasFieldDeadlines()) entry = unit_->PurgeFields(index_, entry);
  if (entry != nullptr && marks_keys_used_) MarkUsed(*entry);
  return entry;
}

}  // namespace respite
