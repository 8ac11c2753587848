// DbView: the selected database as one command sees it, at the time of its Unit.
//
// An expired key is absent, and so is an expired field of a hash: a read leaves them for the Unit to purge, a write
// purges them first. Writers tell `Touched` what they did; nobody else needs to be told.
#pragma once

#include <span>

#include "datatypes/value_slot.h"
#include "server/catalogue/refusals.h"
#include "server/dataset/unit.h"

namespace respite {

template <class Type>
class Edit;

class DbView {
 public:
  // `known` is a key of the request whose hash is known; all databases have the same hash.
  DbView(Unit& unit, int index, bool touches, const HashedText& known = {})
      : unit_(&unit), index_(index), touches_(touches), known_(known) {}

  int Index() const { return index_; }
  Database& Data() const { return unit_->data().keyspace[index_]; }
  // The same Unit's view of another database.
  DbView Other(int index) const { return DbView(*unit_, index, touches_, known_); }

  // Reads a value: counts a hit or a miss and marks the key as used.
  const Entry* Read(Bytes key) {
    const Entry* entry = Inspect(key);
    if (entry != nullptr && touches_) MarkUsed(*const_cast<Entry*>(entry));
    return entry;
  }
  // Reads about a key (TTL, TYPE, EXISTS): counts, but does not mark it as used.
  const Entry* Inspect(Bytes key) {
    const Entry* entry = Peek(key);
    CountLookup(key, entry);
    return entry;
  }
  // As Inspect, but nobody hears of a miss (OBJECT, and look-ups on a walk).
  const Entry* Examine(Bytes key) {
    const Entry* entry = Peek(key);
    ++(entry != nullptr ? unit_->data().stats.hits : unit_->data().stats.misses);
    return entry;
  }
  // As Read, and marks the key as used even for a client with CLIENT NO-TOUCH (TOUCH).
  const Entry* Use(Bytes key) {
    const Entry* entry = Inspect(key);
    if (entry != nullptr) MarkUsed(*const_cast<Entry*>(entry));
    return entry;
  }
  // Looks without leaving a trace (DEBUG).
  const Entry* Peek(Bytes key) {
    Entry* entry = Data().Find(key, HashOf(key));
    return entry != nullptr && IsAlive(*entry) ? entry : nullptr;
  }
  // For entries that are met on a walk (SCAN): false when expired, which then are purged as the Unit closes.
  bool IsAlive(const Entry& entry) {
    if (entry.HasTimedFields() && HasExpiredFields(entry)) return HasLivingFields(entry);
    if (!entry.IsExpired(unit_->judged_ms())) return true;
    unit_->PurgeLater(index_, entry.Key());
    return false;
  }
  // Finds a key in order to change it.
  Entry* Find(Bytes key) {
    Entry* entry = Data().Find(key, HashOf(key));
    if (entry == nullptr) return nullptr;
    if (entry->IsExpired(unit_->judged_ms())) {
      unit_->Purge(index_, entry);
      return nullptr;
    }
    if (entry->HasTimedFields()) entry = unit_->PurgeFields(index_, entry);
    if (entry != nullptr && touches_) MarkUsed(*entry);
    return entry;
  }

  // As Find, but counts a hit or a miss: for commands that answer with the value and then change it.
  Entry* FindToRead(Bytes key) {
    Entry* entry = Find(key);
    CountLookup(key, entry);
    return entry;
  }

  // As Read, Find and FindToRead, and refuse anything but a string.
  const Entry* ReadString(Bytes key) { return CheckString(Read(key)); }
  Entry* FindString(Bytes key) { return CheckString(Find(key)); }
  Entry* FindStringToRead(Bytes key) { return CheckString(FindToRead(key)); }

