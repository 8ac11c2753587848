// The texts that HtmlReport and TextReport show: readable UTF-8, not yet escaped for HTML.
#pragma once

#include <cstdint>
#include <string>

#include "server/lab/report/chart.h"

namespace respite {

std::string ClientText(const RequestOwner& client);             // the client's name, or "id=7" without a name
std::string EntryText(const RequestEntry& entry, size_t most);  // the request, shortened to about `most` bytes
std::string EndText(const RequestEntry& entry);  // outcome: "error ERR …", "blocked", "key exists" …; empty if "ok"
std::string ExpiredText(const ExpiredKey& expired);  // says that the key has expired: "lock:1 expired"
std::string EndText(const LockRecord& lock);  // what became of the lock: "still held", "expired", "deleted by worker-2"
std::string KeyText(int db, Bytes key);     // the key, shortened, such as "lock:1"; with its database unless that is 0
std::string MillisecondsText(int64_t us);   // `us` microseconds as milliseconds, with three decimals: "1500.000"
std::string WallTimeText(int64_t wall_us);  // Unix time in µs as date and time: "2026-01-31 12:00:00.000 UTC"
std::string SummaryText(const Chart& chart);  // such as "12 requests of 3 clients from … on, 1 lock, 2 keys expired"

}  // namespace respite
