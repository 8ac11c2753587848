#include "server/lab/report/chart_text.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/str_cat.h"
#include "server/lab/report/shown_text.h"

namespace respite {

namespace {

constexpr size_t kNameMost = 60;

std::string Counted(uint64_t count, const std::string& what, const std::string& plural) {
  return StrCat(count, " ", count == 1 ? what : plural);
}

std::string EndedBy(const LockRecord& lock, const std::string& what) {
  if (lock.ended_by == nullptr) return what;
  return what + " by " + ClientText(*lock.ended_by);
}

}  // namespace

std::string ClientText(const RequestOwner& client) {
  if (client.name.empty()) return StrCat("id=", client.id);
  return Shortened(PlainText(client.name), kNameMost);
}

std::string EntryText(const RequestEntry& entry, size_t most) {
  std::string text;
  const std::vector<Bytes> words = entry.Words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (text.size() > most) return text + " ... (" + Counted(words.size() - i, "more word)", "more words)");
    if (i != 0) text += ' ';
    text += PlainWord(words[i].substr(0, most));
    if (words[i].size() > most) text += "...";
  }
  return text;
}

std::string EndText(const RequestEntry& entry) {
  const bool is_plain = entry.outcome == RequestEntry::Outcome::kOk;
  if (is_plain && entry.lock == KeyHistory::LockAttempt::kMissed) return "key exists";
  return is_plain ? "" : PlainText(entry.OutcomeText());
}

std::string ExpiredText(const ExpiredKey& expired) { return KeyText(expired.db, expired.key) + " expired"; }

std::string EndText(const LockRecord& lock) {
  switch (lock.end) {
    case LockRecord::End::kHeld:
      return "still held";
    case LockRecord::End::kDeleted:
      return EndedBy(lock, "deleted");
    case LockRecord::End::kExpired:
      return "expired";
    case LockRecord::End::kEvicted:
      return "evicted";
    case LockRecord::End::kOverwritten:
      return EndedBy(lock, "overwritten");
    case LockRecord::End::kFlushed:
      return EndedBy(lock, "flushed");
    case LockRecord::End::kServerKilled:
      break;
  }
  return "unknown since the server was killed";
}

std::string KeyText(int db, Bytes key) {
  const std::string text = Shortened(PlainWord(key), 80);
  return db == 0 ? text : StrCat(text, " (db ", db, ")");
}

std::string MillisecondsText(int64_t us) {
  char text[40];
  const int64_t size = us < 0 ? -us : us;
  std::snprintf(text, sizeof text, "%s%lld.%03lld", us < 0 ? "-" : "", static_cast<long long>(size / 1000),
                static_cast<long long>(size % 1000));
  return text;
}

std::string WallTimeText(int64_t wall_us) {
  const int64_t ms = wall_us / 1000;
  const auto seconds = static_cast<time_t>(ms / 1000);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[40];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03d UTC", static_cast<int>(ms % 1000));
  return text;
}

std::string SummaryText(const Chart& chart) {
  if (chart.rows.empty()) return "no requests";
  const auto expired = std::ranges::count_if(chart.rows, [](const auto& row) { return row.entry == nullptr; });
  std::string text = Counted(chart.requests, "request", "requests") + " of " +
                     Counted(chart.columns.size(), "client", "clients") + " from " + WallTimeText(chart.begin_us) +
                     " on";
  if (!chart.locks.empty()) text += ", " + Counted(chart.locks.size(), "lock", "locks");
  if (expired != 0) text += ", " + Counted(static_cast<uint64_t>(expired), "key expired", "keys expired");
  if (chart.hidden_count != 0) StrAppend(text, "; the first ", chart.hidden_count, " are left out");
  if (chart.lost != 0) StrAppend(text, "; the journal has lost ", chart.lost, " before them");
  return text;
}

}  // namespace respite
