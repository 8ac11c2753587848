#include "server/clients/client_limits.h"

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

// Returns the limit of client-output-buffer-limit for this session. As in Redis, a monitor has the class `normal`,
// which has no limit by default. Other clients of the class `normal` need no limit, because a client that does not read
// its replies also stops sending requests. A monitor, however, receives the requests of all clients. So if `normal` has
// no limit, the limit for `pubsub` applies to monitors.
const OutputBufferLimit& LimitOf(const Settings& settings, const Session& session) {
  const auto& limits = settings.client_output_buffer_limit;
  switch (session.kind) {
    case SessionKind::kReplica:
      return limits[kOutputReplica];
    case SessionKind::kPubSub:
      return limits[kOutputPubsub];
    default:
      const OutputBufferLimit& normal = limits[kOutputNormal];
      const bool is_unlimited = normal.hard_bytes == 0 && normal.soft_bytes == 0;
      return session.monitor && is_unlimited ? limits[kOutputPubsub] : normal;
  }
}

constexpr int64_t kIdleInputMs = 2000;
// The limit for the output of a client that has not logged in, in bytes of Session::OutputBytes. Such a client gets
// only small replies.
constexpr size_t kUnauthenticatedOutputBytes = 64 * 1024;

}  // namespace

void ClientLimits::Check(Session& session, int64_t now_ms) {
  if (session.closing || EnforceHandshakeTimeout(session) || EnforceIdleTimeout(session, now_ms)) return;
  if (EnforceOutputLimit(session, now_ms, Moment::kTimer)) return;
  ServerStats& stats = parts_.env.stats;
  stats.client_input.Note(std::max(session.usage.input_peak_bytes, session.in.HeldBytes()), now_ms / 1000);
  stats.client_output.Note(session.out.HeldBytes(), now_ms / 1000);
  session.usage.input_peak_bytes = session.in.BufferedBytes();
  ResizeEmulatedReplyBuffer(session, now_ms);
  if (now_ms - session.usage.last_active_ms > kIdleInputMs) session.in.Shrink();
}

void ClientLimits::ResizeEmulatedReplyBuffer(Session& session, int64_t now_ms) {
  constexpr size_t kMin = 1024;
  const DebugSwitches& debug = parts_.env.debug;
  OutputAccount& account = session.output_account;
  size_t& room = account.emulated_buffer_bytes_;
  if (debug.reply_resizing && room > kMin && account.peak_bytes_ < room / 2) {
    room = std::max(kMin, account.peak_bytes_ + 1);
    ++parts_.env.stats.reply_buffer_shrinks;
  } else if (debug.reply_resizing && room < BlockPool::kBlockBytes && account.peak_bytes_ == room) {
    room = std::min(BlockPool::kBlockBytes, room * 2);
    ++parts_.env.stats.reply_buffer_expands;
  }
  if (debug.reply_peak_reset_ms < 0 || now_ms - account.peak_since_ms_ <= debug.reply_peak_reset_ms) return;
  account.peak_bytes_ = std::min(session.out.Size(), room);
  account.peak_since_ms_ = now_ms;
}

bool ClientLimits::EnforceHandshakeTimeout(Session& session) {
  if (session.transport == nullptr || !session.transport->IsHandshakeLate()) return false;
  parts_.env.log.Verbose("Closing client that does not finish its TLS handshake");
  parts_.clients.Close(session);
  return true;
}

bool ClientLimits::EnforceIdleTimeout(Session& session, int64_t now_ms) {
  int64_t timeout_s = parts_.env.settings.timeout;
  const bool waits = session.IsBlocked() || session.paused_request != nullptr;  // for the server: not idle
  if (timeout_s == 0 || session.kind != SessionKind::kNormal || session.monitor || waits) return false;
  if (now_ms - session.usage.last_active_ms <= timeout_s * 1000) return false;
  parts_.env.log.Verbose("Closing idle client");
  parts_.clients.Close(session);
  return true;
}

