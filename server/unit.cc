#include "server/unit.h"

#include "datatypes/hash.h"

namespace respite {

void Unit::Purge(int db, Entry* entry) {
  ++floor_.stats.expired_keys;
  Drop(db, entry, "expired");
}

void Unit::Drop(int db, Entry* entry, KeyEvent event) {
  if (Recorded()) effects_.push_back({db, {"DEL", std::string(entry->Key())}});
  EntryPtr taken = floor_.keyspace[db].Take(entry);
  AlsoTouched(db, taken->Key(), event);
  if (floor_.disposal != nullptr) floor_.disposal->Expired(std::move(taken));
}

Entry* Unit::PurgeFields(int db, Entry* entry, size_t limit) {
  Hash hash({ValueSlot(floor_.keyspace[db], entry), floor_.limits, now_ms_});
  if (!hash.HasExpired()) return entry;
  AlsoTouched(db, entry->Key(), "hexpired");
  if (hash.AllExpired()) {
    floor_.stats.expired_fields += hash.CountExpired();
    Drop(db, entry, "del");
    return nullptr;
  }
  std::vector<std::string> words = hash.RemoveExpired(limit);
  floor_.stats.expired_fields += words.size();
  if (Recorded()) {
    const std::string head[] = {"HDEL", std::string(hash.slot().entry()->Key())};
    words.insert(words.begin(), std::begin(head), std::end(head));
    effects_.push_back({db, std::move(words)});
  }
  return hash.slot().entry();
}

void Unit::Record(int db, const Effect& effect, std::span<const Bytes> words) {
  if (!Recorded() || targets_ == JournalEntry::kNobody) return;
  if (!effect.Replaced()) return effects_.push_back({db, {words.begin(), words.end()}, targets_});
  for (const auto& command : effect.Commands()) effects_.push_back({db, command, targets_});
}

void Unit::PurgeLast() {
  const auto [db, key] = std::move(purge_.back());
  purge_.pop_back();
  if (!floor_.purges_held) PurgeListed(db, key);
}

void Unit::PurgeListed(int db, Bytes key) {
  // The command may have given the key a new life since.
  Entry* entry = floor_.keyspace[db].Find(key);
  if (entry == nullptr) return;
  if (entry->IsExpired(now_ms_)) {
    Purge(db, entry);
  } else if (entry->HasTimedFields()) {
    PurgeFields(db, entry);
  }
}

void Unit::Close() {
  if (floor_.purges_held) purge_.clear();
  for (const auto& [db, key] : purge_) PurgeListed(db, key);
  purge_.clear();
  if (!effects_.empty()) floor_.journal->Append(effects_);
  effects_.clear();
}

}  // namespace respite
