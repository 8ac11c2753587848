// Database: one numbered database (SELECT n). A Database owns its entries and finds an entry by its key. Further
// indexes contain the entries with a deadline (an expiration time), and the hashes that have fields with a deadline.
//
// A Database has no clock: callers compare deadlines with the time of the Unit, the object that represents the
// execution of one command, transaction or script. An entry may move in memory when its value changes, or when it gets
// a deadline. Each function that can move an entry returns the new address.
#pragma once

#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/entry.h"
#include "datatypes/hash_index.h"
#include "datatypes/slot_index.h"

namespace respite {

struct EntryDeleter {  // lets an EntryPtr free its entry
  void operator()(Entry* entry) const { Entry::Destroy(entry); }
};
using EntryPtr = std::unique_ptr<Entry, EntryDeleter>;  // owns an entry, and frees it

class Database {  // one numbered database (SELECT n): its keys and their indexes
 public:
  explicit Database(const HashKey& hash_key)
      : entries_(hash_key), entries_with_deadline_(hash_key), hashes_with_field_deadlines_(hash_key) {}
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;
  ~Database() { Clear(); }

  void EnableSlotIndex() {  // from now on, also indexes keys by cluster hash slot; requires: there are no keys yet
    by_slot_ = std::make_unique<SlotIndex>(hash_key());
  }
  const SlotIndex* by_slot() const { return by_slot_.get(); }  // the keys by cluster hash slot; null: not indexed

  size_t Size() const { return entries_.Size(); }
  size_t CountKeysWithDeadline() const {  // number of keys with a deadline, expired ones included
    return entries_with_deadline_.Size();
  }
  // Entries of a database with a pool must not outlive it; see Take.
  void EnablePool() {  // from now on, small entries get their memory from a SlabPool; requires: there are no keys yet
    pool_ = std::make_unique<SlabPool>();
  }
  SlabPool* pool() const { return pool_.get(); }                   // the memory for small entries; null: jemalloc's
  const HashKey& hash_key() const { return entries_.hash_key(); }  // the secret key of the hash function
  uint64_t Hash(Bytes key) const { return entries_.Hash(key); }

  Entry* Find(Bytes key) const { return entries_.Find(key, entries_.Hash(key)); }
  Entry* Find(Bytes key, uint64_t hash) const { return entries_.Find(key, hash); }
  void PrefetchBucket(uint64_t hash) const {  // before a lookup: prefetches the bucket where this hash is searched
    entries_.PrefetchBucket(hash);
  }
  void PrefetchForInsert(uint64_t hash) const {  // before Add: prefetches what adding a key of this hash will change
    entries_.PrefetchForInsert(hash);
  }
  void PrefetchEntry(uint64_t hash) const {  // after PrefetchBucket: prefetches the key's entry
    entries_.PrefetchItem(hash);
  }

