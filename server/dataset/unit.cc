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

void Unit::RemoveMigratedKey(int db, Entry* entry) {
  EntryPtr taken = Drop(db, entry, "del", "DEL");
  ++changes_;
  ++data_.stats.dirty;
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
    data_.effects.Add(db, words);
  }
  EntryPtr taken = data_.keyspace[db].Take(entry);
  AlsoTouched(db, taken->Key(), event);
  return taken;
}

Entry* Unit::PurgeFields(int db, Entry* entry, size_t limit) {
  Hash hash({ValueSlot(data_.keyspace[db], entry), data_.limits, judged_ms_});
  if (!hash.HasExpired()) return entry;
  WillChange(db, entry->Key(), entry);
  AlsoTouched(db, entry->Key(), "hexpired");
  if (hash.AllExpired()) {
    data_.stats.expired_fields += hash.CountExpired();
    DropExpired(db, entry, "del");
    return nullptr;
  }
  const std::vector<std::string> fields = hash.RemoveExpired(limit);
  data_.stats.expired_fields += fields.size();
  if (IsRecording()) {
    std::vector<Bytes> words = {"HDEL", hash.slot().entry()->Key()};
    words.insert(words.end(), fields.begin(), fields.end());
    data_.effects.Add(db, words);
  }
  return hash.slot().entry();
}

void Unit::Record(int db, const Effect& effect, std::span<const Bytes> arguments) {
  if (!IsRecording() || targets_ == JournalEntry::kNobody) return;
  if (!effect.Replaced()) return data_.effects.Add(db, arguments, targets_);
  for (size_t i = 0; i < effect.Count(); ++i) data_.effects.AddRequest(db, effect[i], targets_);
}

void Unit::PurgeLast() {
  const auto [db, key] = std::move(purge_.back());
  purge_.pop_back();
  if (rule_ == ExpiryRule::kPurge) PurgeListed(db, key);
}

void Unit::PurgeListed(int db, Bytes key) {
  // The command may have stored a new value at the key in the meantime.
  Entry* entry = data_.keyspace[db].Find(key);
  if (entry == nullptr) return;
  if (entry->IsExpired(judged_ms_)) {
    Purge(db, entry);
  } else if (entry->HasTimedFields()) {
    PurgeFields(db, entry);
  }
}

void Unit::PassToJournals(Bond bond) {
  if (rule_ != ExpiryRule::kPurge) purge_.clear();
  for (const auto& [db, key] : purge_) PurgeListed(db, key);
  purge_.clear();
  const size_t end = data_.effects.Count();
  const size_t step = bond == Bond::kApart ? 1 : end - first_effect_;
  for (size_t first = first_effect_; first < end; first += step) {
    data_.journals.Append(UnitEffects(data_.effects, first, step));
  }
  data_.effects.Truncate(first_effect_);
}

}  // namespace respite