bool ClientLimits::IsOverOutputLimit(Session& session, int64_t now_ms) const {
  if (session.kind == SessionKind::kPrimary) return false;
  if (session.out.HasOverflowed()) return true;
  const OutputBufferLimit& limit = LimitOf(parts_.env.settings, session);
  const size_t used = session.OutputBytes();
  int64_t& since_ms = session.output_account.over_soft_limit_since_ms_;
  if (used == 0) {
    since_ms = OutputAccount::kWithinSoftLimit;
    return false;
  }
  if (!session.authenticated && parts_.users.IsLoginRequired() && used > kUnauthenticatedOutputBytes) return true;
  // A replica's output may always reach the size of the backlog, as in Redis, even if its hard limit is lower.
  // Otherwise a partial resynchronisation would exceed the limit, and the replica would be closed.
  const uint64_t least_hard =
      session.kind == SessionKind::kReplica ? static_cast<uint64_t>(parts_.env.settings.repl_backlog_size) : 0;
  if (limit.hard_bytes != 0 && used >= std::max(limit.hard_bytes, least_hard)) return true;
  bool over_soft = limit.soft_bytes != 0 && used >= limit.soft_bytes;
  if (!over_soft) since_ms = OutputAccount::kWithinSoftLimit;
  if (over_soft && since_ms == OutputAccount::kWithinSoftLimit) since_ms = now_ms;
  return over_soft && now_ms - since_ms > limit.soft_seconds * 1000;
}

size_t ClientLimits::MaxHeldOutputBytes(const Session& session) const {
  if (session.kind == SessionKind::kPrimary || session.kind == SessionKind::kReplica) return ReplyBuffer::kNoLimit;
  const uint64_t hard_bytes = LimitOf(parts_.env.settings, session).hard_bytes;
  // The reply buffer may hold one byte less than the output at which the client is closed: OutputBytes, which does not
  // count the first 16 KB, must stay below the hard limit.
  return hard_bytes == 0 ? ReplyBuffer::kNoLimit : Session::kUncountedOutputBytes + hard_bytes - 1;
}

bool ClientLimits::EnforceOutputLimit(Session& session, int64_t now_ms, Moment moment) {
  if (session.closing || !IsOverOutputLimit(session, now_ms)) return false;
  ++parts_.env.stats.output_limit_disconnections;
  std::string_view how = moment == Moment::kReply ? " scheduled to be closed ASAP" : " closed";
  parts_.env.log.Warning("Client " + ClientText(session, parts_.env.clock.MonotonicMs()) + std::string(how) +
                         " for overcoming of output buffer limits.");
  parts_.clients.Close(session);
  return true;
}

bool ClientLimits::IsOverInputLimit(Session& session) const {
  const size_t pending = session.in.PendingBytes();
  const bool is_unauthenticated = !session.authenticated && parts_.users.IsLoginRequired();
  if (!is_unauthenticated && session.unauthenticated_bytes == 0)
    return pending > parts_.env.settings.client_query_buffer_limit;
  parts_.clients.SetUnauthenticatedBytes(session, is_unauthenticated && pending != 0 ? session.in.HeldBytes() : 0);
  if (!is_unauthenticated) return pending > parts_.env.settings.client_query_buffer_limit;
  const bool are_too_many =
      parts_.clients.UnauthenticatedBytes() > kMaxTotalUnauthenticatedInputBytes && pending > kSmallInputBytes;
  return pending > std::min<uint64_t>(parts_.env.settings.client_query_buffer_limit, kMaxUnauthenticatedInputBytes) ||
         are_too_many;
}

bool ClientLimits::EnforceInputLimit(Session& session) {
  if (!IsOverInputLimit(session)) return false;
  constexpr size_t kShownBytes = 64;
  ++parts_.env.stats.query_limit_disconnections;
  parts_.env.log.Warning(
      "Closing client that reached max query buffer length: " + ClientText(session, parts_.env.clock.MonotonicMs()) +
      " (qbuf initial bytes: " + Quoted(session.in.PendingRequest().substr(0, kShownBytes)) + ")");
  parts_.clients.Close(session);
  return true;
}

}  // namespace respite
