#include "server/execution/command_log.h"

#include <algorithm>
#include <limits>

#include "base/str_cat.h"
#include "protocol/request_text.h"
#include "server/catalogue/dialect.h"
#include "server/clients/current_execution.h"
#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/runtime/latency.h"

namespace respite {

namespace {

constexpr CommandLog::LogKind kSlow = {
    .name = "slow",
    .from = &Settings::slowlog_log_slower_than,
    .max_records = &Settings::slowlog_max_len,
    .thresholds = [](int64_t from) { return CallThresholds{.reported_from_us = from}; },
    .measured_amount = [](const FinishedCall& call) { return call.duration_us; },
};
constexpr CommandLog::LogKind kLargeRequest = {
    .name = "large-request",
    .from = &Settings::commandlog_request_larger_than,
    .max_records = &Settings::commandlog_large_request_max_len,
    .thresholds = [](int64_t from) { return CallThresholds{.reported_from_request_bytes = static_cast<size_t>(from)}; },
    .measured_amount = [](const FinishedCall& call) { return static_cast<int64_t>(RequestBytes(call.words)); },
};
constexpr CommandLog::LogKind kLargeReply = {
    .name = "large-reply",
    .from = &Settings::commandlog_reply_larger_than,
    .max_records = &Settings::commandlog_large_reply_max_len,
    .thresholds = [](int64_t from) { return CallThresholds{.reported_from_reply_bytes = static_cast<size_t>(from)}; },
    .measured_amount = [](const FinishedCall& call) { return static_cast<int64_t>(call.reply_bytes); },
};

}  // namespace

void CommandLog::ApplyConfiguredLimit() {
  const int64_t from = parts_.env.settings.*kind_.from;
  if (from < 0) return parts_.observers.Detach(*this);
  parts_.observers.Attach(*this, kind_.thresholds(from));
}

void CommandLog::Trim() {
  const auto most = static_cast<size_t>(std::max<int64_t>(parts_.env.settings.*kind_.max_records, 0));
  while (records_.size() > most) records_.pop_back();
}

void CommandLog::OnCall(const FinishedCall& call) {
  if (call.command.Is(kSkipSlowlog)) return;
  const DialectTraits& traits = DialectOf(parts_.env.settings.emulate).traits;
  if (traits.logs_of_length_zero_stay && parts_.env.settings.*kind_.max_records <= 0) return;
  Session& client = traits.scripts_commands_have_client ? call.session.Caller() : call.session;
  records_.push_front({.id = next_id_++,
                       .unix_time_s = parts_.current_execution.WallMs() / 1000,
                       .measured_amount = kind_.measured_amount(call),
                       .words = Shorten(ArgumentsWithoutSecrets(call.session, call.words)),
                       .word_count = call.words.size(),
                       .peer = client.addresses.peer,
                       .client_name = client.identity.name});
  Trim();
}

std::vector<std::string> CommandLog::Shorten(std::span<const Bytes> arguments) {
  std::vector<std::string> kept;
  size_t whole = arguments.size() > kMaxShownArguments ? kMaxShownArguments - 1 : arguments.size();
  kept.reserve(std::min(arguments.size(), kMaxShownArguments));
  for (Bytes word : arguments.first(whole)) {
    std::string text(word.substr(0, kMaxShownArgumentBytes));
    if (word.size() > kMaxShownArgumentBytes)
      StrAppend(text, "... (", word.size() - kMaxShownArgumentBytes, " more bytes)");
    kept.push_back(std::move(text));
  }
  if (whole < arguments.size()) kept.push_back(StrCat("... (", arguments.size() - whole, " more arguments)"));
  return kept;
}

CommandLogs::CommandLogs(const CommandLog::Parts& parts)
    : slow(parts, kSlow), large_request(parts, kLargeRequest), large_reply(parts, kLargeReply) {}

CommandLog* CommandLogs::Find(Bytes name) {
  for (CommandLog* log : {&slow, &large_request, &large_reply})
    if (EqualsIgnoreCase(log->Name(), name)) return log;
  return nullptr;
}

void CommandLogs::ApplyConfiguredLimits() {
  for (CommandLog* log : {&slow, &large_request, &large_reply}) log->ApplyConfiguredLimit();
}

void CommandLatency::ApplyConfiguredThreshold() {
  constexpr int64_t kLongestMs = std::numeric_limits<int64_t>::max() / 1000;
  if (!parts_.env.latency.IsOn()) return parts_.observers.Detach(*this);
  parts_.observers.Attach(
      *this, {.reported_from_us = std::min(parts_.env.settings.latency_monitor_threshold, kLongestMs) * 1000});
}

void CommandLatency::OnCall(const FinishedCall& call) {
  parts_.env.latency.Note(call.command.Is(kFast) ? "fast-command" : "command", call.duration_us);
}

}  // namespace respite
