#include "server/lab/report/chart.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "server/catalogue/command_table.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

int LevelOf(const RequestEntry& entry) {
  return (entry.is_in_transaction ? 1 : 0) + (entry.place == Place::kInScript ? 1 : 0);
}

// Returns true for EXEC and for requests that run scripts. Their entries in the journal come after the entries of the
// commands that they ran.
bool RunsOthers(const RequestEntry& entry) {
  if (entry.command == nullptr) return false;
  return entry.command->Is(kNoMandatoryKeys) || entry.command->Spec().transaction == TransactionRole::kExecutes;
}

// Returns true if the filter has a condition that only a request can meet, such as one for the client or the outcome.
// The chart then shows expired keys only if they were locks.
bool MeansRequests(const JournalFilter& filter) {
  const RequestFilter& request = filter.request;
  const ClientFilter& client = request.client;
  return filter.outcome || request.command || request.category != 0 || request.is_in_script ||
         request.is_in_transaction || client.name || client.id || client.user || client.address || client.library;
}

class ChartMaker {
 public:
  ChartMaker(const RequestJournal& journal, const JournalFilter& filter, size_t last)
      : journal_(journal), filter_(filter), last_(last) {}

  Chart Make();

 private:
  void ChooseEntries();
  void AddRows();
  void AddEntry(const RequestEntry& entry);
  void AddColumn(const RequestEntry& entry);
  void NumberRows();
  void AddLocks();
  void AddWaits();
  void SetTimes();
  bool IsShown(const ExpiredKey& expired) const;
  bool IsShown(const LockRecord& lock) const;
  // Returns the height at which the row of this journal entry begins. Heights are in halves of rows: 2n for row n. If
  // no row shows the entry, returns the height of the next entry that is shown.
  size_t Above(uint64_t seq) const;
  // Returns the height of the middle of this journal entry's row, in halves of rows: 2n + 1 for row n. If no row shows
  // the entry, returns the height at which the row of the next shown entry begins.
  size_t Within(uint64_t seq) const;
  size_t EndOf(const LockRecord& lock) const;
  static size_t FreeLane(std::vector<size_t>& lanes, const Chart::Lock& lock);

  const RequestJournal& journal_;
  const JournalFilter& filter_;
  const size_t last_;
  Chart chart_;
  std::vector<const RequestEntry*> entries_;
  uint64_t from_seq_ = 0;
  std::unordered_map<uint64_t, size_t> column_of_;         // by client ID
  std::unordered_set<uint64_t> expired_locks_;             // numbers of the expired keys that are shown as locks
  std::unordered_map<uint64_t, size_t> row_of_expired_;    // by number of the expired key
  std::vector<std::pair<uint64_t, size_t>> row_of_entry_;  // by seq, sorted
};

Chart ChartMaker::Make() {
  ChooseEntries();
  AddRows();
  NumberRows();
  AddLocks();
  AddWaits();
  SetTimes();
  return std::move(chart_);
}

void ChartMaker::ChooseEntries() {
  journal_.ForEach(filter_, [this](const RequestEntry& entry) { entries_.push_back(&entry); });
  chart_.requests = entries_.size();
  chart_.lost = journal_.DroppedCount();
  if (entries_.size() > last_) {
    chart_.hidden_count = entries_.size() - last_;
    entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(last_));
    from_seq_ = entries_.empty() ? journal_.NextSeq() : entries_.front()->seq + 1;
  }
  from_seq_ = std::max(from_seq_, filter_.since.value_or(0));
  for (const RequestEntry* entry : entries_) AddColumn(*entry);
  for (const LockRecord& lock : journal_.keys().locks()) {
    if (lock.expired_key != 0 && IsShown(lock)) expired_locks_.insert(lock.expired_key);
  }
}

void ChartMaker::AddColumn(const RequestEntry& entry) {
  const auto [place, is_new] = column_of_.try_emplace(entry.client->id, chart_.columns.size());
  if (is_new) chart_.columns.emplace_back();
  chart_.columns[place->second].client = entry.client;
}

void ChartMaker::AddRows() {
  const auto& expired_keys = journal_.keys().expired_keys();
  const auto end = expired_keys.end();
  auto expired = end - static_cast<std::ptrdiff_t>(std::min(expired_keys.size(), last_));
  const auto add_expired = [&](uint64_t before) {
    for (; expired != end && expired->at.next_seq <= before; ++expired) {
      if (IsShown(*expired)) chart_.rows.push_back({.entry = nullptr, .expired = &*expired});
    }
  };
  for (const RequestEntry* entry : entries_) {
    add_expired(entry->seq);
    AddEntry(*entry);
  }
  add_expired(UINT64_MAX);
}

void ChartMaker::AddEntry(const RequestEntry& entry) {
  const int level = LevelOf(entry);
  auto place = chart_.rows.end();
  if (RunsOthers(entry)) {
    for (auto row = place; row != chart_.rows.begin();) {
      --row;
      if (row->entry == nullptr) continue;
      const bool is_within = row->level > level && row->entry->client->id == entry.client->id;
      const bool belongs_to_another = row->level == level + 1 && row->has_parent_row;
      if (!is_within || belongs_to_another) break;
      row->has_parent_row = true;
      place = row;
    }
  }
  chart_.rows.insert(place,
                     {.column = column_of_.at(entry.client->id), .entry = &entry, .expired = nullptr, .level = level});
}

