#include "server/execution/hot_keys.h"

#include <algorithm>

#include "base/clock.h"
#include "base/key_slot.h"
#include "base/random.h"
#include "server/catalogue/key_finder.h"
#include "server/clients/session.h"

namespace respite {

namespace {

int64_t Milliseconds(const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; }

}  // namespace

void HotKeySums::Add(Bytes key, uint64_t amount) {
  total_ += amount;
  const auto found = sums_.find(key);
  if (found != sums_.end()) {
    found->second += amount;
    return;
  }
  uint64_t inherited = 0;
  if (sums_.size() >= kMaxKeys) {
    const auto smallest = std::ranges::min_element(
        sums_, {}, [](const std::pair<const std::string, uint64_t>& item) { return item.second; });
    inherited = smallest->second;
    sums_.erase(smallest);
  }
  sums_.emplace(std::string(key), inherited + amount);
}

std::vector<HotKeySums::Item> HotKeySums::Largest(size_t count) const {
  std::vector<Item> items(sums_.begin(), sums_.end());
  const auto is_larger = [](const Item& one, const Item& other) {
    return one.second != other.second ? one.second > other.second : one.first < other.first;
  };
  count = std::min(count, items.size());
  std::partial_sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count), items.end(), is_larger);
  items.resize(count);
  return items;
}

void HotKeys::Start(Options options) {
  results_ = {};
  results_.options = std::move(options);
  results_.started_wall_ms = parts_.env.clock.WallMs();
  started_ms_ = parts_.env.clock.MonotonicMs();
  getrusage(RUSAGE_SELF, &usage_at_start_);
  has_results_ = is_active_ = true;
  parts_.observers.Attach(*this);
}

void HotKeys::Stop() {
  NoteTimes();
  is_active_ = false;
  parts_.observers.Detach(*this);
}

bool HotKeys::IsActive() {
  const int64_t limit_ms = results_.options.duration_ms;
  if (is_active_ && limit_ms != 0 && parts_.env.clock.MonotonicMs() - started_ms_ >= limit_ms) {
    Stop();
    results_.duration_ms = limit_ms;
  }
  return is_active_;
}

const HotKeys::Results& HotKeys::results() {
  if (IsActive()) NoteTimes();
  return results_;
}

void HotKeys::NoteTimes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  results_.duration_ms = parts_.env.clock.MonotonicMs() - started_ms_;
  results_.cpu_user_ms = Milliseconds(usage.ru_utime) - Milliseconds(usage_at_start_.ru_utime);
  results_.cpu_sys_ms = Milliseconds(usage.ru_stime) - Milliseconds(usage_at_start_.ru_stime);
}

bool HotKeys::IsSelected(Bytes key) const {
  return results_.options.slots.empty() || std::ranges::binary_search(results_.options.slots, KeySlot(key));
}

void HotKeys::OnCall(const FinishedCall& call) {
  if (call.session.IsScript() || !IsActive()) return;
  const KeyList keys = KeyPositions(call.command.Spec(), call.words);
  if (keys.IsEmpty()) return;
  const Sums amount = {.duration_us = static_cast<uint64_t>(std::max<int64_t>(call.duration_us, 0)),
                       .net_bytes = RequestBytes(call.words) + call.reply_bytes};
  results_.all_commands.Add(amount);
  const auto is_selected = [&](const KeyRef& key) { return IsSelected(call.words[key.index]); };
  if (std::ranges::none_of(keys, is_selected)) return;
  results_.selected.Add(amount);
  const auto ratio = static_cast<uint64_t>(results_.options.sample_ratio);
  if (ratio > 1 && parts_.random.Below(ratio) != 0) return;
  results_.sampled.Add(amount);
  for (const KeyRef& key : keys) {
    if (!is_selected(key)) continue;
    if (results_.options.by_cpu_time) results_.cpu_us.Add(call.words[key.index], amount.duration_us / keys.Size());
    if (results_.options.by_net_bytes) results_.net_bytes.Add(call.words[key.index], amount.net_bytes / keys.Size());
  }
}

}  // namespace respite
