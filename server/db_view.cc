#include "server/db_view.h"

namespace respite {

Entry* DbView::Put(Entry* entry, Bytes key, StringContent content, int64_t deadline_ms) {
  if (entry == nullptr)
    return Data().Add(key, std::move(content), deadline_ms, unit_->floor().access.Fresh(unit_->now_ms()));
  if (entry->Deadline() == deadline_ms) return Data().Assign(entry, std::move(content));
  return Data().SetDeadline(Data().Assign(entry, std::move(content)), deadline_ms);
}

Entry* DbView::Assign(Entry* entry, Bytes key, StringContent content) {
  if (entry == nullptr)
    return Data().Add(key, std::move(content), kNoDeadline, unit_->floor().access.Fresh(unit_->now_ms()));
  return Data().Assign(entry, std::move(content));
}

}  // namespace respite
