// Edit and KeyEdit: a value while a command changes it, from the look-up to the report of the change.
//
// An Edit changes a collection, including the consumer groups of a stream:
//   Edit<Hash> hash = call.db.OpenOrCreate<Hash>(key, capacity);
//   hash->Set(field, value);
//   hash.ReportChange("hset");
//
// A KeyEdit changes a string. It can also create, take out or replace a value of any type, and set its deadline:
//   KeyEdit text = call.db.OpenString(key);
//   text.Assign(call.Value(value));
//   text.ReportChange("set");
//
// DbView opens edits. Commands change values and report changes only through edits; ChangeCheck asserts that each
// change is reported. Two edits of one key must not exist at the same time. The DbView and the key must outlive the
// edit.
#pragma once

#include <span>
#include <utility>

#include "server/dataset/change_check.h"
#include "server/dataset/db_view.h"

namespace respite {

class AnyEdit {  // base class of edits: a key that a command changes, and the reports of its changes
 public:
  AnyEdit(const AnyEdit&) = delete;
  AnyEdit& operator=(const AnyEdit&) = delete;

  Bytes Key() const { return key_; }

  void ReportChange(const KeyEvent& event, uint64_t changes = 1) {  // reports a change and its event; counts `changes`
    NoteReport();
    OwningUnit().ReportChange(db_.index_, key_, event, changes);
  }
  // Reports one more keyspace event of a change, without counting the change again. Requires: ReportChange was called
  // for this key, or for another key of the same change (RENAME).
  void ReportChangeUncounted(const KeyEvent& event) {  // reports a further event of a change that was already counted
    NoteReport();
    OwningUnit().ReportChangeUncounted(db_.index_, key_, event);
  }
  void ReportChangeWithoutEvent() {  // reports a change that has no keyspace event
    NoteReport();
    OwningUnit().ReportChangeWithoutEvent(db_.index_, key_);
  }
  // Counts changes of data outside the value (consumer groups), so that the command is propagated and INFO shows the
  // changes. Does not notify clients that watch the key or are blocked on it.
  void CountChanges(uint64_t changes) {  // counts changes outside the value (consumer groups); WATCH ignores them
    OwningUnit().CountChanges(changes);
  }
  void ReportEvent(const KeyEvent& event) {  // sends a keyspace event, without counting a change
    OwningUnit().ReportEvent(db_.index_, key_, event);
  }
  // Returns whether clients get the fields of changed hashes. If not, ReportSubkeys does nothing, and commands need not
  // collect the fields.
  bool WantsSubkeys() const { return db_.unit_->WantsSubkeys(); }  // whether clients get the fields of changed hashes
  void ReportSubkeys(const KeyEvent& event, const Subkeys& fields) {  // publishes the fields that the event concerns
    OwningUnit().ReportSubkeys(db_.index_, key_, event, fields);
  }
  void Wake() { OwningUnit().Wake(db_.index_, key_); }  // blocked clients check the unchanged key again
  // Reports that the whole value was replaced by a value of the type `after`. `before` is the type of the old value.
  // ReportChange must also be called.
  void ReportOverwrite(ValueType before, ValueType after) {  // event "overwritten"; "type_changed" too if types differ
    OwningUnit().ReportOverwrite(db_.index_, key_, before, after);
  }
  void DisableChangeCheck() {  // disables the assertion that changes are reported (DEBUG POPULATE)
    check_.DisableChangeCheck();
  }

 protected:
  // `found` is the key's entry before the edit; null: the key does not exist.
  AnyEdit(DbView& db, Bytes key, const Entry* found) : db_(db), key_(key), check_(*db.unit_, db.index_, key, found) {
    db.unit_->WillChange(db.index_, key, found);
  }
  ~AnyEdit() { check_.Close(); }

  Unit& OwningUnit() { return *db_.unit_; }  // the execution (Unit) that gets the reports
  void NoteReport() {                        // tells check_ that the change was reported
    is_change_reported_ = true;
    check_.NoteReported();
  }

  DbView& db_;
  Bytes key_;
  bool is_change_reported_ = false;          // true: ReportChange… was called
  [[no_unique_address]] ChangeCheck check_;  // asserts that changes are reported
};

class KeyEdit : public AnyEdit {  // a key that a command changes as a whole: creates, replaces, removes
 public:
  // Returns false if the key does not exist, or if Take has removed it.
  explicit operator bool() const { return entry_ != nullptr; }
  const Entry* entry() const { return entry_; }  // entry of the key; null: the key does not exist
  const Entry* operator->() const { return entry_; }
  const Entry& operator*() const { return *entry_; }

  // Stores a string with this deadline (Unix time in ms), and replaces any old value.
  void Put(StringContent content, int64_t deadline_ms = kNoDeadline) {
    check_.NoteChanged();
    entry_ = db_.Put(entry_, key_, std::move(content), deadline_ms);
  }
  void Assign(StringContent content) {  // stores a string, and keeps the key's deadline (a new key has none)
    check_.NoteChanged();
    entry_ = db_.Assign(entry_, key_, std::move(content));
  }
  // Stores an entry that was created elsewhere (Entry::Rename, Entry::Clone …), and whose key is this edit's key.
  // Requires: the key does not exist.
  void Add(EntryPtr entry) {
    check_.NoteChanged();
    entry_ = db_.Add(std::move(entry));
  }
  // Removes the key and returns its entry, which the caller frees. Requires: the key exists.
  EntryPtr Take() {
    check_.NoteChanged();
    return db_.MutableData().Take(std::exchange(entry_, nullptr));
  }
  // Stores `entry`, whose key must be the key of this edit. Returns the old entry, which the caller frees, or null if
  // the key was absent. If the key existed, listeners are not told of a new key. (Take followed by Add would tell
  // them.)
  EntryPtr Replace(EntryPtr entry);  // stores this entry; returns the old one, or null
  // SetDeadline, SetInteger, Grow and TryGrow require that the key exists.
  void SetDeadline(int64_t deadline_ms) {  // sets when the key expires (Unix time in ms)
    check_.NoteChanged();
    entry_ = db_.MutableData().SetDeadline(entry_, deadline_ms);
  }
  void SetInteger(int64_t value) {  // stores an integer; requires that the old value is one
    check_.NoteChanged();
    entry_->SetInteger(value);
  }
  // Resizes a string to `size` bytes and returns its text for writing; see Database::Grow. The returned span is valid
  // until the next change.
  std::span<char> Grow(size_t size) {
    entry_ = db_.MutableData().Grow(entry_, size);
    return Text();
  }
  std::span<char> TryGrow(size_t size) {  // grows the text without moving it; {}: impossible, nothing has changed
    return entry_->TryGrow(size) ? Text() : std::span<char>();
  }