  // A collection (Hash, List, Set, SortedSet) to read; an absent key reads as an empty one. Refuses another type.
  template <class Type>
  const Type Read(Bytes key) {
    return Type(PlaceOf(ValueSlot(CheckType(Read(key), Type::kType))));
  }
  // The same to change it; see Edit. OpenOrCreate makes an empty one, with `room` bytes to grow in, if there is none.
  template <class Type>
  Edit<Type> Open(Bytes key) {
    return Edit<Type>(*this, key, PlaceOf(ValueSlot(Data(), CheckType(Find(key), Type::kType))));
  }
  template <class Type>
  Edit<Type> OpenOrCreate(Bytes key, size_t room = 0);
  // As Open, but counts a hit or a miss.
  template <class Type>
  Edit<Type> OpenToRead(Bytes key) {
    return Edit<Type>(*this, key, PlaceOf(ValueSlot(Data(), CheckType(FindToRead(key), Type::kType))));
  }
  // As Read and Open, of an entry that was found already and has this type.
  template <class Type>
  const Type View(const Entry* entry) const {
    return Type(PlaceOf(ValueSlot(entry)));
  }
  template <class Type>
  Edit<Type> Open(Bytes key, Entry* entry) {
    return Edit<Type>(*this, key, PlaceOf(ValueSlot(Data(), entry)));
  }

  // Gives `key` a value and a deadline, whatever it was. `entry` is what Find returned for it.
  Entry* Put(Entry* entry, Bytes key, StringContent content, int64_t deadline_ms = kNoDeadline);
  // Gives it a value and keeps the deadline it has.
  Entry* Assign(Entry* entry, Bytes key, StringContent content);
  // Gives a key that does not exist its value, made elsewhere.
  Entry* Add(EntryPtr entry) {
    Entry* added = Data().Add(std::move(entry));
    unit_->Created(index_, added->Key());
    return added;
  }
  // Gives it to a key that may exist: `old` is what Find returned for it. Returns the old entry; the caller decides
  // where that is freed.
  EntryPtr Replace(Entry* old, EntryPtr entry) {
    if (old == nullptr) return Add(std::move(entry)), nullptr;
    EntryPtr replaced = Take(old);
    Data().Add(std::move(entry));
    return replaced;
  }
  // Makes the text longer and its own to change; see Database::Grow.
  Entry* Grow(Entry* entry, size_t size) { return Data().Grow(entry, size); }
  Entry* SetDeadline(Entry* entry, int64_t deadline_ms) { return Data().SetDeadline(entry, deadline_ms); }
  // Takes a key out; the caller decides where its value is freed.
  EntryPtr Take(Entry* entry) { return Data().Take(entry); }

  // For values that are built before they get their place.
  const EncodingLimits& Limits() const { return unit_->data().limits; }
  uint32_t FreshAccess() const { return unit_->data().usage.Fresh(unit_->now_ms()); }

  // Empties databases; the caller decides where the content is freed.
  std::vector<Database> Flush(std::span<const int> dbs) const;
  void SwapDatabases(int one, int other) {
    unit_->data().keyspace.Swap(one, other);
    unit_->Swapped(one, other);
  }

  // Hints that the keys at every `step`-th word, at most kPrefetchAhead, are looked up next: their cache misses
  // overlap.
  static constexpr size_t kPrefetchAhead = 16;
  void Prefetch(std::span<const Bytes> words, size_t step) const;

  // See Unit.
  void Touched(Bytes key, KeyEvent event, uint64_t changes = 1) { unit_->Touched(index_, key, event, changes); }
  void AlsoTouched(Bytes key, KeyEvent event) { unit_->AlsoTouched(index_, key, event); }
  void TouchedSilently(Bytes key) { unit_->TouchedSilently(index_, key); }
  void Announce(Bytes key, KeyEvent event) { unit_->Announce(index_, key, event); }
  void Wake(Bytes key) { unit_->Wake(index_, key); }
  void Count(uint64_t changes) { unit_->Count(changes); }

