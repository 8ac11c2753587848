#include "server/dataset/unit.h"

#include "datatypes/hash.h"

namespace respite {

void Unit::Purge(int db, Entry* entry) {
  ++data_.stats.expired_keys;
  DropExpired(db, entry, "expired");
}

void Unit::Evict(int db, Entry* entry, Bytes verb) {
  ++data_.stats.evicted_keys;
  EntryPtr taken = Drop(db, entry, "evicted", verb);
  if (data_.disposal != nullptr) data_.disposal->FreeEvicted(std::move(taken));
}

EntryPtr Unit::TakeKeyOfSlot(int db, Entry* entry) {
  CountChanges(1);
  return Drop(db, entry, "del", "DEL");
}

void Unit::RemoveKeyOfForeignSlot(int db, Entry* entry) {
  EntryPtr taken = TakeKeyOfSlot(db, entry);
  if (data_.disposal != nullptr) data_.disposal->FreeEvicted(std::move(taken));
}

void Unit::DropExpired(int db, Entry* entry, const KeyEvent& event) {
  EntryPtr taken = Drop(db, entry, event, data_.settings.lazyfree_lazy_expire ? Bytes("UNLINK") : Bytes("DEL"));
  if (data_.disposal != nullptr) data_.disposal->FreeExpired(std::move(taken));
}

EntryPtr Unit::Drop(int db, Entry* entry, const KeyEvent& event, Bytes verb) {
  WillChange(db, entry->Key(), entry);
  if (IsRecording()) {
    const Bytes words[] = {verb, entry->Key()};
    data_.propagated_commands.Add(db, words);
  }
  EntryPtr taken = data_.keyspace[db].Take(entry);
  ReportChangeUncounted(db, taken->Key(), event);
  return taken;
}

Entry* Unit::PurgeFields(int db, Entry* entry, size_t limit) {
  Hash hash({ValueSlot(data_.keyspace[db], entry), data_.limits, expiry_now_ms_});
  if (!hash.HasExpiredFields()) return entry;
  WillChange(db, entry->Key(), entry);
  ReportChangeUncounted(db, entry->Key(), "hexpired");
  if (hash.AreAllFieldsExpired()) {
    data_.stats.expired_fields += hash.CountExpiredFields();
    if (WantsSubkeys()) ReportAllFieldsExpired(db, entry);
    DropExpired(db, entry, "del");
    return nullptr;
  }
  const std::vector<std::string> fields = hash.RemoveExpired(limit);
  data_.stats.expired_fields += fields.size();
  if (WantsSubkeys()) ReportExpiredFields(db, hash.slot().entry()->Key(), fields);
  if (IsRecording()) {
    std::vector<Bytes> words = {"HDEL", hash.slot().entry()->Key()};
    words.insert(words.end(), fields.begin(), fields.end());
    data_.propagated_commands.Add(db, words);
  }
  return hash.slot().entry();
}

void Unit::ReportExpiredFields(int db, Bytes key, const std::vector<std::string>& fields) {
  const std::vector<Bytes> words(fields.begin(), fields.end());
  ReportSubkeys(db, key, "hexpired", {words});
}

void Unit::ReportAllFieldsExpired(int db, Entry* entry) {
  // This Hash shows all fields, also the expired ones, because no deadline has passed at the time INT64_MIN.
  const Hash hash({ValueSlot(data_.keyspace[db], entry), data_.limits, INT64_MIN});
  std::vector<std::string> fields;
  hash.ForEach([&](Bytes field, Bytes) { fields.emplace_back(field); });
  ReportExpiredFields(db, entry->Key(), fields);
}

void Unit::Record(int db, const Propagation& effect, std::span<const Bytes> arguments) {
  if (!IsRecording() || targets_ == JournalEntry::kNobody) return;
  if (!effect.IsReplaced()) return data_.propagated_commands.Add(db, arguments, targets_);
  for (size_t i = 0; i < effect.Count(); ++i) {
    const uint8_t alone = effect.IsAlone(i) ? JournalEntry::kAlone : 0;
    data_.propagated_commands.AddRequest(db, effect[i], static_cast<uint8_t>(targets_ | alone));
  }
}

void Unit::NoteKeyToPurge(int db, Bytes key) {
  if (keys_to_purge_ == nullptr) keys_to_purge_ = std::make_unique<KeysToPurge>();
  keys_to_purge_->Add(db, key);
}

void Unit::PurgeLast() {
  const auto [db, key] = keys_to_purge_->TakeLast();
  PurgeIfExpired(db, key);
}

void Unit::PurgeIfExpired(int db, Bytes key) {
  // Looks the key up again, because the command may have stored a new value after it found the expired one. The new
  // value may not have expired.
  Entry* entry = data_.keyspace[db].Find(key);
  if (entry == nullptr) return;
  if (entry->IsExpired(expiry_now_ms_)) {
    Purge(db, entry);
  } else if (entry->HasFieldDeadlines()) {
    PurgeFields(db, entry);
  }
}

void Unit::MarkModified(int db, Bytes key) {
  Entry* entry = data_.keyspace[db].Find(key);
  if (entry != nullptr) entry->SetAccess(data_.usage.BitsForNewKey(now_ms_));
}

void Unit::PassToJournals(Grouping grouping) {
  if (keys_to_purge_ != nullptr) {
    for (const auto& [db, key] : keys_to_purge_->All()) PurgeIfExpired(db, key);
    keys_to_purge_.reset();
  }
  const size_t end = data_.propagated_commands.Count();
  const size_t step = grouping == Grouping::kApart ? 1 : end - first_own_command_;
  for (size_t first = first_own_command_; first < end; first += step) {
    data_.journals.Append(PropagatedGroup(data_.propagated_commands, first, step));
  }
  data_.propagated_commands.Truncate(first_own_command_);
}

}  // namespace respite
