// Unit: one atomic execution of a command, or of an EXEC or a script with all its commands.
//
// Edits report changes to the Unit, which notifies the ChangeListener immediately. When the Unit closes, it first
// purges the expired keys and fields that reads found. Then it passes all propagated commands to the journals, usually
// as one group. The Unit's time is fixed when it begins.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "server/dataset/dataset.h"

namespace respite {

enum class ExpiryRule : uint8_t {  // how a Unit (atomic execution) treats expired keys and fields
  kPurge,                          // absent; removed and recorded when found
  kHide,                           // absent; only writes remove them: on a replica, during CLIENT PAUSE or import-mode
  kIgnoreDeadlines,                // present until a replayed command removes them: files and streams
};

class Unit {  // one atomic execution of a command, or of an EXEC or script with all its commands
 public:
  // Where the commands of a Unit come from. kClient: a client sent them. kReplayed: they are replayed from a file, or
  // come from another server that has already accepted them.
  enum class Origin : uint8_t { kClient, kReplayed };  // where the Unit's commands come from
  // How Close passes the propagated commands to the journals. kTogether: as one group, which is replayed all or not at
  // all. kApart: each alone, for commands that do not depend on each other. Examples are removals of expired keys by
  // SCAN or active expiry, and removals of keys in slots that this node does not own.
  enum class Grouping : uint8_t { kTogether, kApart };  // kApart: each command is replayed alone

  Unit(Dataset& data, int64_t now_ms, ExpiryRule rule, Origin origin = Origin::kClient)
      : data_(data),
        now_ms_(now_ms),
        rule_(rule),
        origin_(origin),
        expiry_now_ms_(rule == ExpiryRule::kIgnoreDeadlines ? INT64_MIN : now_ms),
        first_own_command_(data.propagated_commands.Count()) {}
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  int64_t now_ms() const { return now_ms_; }  // Unix time when this execution (Unit) began
  // Returns the time with which deadlines are compared: a key with an earlier deadline has expired. Returns INT64_MIN
  // under ExpiryRule::kIgnoreDeadlines, because then no key expires.
  int64_t expiry_now_ms() const {  // keys with earlier deadlines have expired; INT64_MIN: no key has (replay, imports)
    return expiry_now_ms_;
  }
  Dataset& data() { return data_; }
  // Returns whether the commands are replayed from a file or another server. Such commands were acknowledged, so they
  // must succeed again regardless of the current directives. Limits for clients do not apply to them.
  bool IsReplaying() const {  // commands come from a file or another server, so limits do not apply
    return origin_ == Origin::kReplayed;
  }
  bool IsRecording() const { return data_.journals.IsRecording(); }  // whether any journal receives commands

