#include "server/runtime/stats.h"

#include <algorithm>

namespace respite {

void InstantRate::Sample(uint64_t counter, int64_t base) {
  int64_t elapsed = base - last_base_;
  if (last_base_ != 0 && counter >= last_counter_) {
    samples_[next_] = elapsed > 0 ? static_cast<double>(counter - last_counter_) / static_cast<double>(elapsed) : 0;
    next_ = (next_ + 1) % kSamples;
  }
  last_counter_ = counter;
  last_base_ = base;
}

double InstantRate::MeanRatio() const {
  double sum = 0;
  for (double sample : samples_) sum += sample;
  return sum / kSamples;
}

void RecentPeak::Note(size_t bytes, int64_t now_s) {
  Slot& slot = slots_[static_cast<uint64_t>(now_s) % kSeconds];
  if (slot.second != now_s) slot = {.second = now_s, .bytes = 0};
  slot.bytes = std::max(slot.bytes, bytes);
}

size_t RecentPeak::Most(int64_t now_s) const {
  size_t most = 0;
  for (const Slot& slot : slots_) {
    if (now_s - slot.second < static_cast<int64_t>(kSeconds)) most = std::max(most, slot.bytes);
  }
  return most;
}

void ServerStats::CountError(Bytes text) {
  constexpr size_t kCodeBytesMax = 30;  // Redis: an error code ends within the first 32 bytes, including '-'
  ++error_replies;
  size_t end = text.substr(0, kCodeBytesMax + 1).find(' ');
  Bytes kind = end == Bytes::npos ? Bytes("ERR") : text.substr(0, end);
  auto found = errors.find(kind);
  if (found == errors.end()) {
    if (errors.size() >= kMaxErrorKinds) return;
    found = errors.emplace(std::string(kind), 0).first;
  }
  ++found->second;
}

void ServerStats::CountTurn(int64_t duration_us) {
  uint64_t duration = static_cast<uint64_t>(std::max<int64_t>(duration_us, 0));
  ++turns;
  turn_us += duration;
  longest_turn_us = std::max(longest_turn_us, duration);
  max_commands_in_turn = std::max(max_commands_in_turn, commands - std::min(commands, commands_before_turn));
  commands_before_turn = commands;
}

void ServerStats::CountFork(int64_t duration_us) {
  ++forks;
  last_fork_us = static_cast<uint64_t>(std::max<int64_t>(duration_us, 0));
}

void ServerStats::SampleRates(int64_t now_us) {
  ops.Sample(commands, now_us);
  input.Sample(net_input_bytes, now_us);
  output.Sample(net_output_bytes, now_us);
  turn_rate.Sample(turns, now_us);
  turn_length.Sample(turn_us, static_cast<int64_t>(turns));
}

void ServerStats::NotePeakMemory(size_t used_bytes, int64_t now_s) {
  if (used_bytes <= peak_memory_bytes) return;
  peak_memory_bytes = used_bytes;
  peak_memory_time_s = now_s;
}

void ServerStats::Reset() {
  ServerStats fresh;
  fresh.startup_memory_bytes = startup_memory_bytes;
  fresh.peak_memory_bytes = peak_memory_bytes;
  fresh.peak_memory_time_s = peak_memory_time_s;
  fresh.client_input = client_input;
  fresh.client_output = client_output;
  *this = std::move(fresh);
}

}  // namespace respite
