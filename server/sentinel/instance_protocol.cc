#include "server/sentinel/instance_protocol.h"

#include <algorithm>
#include <utility>

namespace respite {

namespace {

constexpr size_t kMaxPending = 100;
constexpr size_t kIdInName = 8;
constexpr int64_t kHurriedInfoMs = 1000;
// Period of INFO, in ms, to a replica that was sent REPLICAOF NO ONE in a failover.
constexpr int64_t kPromotionInfoMs = 100;
// The time (in ms) that a Sentinel waits for the reply to INFO before it may send INFO again.
constexpr int64_t kInfoAgainMs = 1000;

}  // namespace

void InstanceProtocol::Continue(Instance& instance) {
  Reconnect(instance);
  SendDue(instance);
}

// --- Links.

// Opens the connections that are missing, at most once per period. The period is at most half of
// down-after-milliseconds, so a server that has returned is reached before it counts as down.
void InstanceProtocol::Reconnect(Instance& instance) {
  InstanceLink& link = *instance.link;
  const int64_t now_ms = core_.NowMs();
  if (!link.IsDisconnected() || instance.address.port == 0) return;
  const int64_t period_ms = std::min(core_.periods().ping_period_ms, instance.primary.down_after_ms / 2);
  if (link.last_connect_ms != 0 && now_ms - link.last_connect_ms < period_ms) return;
  link.last_connect_ms = now_ms;
  if (!link.HasCommandConnection()) OpenCommandConnection(instance);
  if (instance.IsServer() && !link.HasHelloConnection()) OpenHelloConnection(instance);
}

// Returns how to connect to the instance. The host is the instance's IP address. With resolve-hostnames, it is the host
// name, because the IP address may have changed. It is also the host name while the IP address is unknown.
Link::Target InstanceProtocol::TargetOf(const Instance& instance) const {
  const SentinelAddress& address = instance.address;
  const bool by_name = core_.state.options.resolves_hostnames || address.ip.empty();
  return {.host = by_name ? address.host : address.ip,
          .port = address.port,
          .source = core_.host.SourceAddress(),
          .uses_tls = core_.host.EncryptsLinks()};
}

void InstanceProtocol::OpenCommandConnection(Instance& instance) {
  InstanceLink& link = *instance.link;
  link.CloseCommandConnection();
  link.command_connection = std::make_shared<InstanceConnection>();
  link.command_connection->Connect(core_.network, TargetOf(instance));
  link.command_connection_began_ms = core_.NowMs();
  Authenticate(instance, *link.command_connection);
  SetName(instance, *link.command_connection, "cmd");
  SendPing(instance);
}

void InstanceProtocol::OpenHelloConnection(Instance& instance) {
  InstanceLink& link = *instance.link;
  link.CloseHelloConnection();
  link.hello_connection = std::make_shared<InstanceConnection>();
  link.hello_connection->Connect(core_.network, TargetOf(instance));
  link.hello_connection_began_ms = core_.NowMs();
  Authenticate(instance, *link.hello_connection);
  SetName(instance, *link.hello_connection, "pubsub");
  link.hello_connection->Send(instance, {CommandOf(instance, "SUBSCRIBE"), HelloProtocol::kChannel},
                              [this, &instance](const ReplyTree& reply) { ReceiveSubscribed(instance, reply); });
  link.hello_connection->SetMessageHandler(
      [this, &instance](const ReplyTree& reply) { hello_protocol_.ReceiveMessage(instance, reply); });
}

// Handles the reply to SUBSCRIBE. If SUBSCRIBE has failed, closes the connection, which can receive no hello messages.
// A new connection may log in with another password.
void InstanceProtocol::ReceiveSubscribed(Instance& instance, const ReplyTree& reply) {
  instance.link->hello_heard_ms = core_.NowMs();
  if (reply.IsError()) instance.link->CloseHelloConnection();
}

void InstanceProtocol::Authenticate(const Instance& instance, InstanceConnection& connection) const {
  std::string user = instance.primary.user;
  std::string password = instance.primary.password;
  if (!instance.IsServer()) {
    const SentinelOptions& options = core_.state.options;
    const bool has_own = !options.password.empty();
    user = has_own ? options.user : std::string();
    password = has_own ? options.password : core_.host.Password();
  }
  if (password.empty()) return;
  const Bytes auth = CommandOf(instance, "AUTH");
  if (user.empty()) return connection.Send(instance, {auth, password}, {});
  connection.Send(instance, {auth, user, password}, {});
}

void InstanceProtocol::SetName(const Instance& instance, InstanceConnection& connection, const char* role) const {
  const std::string name = "sentinel-" + core_.state.id.substr(0, kIdInName) + "-" + role;
  connection.Send(instance, {CommandOf(instance, "CLIENT"), "SETNAME", name}, {});
}

// --- Due messages.

void InstanceProtocol::SendDue(Instance& instance) {
  InstanceLink& link = *instance.link;
  if (link.IsDisconnected()) return;
  if (link.PendingCount() >= kMaxPending * static_cast<size_t>(instance.link.use_count())) return;
  const int64_t now_ms = core_.NowMs();
  if (instance.IsServer()) SendInfoIfDue(static_cast<ServerInstance&>(instance));
  const int64_t ping_ms = std::min(instance.primary.down_after_ms, core_.periods().ping_period_ms);
  if (now_ms - link.last_ping_answer_ms > ping_ms && now_ms - link.last_ping_ms > ping_ms / 2) SendPing(instance);
  if (now_ms - instance.last_publish_ms > core_.periods().publish_period_ms) hello_protocol_.Send(instance);
}

int64_t InstanceProtocol::InfoPeriodMs(const ServerInstance& server) const {
  const Primary& primary = server.primary;
  if (server.kind == InstanceKind::kPrimary) return core_.periods().info_period_ms;
  if (primary.promoted == &server && primary.failover_state == FailoverState::kWaitPromotion) return kPromotionInfoMs;
  const bool is_urgent = primary.is_objectively_down || primary.is_failing_over || server.primary_link_down_ms != 0;
  return is_urgent ? std::min(kHurriedInfoMs, core_.periods().info_period_ms) : core_.periods().info_period_ms;
}

void InstanceProtocol::SendInfoIfDue(ServerInstance& server) {
  const int64_t now_ms = core_.NowMs();
  const int64_t period_ms = InfoPeriodMs(server);
  if (now_ms - server.info_ms <= period_ms && !server.info_is_urgent) return;
  if (server.info_is_awaited && now_ms - server.info_sent_ms <= kInfoAgainMs) return;
  server.info_is_awaited = true;
  server.info_sent_ms = now_ms;
  server.link->command_connection->Send(server, {CommandOf(server, "INFO")},
                                        [this, &server](const ReplyTree& reply) { reader_.Receive(server, reply); });
}

// --- PING.

void InstanceProtocol::SendPing(Instance& instance) {
  InstanceLink& link = *instance.link;
  link.last_ping_ms = core_.NowMs();
  if (link.ping_waits_since_ms == 0) link.ping_waits_since_ms = link.last_ping_ms;
  link.command_connection->Send(instance, {CommandOf(instance, "PING")},
                                [this, &instance](const ReplyTree& reply) { ReceivePingReply(instance, reply); });
}

// Decides from the reply to PING whether the server is alive. A server that loads its data, or has lost its primary,
// counts as alive. A server that runs a slow script (BUSY) does not; once it counts as down, sends SCRIPT KILL. A PONG
// also ends the state in which a rebooted primary may count as down.
void InstanceProtocol::ReceivePingReply(Instance& instance, const ReplyTree& reply) {
  InstanceLink& link = *instance.link;
  const bool is_pong = reply.text.starts_with("PONG");
  link.last_ping_answer_ms = core_.NowMs();
  if (is_pong || reply.text.starts_with("LOADING") || reply.text.starts_with("MASTERDOWN")) {
    link.last_available_ms = link.last_ping_answer_ms;
    link.ping_waits_since_ms = 0;
    if (is_pong && instance.kind == InstanceKind::kPrimary) instance.primary.has_rebooted = false;
  } else if (reply.text.starts_with("BUSY") && instance.is_down && !instance.has_killed_script) {
    link.command_connection->Send(instance, {CommandOf(instance, "SCRIPT"), "KILL"}, {});
    instance.has_killed_script = true;
  }
}

}  // namespace respite
