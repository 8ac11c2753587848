// Unit: one atomic execution: a command, or an EXEC or a script with all its commands.
//
// All consequences of a write begin here. Edits report changes, and the ChangeListener hears of them at once. When the
// Unit closes, it purges the expired keys and fields that reads met, and hands the effects to the Journal, all
// together. Time and chance enter a Unit once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "server/dataset/dataset.h"

namespace respite {

// How a Unit treats expired keys and fields.
enum class ExpiryRule : uint8_t {
  kPurge,    // they are absent, and are removed when met, with a record
  kHide,     // they are absent, but stay where they are: on a replica, and during CLIENT PAUSE
  kBelieve,  // they exist until a record removes them: a file or stream is repeated
};

class Unit {
 public:
  // kRecord: the commands were accepted before, by this server or another, and are repeated from a file.
  enum class Origin : uint8_t { kClient, kRecord };
  // kApart: the effects are independent of each other, as those of expired keys that a walk met.
  enum class Bond : uint8_t { kTogether, kApart };

  Unit(Dataset& data, int64_t now_ms, ExpiryRule rule, Origin origin = Origin::kClient)
      : data_(data),
        now_ms_(now_ms),
        rule_(rule),
        origin_(origin),
        judged_ms_(rule == ExpiryRule::kBelieve ? INT64_MIN : now_ms),
        first_effect_(data.effects.Count()) {}
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  int64_t now_ms() const { return now_ms_; }
  // The time against which deadlines are judged: under kBelieve no deadline is before it.
  int64_t judged_ms() const { return judged_ms_; }
  Dataset& data() { return data_; }
  // Limits for clients do not apply: a command that was acknowledged must succeed again, whatever the directives say
  // today.
  bool RepeatsRecord() const { return origin_ == Origin::kRecord; }
  bool Recorded() const { return data_.journals.Listen(); }

  // A key may be about to change. `entry` is what it is now; null: absent.
  void WillChange(int db, Bytes key, const Entry* entry) {
    if (data_.keeper != nullptr) data_.keeper->BeforeChange(db, key, entry);
  }
  // The running command changed a key. Redis: some commands count each of their changes to one key in
  // rdb_changes_since_last_save.
  void Touched(int db, Bytes key, const KeyEvent& event, uint64_t changes = 1) {
    Count(changes);
    AlsoTouched(db, key, event);
  }
  // A further event of a change that was counted already, of this or another key.
  void AlsoTouched(int db, Bytes key, const KeyEvent& event) {
    if (data_.listener == nullptr) return;
    data_.listener->OnChange(db, key);
    data_.listener->OnEvent(db, key, event);
  }
  // A key was changed, and there is no event for it (PFCOUNT, which stores what it counted).
  void TouchedSilently(int db, Bytes key) {
    Count(1);
    if (data_.listener != nullptr) data_.listener->OnChange(db, key);
  }
  // Something changed that is not part of a key's value (the groups of a stream).
  void Count(uint64_t changes) {
    changes_ += changes;
    data_.stats.dirty += changes;
  }
  // The event of a change that Count reported.
  void Announce(int db, Bytes key, const KeyEvent& event) {
    if (data_.listener != nullptr) data_.listener->OnEvent(db, key, event);
  }
  // Wakes the clients that wait for a key, although its value is unchanged (their group is gone).
  void Wake(int db, Bytes key) {
    if (data_.listener != nullptr) data_.listener->OnWake(db, key);
  }
  // A key was created; Touched reports its value.
  void Created(int db, Bytes key) {
    if (data_.listener != nullptr) data_.listener->OnEvent(db, key, "new");
  }
  // A read found no key. Removes an expired key now, so that its event "expired" comes before "keymiss"; so it must not
  // be called on a walk.
  void Missed(int db, Bytes key) {
    ++data_.stats.misses;
    if (data_.listener == nullptr) return;
    if (!purge_.empty() && purge_.back().first == db && purge_.back().second == key) PurgeLast();
    data_.listener->OnEvent(db, key, "keymiss");
  }
  // These databases are about to lose all their keys, `keys` of them. Redis: counts as many changes, and is recorded
  // even when there are none.
  void Flushed(std::span<const int> dbs, size_t keys) {
    if (data_.listener != nullptr) data_.listener->OnFlush(dbs);
    ++changes_;
    data_.stats.dirty += keys;
  }
  // Two databases changed places.
  void Swapped(int one, int other) {
    if (data_.listener != nullptr) data_.listener->OnSwap(one, other);
    Count(1);
  }
  // Changes so far; a command that does not increase it had no effect.
  uint64_t Changes() const { return changes_; }

  // Removes an expired key now (before a write to it) or when the Unit closes (after a read that met it).
  void Purge(int db, Entry* entry);
  void PurgeLater(int db, Bytes key) { purge_.emplace_back(db, std::string(key)); }
  // Removes the expired fields of a hash, at most `limit` of them, and the hash with the last one. Returns where it is
  // now, null when it is gone. Requires: the entry has deadlines on fields. Cost: O(expired fields).
  Entry* PurgeFields(int db, Entry* entry, size_t limit = SIZE_MAX);
  // Removes a key because another node of the cluster has its slot now.
  void GiveUp(int db, Entry* entry);
  // Removes a key because memory is short. `verb` is its effect: DEL or UNLINK.
  void Evict(int db, Entry* entry, Bytes verb);

  // Records the effect of a command that changed something: its words, or what replaced them.
  void Record(int db, const Effect& effect, std::span<const Bytes> words);
  // Records a command that changes no data, but is repeated by replicas (PUBLISH).
  void RecordForReplicas(int db, std::span<const Bytes> words) {
    if (Recorded()) data_.effects.Add(db, words, JournalEntry::kReplicas & targets_);
  }
  // The targets of the effects of the following commands: JournalEntry::Target bits (redis.set_repl in scripts).
  void RecordFor(uint8_t targets) { targets_ = targets; }
  // Drops the recorded effects, because the server stops in the middle of the Unit.
  void Forget() { data_.effects.Truncate(first_effect_); }
  // Purges expired keys and hands the effects over, as one group that is repeated all or not at all, or each by itself.
  // The Unit may be used again, as a new one.
  void Close(Bond bond = Bond::kTogether) {
    if (!purge_.empty() || data_.effects.Count() != first_effect_) HandOver(bond);
  }

 private:
  void HandOver(Bond bond);
  // Purges the last item of the list.
  void PurgeLast();
  void PurgeListed(int db, Bytes key);
  // Removes a key that no command deleted, and announces it.
  EntryPtr Drop(int db, Entry* entry, const KeyEvent& event, Bytes verb);
  // The same for an expired key.
  void DropExpired(int db, Entry* entry, const KeyEvent& event);

  Dataset& data_;
  int64_t now_ms_;
  const ExpiryRule rule_;
  const Origin origin_;
  int64_t judged_ms_;
  size_t first_effect_;  // in the Dataset's Effects
  uint64_t changes_ = 0;
  uint8_t targets_ = JournalEntry::kEverybody;
  std::vector<std::pair<int, std::string>> purge_;
};

}  // namespace respite