  // Tells the keeper of old values (OldValueKeeper) that a key is about to change. `entry` is the current value of the
  // key; null if the key does not exist.
  void WillChange(int db, Bytes key, const Entry* entry) {  // tells the OldValueKeeper before a key changes
    if (data_.keeper != nullptr) data_.keeper->BeforeChange(db, key, entry);
  }
  // Reports that the running command changed a key. As in Redis, some commands count several changes to one key in
  // rdb_changes_since_last_save.
  void ReportChange(int db, Bytes key, const KeyEvent& event, uint64_t changes = 1) {  // a command changed the key
    CountChanges(changes);
    ReportChangeUncounted(db, key, event);
  }
  void ReportChangeUncounted(int db, Bytes key, const KeyEvent& event) {  // reports one more event of a counted change
    if (data_.usage.IsLrm()) MarkModified(db, key);
    if (data_.listener == nullptr) return;
    data_.listener->OnChange(db, key);
    data_.listener->OnEvent(db, key, event);
  }
  void ReportChangeWithoutEvent(int db, Bytes key) {  // reports a change that has no event (PFCOUNT)
    CountChanges(1);
    if (data_.usage.IsLrm()) MarkModified(db, key);
    if (data_.listener != nullptr) data_.listener->OnChange(db, key);
  }
  // Reports that a command has replaced the whole value of a key, whose old value had the type `before`. ReportChange
  // must also be called.
  // Sends the event "overwritten" and, if `before` and `after` differ, "type_changed".
  void ReportOverwrite(int db, Bytes key, ValueType before, ValueType after) {  // sends one or two keyspace events
    if (data_.listener == nullptr) return;
    data_.listener->OnEvent(db, key, "overwritten");
    if (before != after) data_.listener->OnEvent(db, key, "type_changed");
  }
  void CountChanges(uint64_t changes) {  // counts changes (INFO), so that the command is propagated; no event
    changes_ += changes;
    data_.stats.dirty += changes;
  }
  void ReportEvent(int db, Bytes key, const KeyEvent& event) {  // sends a keyspace event without counting a change
    if (data_.listener != nullptr) data_.listener->OnEvent(db, key, event);
  }
  // Returns whether clients get the fields of changed hashes (subkey events of notify-keyspace-events).
  bool WantsSubkeys() const {  // true: clients get the fields of changed hashes
    return data_.listener != nullptr && data_.listener->WantsSubkeys();
  }
  // Reports which fields of a hash an event concerned. The event itself must have been reported. Cost: two comparisons
  // if no client wants them.
  void ReportSubkeys(int db, Bytes key, const KeyEvent& event, const Subkeys& fields) {  // sends the subkey events
    if (WantsSubkeys() && !fields.words.empty()) data_.listener->OnSubkeys(db, key, event, fields);
  }
  // Wakes the clients that are blocked on a stream, although the value of the key has not changed. After XGROUP
  // DESTROY, they get an error; after XNACK, they may claim entries. (ReportChange also wakes clients, but counts for
  // WATCH.)
  void Wake(int db, Bytes key) {
    if (data_.listener != nullptr) data_.listener->OnWake(db, key);
  }
  // Reports that a key was created. ReportChange must also be called, for the value that the key got.
  void ReportNewKey(int db, Bytes key) {  // sends the keyspace event "new"
    if (data_.listener != nullptr) data_.listener->OnEvent(db, key, "new");
  }
  // Counts a read that found no key, and sends the event "keymiss". If the key has expired, first removes it (under
  // ExpiryRule::kPurge), so that its event "expired" comes before "keymiss". Because of this removal, must not be
  // called during iteration.
  void ReportMiss(int db, Bytes key) {  // counts a read that found no key, and sends "keymiss"
    ++data_.stats.misses;
    if (data_.listener == nullptr) return;
    if (keys_to_purge_ != nullptr && keys_to_purge_->IsLast(db, key)) PurgeLast();
    data_.listener->OnEvent(db, key, "keymiss");
  }
  // Reports that these databases are about to lose all their keys, `keys` in total. As in Redis, the flush adds `keys`
  // to rdb_changes_since_last_save, and is propagated even if there are no keys.
  void ReportFlush(std::span<const int> dbs, size_t keys) {  // called before a flush removes `keys` keys in total
    if (data_.listener != nullptr) data_.listener->OnFlush(dbs);
    ++changes_;
    data_.stats.dirty += keys;
  }
  void ReportSwap(int one, int other) {  // reports that SWAPDB has swapped these databases
    if (data_.listener != nullptr) data_.listener->OnSwap(one, other);
    CountChanges(1);
  }
  uint64_t ChangeCount() const { return changes_; }  // number of changes reported and counted so far

  void Purge(int db, Entry* entry);  // removes an expired key now, and propagates the removal
  // A script may read the same expired key any number of times, so each key is noted once. Cost: O(log noted keys).
  void PurgeLater(int db, Bytes key) {  // Close will remove what is expired of the key (only under kPurge)
    if (rule_ == ExpiryRule::kPurge) NoteKeyToPurge(db, key);
  }
  // Removes at most `limit` expired fields of a hash, or the whole hash if all fields have expired. Returns the hash's
  // new entry, or null if the hash was removed. Requires: the entry has deadlines on fields. Cost: O(expired fields).
  Entry* PurgeFields(int db, Entry* entry, size_t limit = SIZE_MAX);  // removes expired fields; null: no field is left
  // Removes a key of a slot that is flushed (CLUSTER FLUSHSLOT), or that this node does not own. Counts a change, and
  // propagates a DEL. The caller frees the returned entry.
  EntryPtr TakeKeyOfSlot(int db, Entry* entry);       // removes a key, and propagates DEL; the caller frees the entry
  void RemoveKeyOfForeignSlot(int db, Entry* entry);  // removes a key of a slot that this node does not own
  void Evict(int db, Entry* entry, Bytes verb);       // evicts the key, and propagates `verb`: DEL or UNLINK