  // Adds a key with a string. Requires: the key does not exist. Cost: O(1), one allocation.
  Entry* Add(Bytes key, StringContent content, int64_t deadline_ms, uint32_t access) {
    return Add(key, Hash(key), std::move(content), deadline_ms, access);
  }
  Entry* Add(Bytes key, uint64_t hash, StringContent content, int64_t deadline_ms, uint32_t access);
  // Adds an entry that is in no database, for example one that Take returned. Requires: its key is not in this
  // database.
  Entry* Add(EntryPtr entry);
  // `keys` and `timed` are only a hint.
  void Reserve(size_t keys,  // prepares an empty database for `keys` keys, `timed` of them with a deadline
               size_t timed) {
    entries_.Reserve(keys);
    entries_with_deadline_.Reserve(timed);
  }
  // Frees the old value. The entry keeps its deadline and its access data (LRU or LFU).
  Entry* Assign(Entry* entry, StringContent content);  // replaces the value; returns the entry, which may move
  // Extends the text of a string to `size` bytes with zero bytes, and returns the entry, which may move. Then the form
  // of the string is kRaw or kBlob, so the text can be modified in place (Entry::MutableText). A text that grows
  // repeatedly gets spare room. Requires: `size` is not below the current size. Cost: O(new bytes), sometimes O(size).
  Entry* Grow(Entry* entry, size_t size);  // extends a string with zero bytes; returns the entry, which may move
  // Resize changes the size of a packed collection. StoreCollection stores the collection in another encoding. See the
  // functions of these names in Entry. Resize and StoreCollection return the entry, which may have moved.
  Entry* Resize(Entry* entry, size_t inline_size);  // resizes a packed collection; returns the entry, which may move
  Entry* StoreCollection(Entry* entry, ValueForm form, Bytes packed);  // stores a packed collection; may move the entry
  Entry* StoreCollection(Entry* entry,  // stores a collection that is an object; may move the entry
                         std::unique_ptr<Object> object);
  Entry* SetDeadline(Entry* entry, int64_t deadline_ms);  // sets Unix ms, or kNoDeadline for none; may move the entry
  // Whether any field of a hash has a deadline.
  enum class FieldDeadlines : uint8_t { kNone, kSome };
  void IndexFieldDeadlines(Entry* entry,               // records whether any field of this hash has a deadline
                           FieldDeadlines deadlines);  // kSome: adds the hash, kNone: removes the hash

  // Removes the entry from the database and returns it. Dropping the returned pointer frees the entry. If this database
  // has a pool, the entry may still have memory of it: then the caller must drop the entry, or add it to a database,
  // before this database is destroyed or given to another thread.
  EntryPtr Take(Entry* entry);  // removes an entry from the database, and returns it
  // Cost: O(n).
  void Clear();  // removes and frees all keys

  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const {
    return entries_.Scan(cursor, visit);
  }
  template <class Visit>
  uint64_t ScanEntriesWithDeadline(uint64_t cursor,  // visits some keys with a deadline; returns the next cursor
                                   Visit&& visit) const {
    return entries_with_deadline_.Scan(cursor, visit);
  }
  template <class Visit>
  uint64_t ScanHashesWithFieldDeadlines(uint64_t cursor,  // visits some of the hashes; returns the next cursor
                                        Visit&& visit) const {
    return hashes_with_field_deadlines_.Scan(cursor, visit);
  }
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(Entry*) for each key, in no order
    entries_.ForEach(visit);
  }

  Entry* PickRandom(Random& random) const {  // a random key; null: there are no keys
    return entries_.PickRandom(random);
  }
  Entry* PickRandomWithDeadline(Random& random) const {  // a random key with a deadline; null: there is none
    return entries_with_deadline_.PickRandom(random);
  }

  const HashIndex<Entry*>& Entries() const { return entries_; }  // all keys
  const HashIndex<Entry*>& EntriesWithDeadline() const {         // the keys that have a deadline, expired or not
    return entries_with_deadline_;
  }
  const HashIndex<Entry*>& HashesWithFieldDeadlines() const {  // the hashes that have fields with deadlines
    return hashes_with_field_deadlines_;
  }

 private:
  Entry* Add(EntryPtr entry, uint64_t hash);
  // Called after an entry has moved from `from` to `to` in memory. The memory of `from` may be freed already.
  Entry* UpdateMovedEntry(Entry* from, Entry* to);  // makes the indexes point to `to` instead of `from`; returns `to`

  std::unique_ptr<SlabPool> pool_;                 // memory of small entries; null: jemalloc's
  HashIndex<Entry*> entries_;                      // all keys; an entry has key, value and deadline
  HashIndex<Entry*> entries_with_deadline_;        // entries that have a deadline
  std::unique_ptr<SlotIndex> by_slot_;             // keys by cluster hash slot; null: no such index
  HashIndex<Entry*> hashes_with_field_deadlines_;  // hashes that have fields with deadlines
};

}  // namespace respite
