#include "server/client_limits.h"

#include <string>

#include "server/client_text.h"
#include "server/server.h"

namespace respite {

namespace {

const OutputBufferLimit& LimitOf(const Settings& settings, SessionKind kind) {
  switch (kind) {
    case SessionKind::kReplica:
      return settings.client_output_buffer_limit[kOutputReplica];
    case SessionKind::kPubSub:
      return settings.client_output_buffer_limit[kOutputPubsub];
    default:
      return settings.client_output_buffer_limit[kOutputNormal];
  }
}

}  // namespace

void ClientLimits::Check(Session& session, int64_t now_ms) {
  if (session.closing) return;
  if (!CheckIdle(session, now_ms)) CheckOutput(session, now_ms);
}

bool ClientLimits::CheckIdle(Session& session, int64_t now_ms) {
  int64_t timeout_s = server_.settings().timeout;
  if (timeout_s == 0 || session.kind != SessionKind::kNormal || session.monitor) return false;
  if (now_ms - session.last_active_ms <= timeout_s * 1000) return false;
  server_.log().Verbose("Closing idle client");
  server_.clients().Close(session);
  return true;
}

bool ClientLimits::CheckOutput(Session& session, int64_t now_ms) {
  const OutputBufferLimit& limit = LimitOf(server_.settings(), session.kind);
  size_t held = session.out.HeldBytes();
  bool over_soft = limit.soft_bytes != 0 && held > limit.soft_bytes;
  if (!over_soft) session.soft_limit_since_ms = -1;
  if (over_soft && session.soft_limit_since_ms < 0) session.soft_limit_since_ms = now_ms;
  bool soft_too_long = over_soft && now_ms - session.soft_limit_since_ms > limit.soft_seconds * 1000;
  bool over_hard = limit.hard_bytes != 0 && held > limit.hard_bytes;
  if (!over_hard && !soft_too_long) return false;
  ++server_.stats().output_limit_disconnections;
  server_.log().Warning("Client " + ClientText(server_, session) + " closed for overcoming of output buffer limits.");
  server_.clients().Close(session);
  return true;
}

bool ClientLimits::CheckInput(Session& session) {
  if (session.in.HeldBytes() <= server_.settings().client_query_buffer_limit) return false;
  ++server_.stats().query_limit_disconnections;
  server_.log().Warning("Closing client that reached max query buffer length: " + ClientText(server_, session));
  server_.clients().Close(session);
  return true;
}

}  // namespace respite
