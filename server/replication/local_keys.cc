#include "server/replication/local_keys.h"

#include "base/clock.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/key_finder.h"
#include "server/clients/session.h"
#include "server/dataset/unit.h"

namespace respite {

void LocalKeys::OnCall(const FinishedCall& call) {
  if (call.session.kind == SessionKind::kPrimary || !call.command.Is(kWrite)) return;
  const KeyList keys = KeyPositions(call.command.Spec(), call.words);
  for (const KeyRef& key : keys) {
    const Bytes name = call.words[key.index];
    const Entry* entry = parts_.data.keyspace[call.session.db].Find(name);
    if (entry == nullptr || (entry->Deadline() == kNoDeadline && !entry->HasFieldDeadlines())) continue;
    keys_.emplace(call.session.db, name);
  }
}

bool LocalKeys::PurgeIfExpired(const Key& key) {
  const auto& [db, name] = key;
  Entry* entry = parts_.data.keyspace[db].Find(name);
  if (entry == nullptr) return true;
  Unit unit(parts_.data, parts_.clock.WallMs(), ExpiryRule::kPurge);
  if (entry->IsExpired(unit.now_ms())) {
    unit.Purge(db, entry);
    entry = nullptr;
  } else if (entry->HasFieldDeadlines()) {
    entry = unit.PurgeFields(db, entry);
  }
  unit.Close();
  return entry == nullptr || (entry->Deadline() == kNoDeadline && !entry->HasFieldDeadlines());
}

void LocalKeys::RemoveExpired() {
  for (int left = kKeysPerRound; left > 0 && !keys_.empty(); --left) {
    auto at = keys_.lower_bound(next_);
    if (at == keys_.end()) at = keys_.begin();
    const bool is_done = PurgeIfExpired(*at);
    next_ = *at;
    at = is_done ? keys_.erase(at) : std::next(at);
    if (at == keys_.end()) {
      next_ = {};
      return;  // the next round starts with the first key
    }
    next_ = *at;
  }
}

}  // namespace respite
