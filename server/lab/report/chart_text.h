// The texts of a chart that its writers share: readable UTF-8, not yet escaped for HTML.
#pragma once

#include <cstdint>
#include <string>

#include "server/lab/report/chart.h"

namespace respite {

// Returns the client's name, or "id=7".
std::string ClientText(const RequestOwner& client);
// Returns the words as they would be typed, shortened to about `most` bytes.
std::string EntryText(const RequestEntry& entry, size_t most);
// Returns the result of a request unless it is "ok": "error ERR ...", "blocked", "fault NAME", "key exists".
std::string EndText(const RequestEntry& entry);
// "lock:1 expired".
std::string ExpiredText(const ExpiredKey& expired);
// "held", "expired", "deleted by worker-2" and similar.
std::string EndText(const HeldLock& lock);
// "lock:1", with its database unless that is 0.
std::string KeyText(int db, Bytes key);
// Milliseconds with three decimals: "1500.000".
std::string MillisecondsText(int64_t us);
// "2026-01-31 12:00:00.000 UTC".
std::string WallTimeText(int64_t wall_us);
// "12 requests of 3 clients from ... on, 1 lock, 2 expired keys".
std::string SummaryText(const Chart& chart);

}  // namespace respite