void ChartMaker::NumberRows() {
  for (size_t i = 0; i < chart_.rows.size(); ++i) {
    const Chart::Row& row = chart_.rows[i];
    if (row.entry == nullptr) {
      row_of_expired_.emplace(row.expired->number, i);
    } else {
      row_of_entry_.emplace_back(row.entry->seq, i);
    }
  }
  std::ranges::sort(row_of_entry_);
}

bool ChartMaker::IsShown(const ExpiredKey& expired) const {
  if (expired.at.next_seq < from_seq_) return false;
  if (expired_locks_.contains(expired.number)) return true;
  const RequestFilter& request = filter_.request;
  if (request.client.db && *request.client.db != expired.db) return false;
  return !MeansRequests(filter_) && (!request.key || request.key->Matches(expired.key));
}

bool ChartMaker::IsShown(const LockRecord& lock) const {
  if (!column_of_.contains(lock.holder->id)) return false;
  const ClientFilter& client = filter_.request.client;
  if (client.db && *client.db != lock.db) return false;
  const bool is_over = lock.end != LockRecord::End::kHeld && lock.ended.next_seq < from_seq_;
  return !is_over && (!filter_.request.key || filter_.request.key->Matches(lock.key));
}

size_t ChartMaker::Above(uint64_t seq) const {
  const auto place = std::ranges::lower_bound(row_of_entry_, std::pair(seq, size_t{0}));
  return 2 * (place == row_of_entry_.end() ? chart_.rows.size() : place->second);
}

size_t ChartMaker::Within(uint64_t seq) const {
  const auto place = std::ranges::lower_bound(row_of_entry_, std::pair(seq, size_t{0}));
  const bool is_shown = place != row_of_entry_.end() && place->first == seq;
  return Above(seq) + (is_shown ? 1 : 0);
}

size_t ChartMaker::EndOf(const LockRecord& lock) const {
  if (lock.end == LockRecord::End::kHeld) return 2 * chart_.rows.size();
  const auto expired = row_of_expired_.find(lock.expired_key);
  if (expired != row_of_expired_.end()) return 2 * expired->second + 1;
  return lock.ended_by == nullptr ? Above(lock.ended.next_seq) : Within(lock.ended.next_seq);
}

// Chooses the lane (a bar beside the client's column) that shows the lock, and returns its index. It is the leftmost
// lane that is free where the lock begins. If none is free, it is a new lane, or the last one if there are kMaxLanes.
// `lanes`: for each lane, the height at which its last lock ends.
size_t ChartMaker::FreeLane(std::vector<size_t>& lanes, const Chart::Lock& lock) {
  const auto free = std::ranges::find_if(lanes, [&lock](size_t until) { return until <= lock.from; });
  const auto lane = static_cast<size_t>(free - lanes.begin());
  if (free != lanes.end()) {
    *free = lock.to;
  } else if (lanes.size() < Chart::kMaxLanes) {
    lanes.push_back(lock.to);
  }
  return std::min(lane, Chart::kMaxLanes - 1);
}

void ChartMaker::AddLocks() {
  for (const LockRecord& lock : journal_.keys().locks()) {
    if (!IsShown(lock)) continue;
    Chart::Lock shown;
    shown.column = column_of_.at(lock.holder->id);
    shown.from = Within(lock.created_by_entry);
    shown.to = std::max(EndOf(lock), shown.from);
    shown.lock = &lock;
    chart_.locks.push_back(shown);
    const auto expired = row_of_expired_.find(lock.expired_key);
    if (expired != row_of_expired_.end()) chart_.rows[expired->second].column = shown.column;
  }
  std::ranges::stable_sort(chart_.locks, {}, &Chart::Lock::from);
  std::vector<std::vector<size_t>> lanes(chart_.columns.size());
  for (Chart::Lock& lock : chart_.locks) lock.lane = FreeLane(lanes[lock.column], lock);
  for (size_t i = 0; i < lanes.size(); ++i) chart_.columns[i].lanes = lanes[i].size();
}

void ChartMaker::AddWaits() {
  for (size_t i = 0; i < chart_.rows.size(); ++i) {
    const RequestEntry* const entry = chart_.rows[i].entry;
    if (entry == nullptr) continue;
    const bool is_blocked = entry->outcome == RequestEntry::Outcome::kBlocked;
    if (!is_blocked && entry->waited_until == 0) continue;
    Chart::Wait wait;
    wait.column = chart_.rows[i].column;
    wait.from = 2 * i + 1;
    wait.to = std::max(is_blocked ? 2 * chart_.rows.size() : Above(entry->waited_until), wait.from);
    wait.entry = entry;
    chart_.waits.push_back(wait);
  }
}

void ChartMaker::SetTimes() {
  const auto wall_us = [](const Chart::Row& row) {
    return row.entry == nullptr ? row.expired->at.wall_us : row.entry->wall_us;
  };
  if (!chart_.rows.empty()) chart_.begin_us = wall_us(chart_.rows.front());
  for (Chart::Row& row : chart_.rows) row.at_us = wall_us(row) - chart_.begin_us;
}

}  // namespace

Chart MakeSequenceChart(const RequestJournal& journal, const JournalFilter& filter, size_t last) {
  return ChartMaker(journal, filter, last).Make();
}

}  // namespace respite