  // Adds the running command (`arguments`), or the commands with which `effect` replaces it, to the commands that this
  // Unit propagates.
  void Record(int db, const Propagation& effect, std::span<const Bytes> arguments);  // adds to the propagated commands
  void RecordForReplicas(int db, std::span<const Bytes> arguments) {  // propagates to replicas, but not to the AOF
    if (IsRecording()) data_.propagated_commands.Add(db, arguments, JournalEntry::kReplicas & targets_);
  }
  void SetPropagationTargets(uint8_t targets) { targets_ = targets; }  // for redis.set_repl: who gets later commands
  void DropRecordedCommands() {  // discards the commands to propagate, because the server stops
    data_.propagated_commands.Truncate(first_own_command_);
  }
  // Ends the execution. Removes the expired keys that reads found (only with ExpiryRule::kPurge), and passes the
  // recorded commands to the journals (append-only file, replication). kTogether: as one group, which is replayed
  // completely or not at all. kApart: each command as a group of its own. The Unit may be used again, but ChangeCount
  // is not reset.
  void Close(Grouping grouping = Grouping::kTogether) {  // ends the execution: passes its commands to the journals
    if (keys_to_purge_ != nullptr || data_.propagated_commands.Count() != first_own_command_) PassToJournals(grouping);
  }

 private:
  class KeysToPurge {  // expired keys, or hashes with expired fields, that reads found; each once, in order
   public:
    void Add(int db, Bytes key) {
      if (known_.contains({db, key})) return;
      list_.emplace_back(db, key);
      known_.emplace(db, list_.back().second);
    }
    bool IsLast(int db, Bytes key) const {  // true: this key was added last
      return !list_.empty() && list_.back().first == db && list_.back().second == key;
    }
    std::pair<int, std::string> TakeLast() {  // removes and returns the key that was added last; requires: there is one
      known_.erase({list_.back().first, list_.back().second});
      std::pair<int, std::string> last = std::move(list_.back());
      list_.pop_back();
      return last;
    }
    const std::list<std::pair<int, std::string>>& All() const { return list_; }  // database and name of each key

   private:
    std::list<std::pair<int, std::string>> list_;  // a list, because known_ refers to its texts
    std::set<std::pair<int, Bytes>> known_;        // the keys in list_
  };

  void NoteKeyToPurge(int db, Bytes key);  // adds to keys_to_purge_
  void MarkModified(int db, Bytes key);    // sets the last-modified time (LRM) of the key to now, if the key exists
  void PassToJournals(Grouping grouping);  // the work of Close: purges keys, passes the commands to the journals
  void PurgeLast();                        // removes the last item of keys_to_purge_, and purges that key
  void PurgeIfExpired(int db, Bytes key);  // removes a key, or fields of a hash, if expired
  // Removes and returns a key that has expired, is evicted, or whose slot is flushed or migrated. Notifies listeners,
  // and propagates the removal as the command `verb` (DEL or UNLINK).
  EntryPtr Drop(int db, Entry* entry, const KeyEvent& event, Bytes verb);
  void DropExpired(int db, Entry* entry, const KeyEvent& event);  // removes an expired key and frees its value
  void ReportExpiredFields(int db, Bytes key, const std::vector<std::string>& fields);  // sends subkey events hexpired
  void ReportAllFieldsExpired(int db, Entry* entry);  // sends subkey events hexpired with all fields of the hash

  Dataset& data_;
  int64_t now_ms_;  // Unix time when this execution began
  const ExpiryRule rule_;
  const Origin origin_;                         // whether a client sent the commands, or they are replayed
  int64_t expiry_now_ms_;                       // keys with an earlier deadline have expired; INT64_MIN: none has
  size_t first_own_command_;                    // index of this Unit's first command in Dataset::propagated_commands
  uint64_t changes_ = 0;                        // number of changes that this execution has counted
  uint8_t targets_ = JournalEntry::kEverybody;  // bits of JournalEntry::Target: who gets the following commands
  std::unique_ptr<KeysToPurge> keys_to_purge_;  // what Close must purge, under kPurge; null: nothing
};

}  // namespace respite
