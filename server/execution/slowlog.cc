#include "server/execution/slowlog.h"

#include <algorithm>

#include "server/clients/running.h"
#include "server/clients/session.h"
#include "server/config/settings.h"

namespace respite {

void SlowLog::AdoptThreshold() {
  const int64_t from_us = parts_.settings.slowlog_log_slower_than;
  if (from_us < 0) return parts_.observers.Detach(*this);
  parts_.observers.Attach(*this, from_us);
}

void SlowLog::Trim() {
  const auto most = static_cast<size_t>(std::max<int64_t>(parts_.settings.slowlog_max_len, 0));
  while (records_.size() > most) records_.pop_back();
}

void SlowLog::OnCall(const FinishedCall& call) {
  if (call.command.Is(kSkipSlowlog)) return;
  records_.push_front({.id = next_id_++,
                       .unix_time_s = parts_.running.WallMs() / 1000,
                       .duration_us = call.duration_us,
                       .words = Shorten(ShownWords(call.session, call.words)),
                       .peer = call.session.addresses.peer,
                       .client_name = call.session.identity.name});
  Trim();
}

std::vector<std::string> SlowLog::Shorten(std::span<const Bytes> words) {
  std::vector<std::string> kept;
  size_t whole = words.size() > kWordsMax ? kWordsMax - 1 : words.size();
  kept.reserve(std::min(words.size(), kWordsMax));
  for (Bytes word : words.first(whole)) {
    std::string text(word.substr(0, kWordBytesMax));
    if (word.size() > kWordBytesMax) text += "... (" + std::to_string(word.size() - kWordBytesMax) + " more bytes)";
    kept.push_back(std::move(text));
  }
  if (whole < words.size()) kept.push_back("... (" + std::to_string(words.size() - whole) + " more arguments)");
  return kept;
}

}  // namespace respite
