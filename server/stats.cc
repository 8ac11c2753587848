#include "server/stats.h"

namespace respite {

void InstantRate::Sample(uint64_t counter, int64_t now_us) {
  int64_t elapsed_us = now_us - last_us_;
  if (last_us_ != 0 && elapsed_us > 0 && counter >= last_counter_) {
    samples_[next_] = static_cast<double>(counter - last_counter_) * 1e6 / static_cast<double>(elapsed_us);
    next_ = (next_ + 1) % kSamples;
  }
  last_counter_ = counter;
  last_us_ = now_us;
}

double InstantRate::PerSecond() const {
  double sum = 0;
  for (double sample : samples_) sum += sample;
  return sum / kSamples;
}

void ServerStats::CountError(Bytes text) {
  ++error_replies;
  Bytes kind = text.substr(0, text.find(' '));
  auto found = errors.find(kind);
  if (found == errors.end()) found = errors.emplace(std::string(kind), 0).first;
  ++found->second;
}

}  // namespace respite