 private:
  uint64_t HashOf(Bytes key) const { return known_.Is(key) ? known_.Hash() : Data().Hash(key); }
  Entry* Add(Bytes key, StringContent content, int64_t deadline_ms);
  void CountLookup(Bytes key, const Entry* entry) {
    if (entry == nullptr) return unit_->Missed(index_, key);
    ++unit_->data().stats.hits;
  }
  void MarkUsed(Entry& entry) { entry.SetAccess(unit_->data().usage.Used(entry.Access(), unit_->now_ms())); }
  template <class EntryType>
  static EntryType* CheckType(EntryType* entry, ValueType type) {
    if (entry != nullptr && entry->Type() != type) throw Refusal{refusals::kWrongType};
    return entry;
  }
  template <class EntryType>
  static EntryType* CheckString(EntryType* entry) {
    return CheckType(entry, ValueType::kString);
  }
  // An empty collection; only a type without a packed form begins as an object (Stream).
  template <class Type>
  static Entry* NewEntry(Bytes key, size_t room, uint32_t access) {
    if constexpr (requires { Type::FirstObject(); }) {
      return Entry::CreateObject(key, Type::kType, Type::FirstObject(), access);
    } else {
      return Entry::CreatePacked(key, Type::kType, Type::kFirstForm, Type::FirstPacked(), room, access);
    }
  }
  // For hashes with deadlines on fields.
  bool HasExpiredFields(const Entry& entry) const;
  // False when the key is as good as gone, too. Leaves the expired fields to the Unit.
  bool HasLivingFields(const Entry& entry);
  CollectionPlace PlaceOf(ValueSlot slot) const { return {slot, unit_->data().limits, unit_->judged_ms()}; }

  Unit* unit_;
  int index_;
  bool touches_;  // CLIENT NO-TOUCH leaves access data alone
  HashedText known_;
};

// Edit: a collection while a command changes it.
//
//   Edit<Hash> hash = call.db.OpenOrCreate<Hash>(key, room);
//   hash->Set(field, value);
//   hash.Touched("hset");
//
// When it goes out of scope an empty collection is dropped, with the event "del" if it was not made here in vain. Two
// edits of one key must not live at the same time.
template <class Type>
class Edit {
 public:
  // `key` must outlive the edit.
  Edit(const DbView& db, Bytes key, const CollectionPlace& place) : db_(db), key_(key), value_(place) {}
  Edit(const Edit&) = delete;
  Edit& operator=(const Edit&) = delete;
  ~Edit() { Close(); }

  // False: there is no such key (only after Open).
  explicit operator bool() const { return value_.Exists(); }
  Bytes Key() const { return key_; }
  Type* operator->() { return &value_; }
  const Type* operator->() const { return &value_; }
  Type& operator*() { return value_; }

  void Touched(KeyEvent event, uint64_t changes = 1) {
    touched_ = true;
    db_.Touched(key_, event, changes);
  }
  // A further event of a change that Touched reported, of this or of another key.
  void AlsoTouched(KeyEvent event) {
    touched_ = true;
    db_.AlsoTouched(key_, event);
  }
  // Does now what the end of the scope would do; the edit must not be used any more. True when the key is gone.
  bool Close() {
    if (Type::kStaysWhenEmpty || !value_.Exists() || closed_ || !value_.IsEmpty()) return false;
    closed_ = true;
    const EntryPtr empty = db_.Take(value_.slot().entry());
    if (touched_) db_.AlsoTouched(key_, "del");
    return true;
  }

 private:
  DbView db_;
  Bytes key_;
  Type value_;
  bool touched_ = false;
  bool closed_ = false;
};

template <class Type>
Edit<Type> DbView::OpenOrCreate(Bytes key, size_t room) {
  Entry* entry = CheckType(Find(key), Type::kType);
  if (entry == nullptr) {
    entry = Add(EntryPtr(NewEntry<Type>(key, room, FreshAccess())));
  }
  return Edit<Type>(*this, key, PlaceOf(ValueSlot(Data(), entry)));
}

}  // namespace respite