 private:
  friend class DbView;
  KeyEdit(DbView& db, Bytes key, Entry* entry) : AnyEdit(db, key, entry), entry_(entry) {}

  std::span<char> Text() { return {entry_->MutableText(), entry_->TextSize()}; }

  Entry* entry_;  // entry of the key; null: the key does not exist
};

// An edit of a collection. The destructor removes the collection if it is empty, unless its type stays when empty
// (Stream). If a change was reported, the destructor then also reports the event "del".
template <class Type>
class Edit : public AnyEdit {
 public:
  ~Edit() { DropIfEmpty(); }

  // Returns false if the key does not exist. An edit from OpenOrCreate always has a key.
  explicit operator bool() const { return value_.Exists(); }
  Type* operator->() { return &value_; }
  const Type* operator->() const { return &value_; }
  Type& operator*() { return value_; }

  // Removes the key and returns its entry, which the caller frees. After this call, the edit must only be used to
  // report the change. Requires: the key exists.
  EntryPtr Take() {
    is_closed_ = true;
    return db_.MutableData().Take(value_.slot().entry());
  }
  // Does the work of the destructor now; the edit must not be used afterwards. Returns true if the collection was empty
  // and its key was removed.
  bool Close() {  // does the destructor's work now; returns true if it removed the key
    const bool dropped = DropIfEmpty();
    check_.Close();
    return dropped;
  }

 private:
  friend class DbView;
  // `found`: the entry of the key before this edit; null: the key did not exist. `place`: the slot of the collection
  // now. OpenOrCreate creates a missing entry before it makes the Edit; then `found` is null, but `place` has the
  // entry.
  Edit(DbView& db, Bytes key, const Entry* found, const CollectionContext& place)
      : AnyEdit(db, key, found), value_(place) {
    if (found == nullptr && value_.Exists()) check_.NoteCreated();
  }

  bool DropIfEmpty() {  // removes the key if its collection is empty; returns true if removed
    if (Type::kStaysWhenEmpty || !value_.Exists() || is_closed_ || !value_.IsEmpty()) return false;
    is_closed_ = true;
    const EntryPtr empty = db_.MutableData().Take(value_.slot().entry());
    if (is_change_reported_) ReportChangeUncounted("del");
    return true;
  }

  Type value_;              // the collection that the command changes
  bool is_closed_ = false;  // true: the key is gone (Take, or it was empty), so `value_` must not be used
};

inline EntryPtr KeyEdit::Replace(EntryPtr entry) {  // stores this entry; returns the old one, or null
  if (entry_ == nullptr) return Add(std::move(entry)), nullptr;
  EntryPtr replaced = Take();
  entry_ = db_.MutableData().Add(std::move(entry));
  return replaced;
}

inline KeyEdit DbView::Open(Bytes key) { return KeyEdit(*this, key, FindMutable(key)); }
inline KeyEdit DbView::OpenString(Bytes key) {  // opens a string to change it; throws WRONGTYPE
  return KeyEdit(*this, key, CheckString(FindMutable(key)));
}
inline KeyEdit DbView::OpenStringAndCountLookup(Bytes key) {  // opens a string to change it; counts a hit or a miss
  Entry* entry = FindMutable(key);
  CountLookup(key, entry);
  return KeyEdit(*this, key, CheckString(entry));
}
inline KeyEdit DbView::OpenEvenIfExpired(Bytes key) {  // opens a key even if it has expired, for RESTORE
  return KeyEdit(*this, key, MutableData().Find(key, HashOf(key)));
}

template <class Type>
Edit<Type> DbView::Open(Bytes key) {
  Entry* entry = CheckType(FindMutable(key), Type::kType);
  return Edit<Type>(*this, key, entry, ContextOf(ValueSlot(MutableData(), entry)));
}

template <class Type>
Edit<Type> DbView::OpenAndCountLookup(Bytes key) {  // opens a collection; counts a hit or a miss; throws WRONGTYPE
  Entry* entry = FindMutable(key);
  CountLookup(key, entry);
  CheckType(entry, Type::kType);
  return Edit<Type>(*this, key, entry, ContextOf(ValueSlot(MutableData(), entry)));
}

template <class Type>
Edit<Type> DbView::OpenOrCreate(Bytes key, size_t capacity) {  // opens a collection, or makes an empty one
  Entry* found = CheckType(FindMutable(key), Type::kType);
  Entry* entry = found != nullptr ? found : Add(EntryPtr(NewEntry<Type>(key, capacity)));
  return Edit<Type>(*this, key, found, ContextOf(ValueSlot(MutableData(), entry)));
}

}  // namespace respite
