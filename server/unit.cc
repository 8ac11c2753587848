#include "server/unit.h"

namespace respite {

void Unit::Purge(int db, Entry* entry) {
  ++floor_.stats.expired_keys;
  if (Recorded()) floor_.journal->Append(db, {"DEL", std::string(entry->Key())});
  EntryPtr taken = floor_.keyspace[db].Take(entry);
  if (floor_.disposal != nullptr) floor_.disposal->Expired(std::move(taken));
}

void Unit::Record(int db, const Effect& effect, std::span<const Bytes> words) {
  if (!Recorded()) return;
  if (!effect.Replaced()) return floor_.journal->Append(db, {words.begin(), words.end()});
  for (const auto& command : effect.Commands()) floor_.journal->Append(db, command);
}

void Unit::Close() {
  if (floor_.purges_held) purge_.clear();
  for (const auto& [db, key] : purge_) {
    // The command may have given the key a new life since.
    Entry* entry = floor_.keyspace[db].Find(key);
    if (entry != nullptr && entry->IsExpired(now_ms_)) Purge(db, entry);
  }
  purge_.clear();
}

}  // namespace respite
