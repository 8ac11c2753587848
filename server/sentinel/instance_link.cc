#include "server/sentinel/instance_link.h"

#include <utility>

#include "base/late_bound.h"
#include "protocol/request_text.h"

namespace respite {

namespace {

// Returns an address like "127.0.0.1:50000" or "[::1]:50000" without its port and brackets.
std::string WithoutPort(const std::string& address) {
  std::string ip = address.substr(0, address.rfind(':'));
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  return ip;
}

}  // namespace

// --- InstanceConnection.

void InstanceConnection::Connect(const LateBound<Network>& network, const Link::Target& target) {
  link_ = network->Connect(target, *this);
}

void InstanceConnection::Send(const Instance& owner, std::initializer_list<Bytes> words, OnReply on_reply) {
  if (has_ended_) return;
  std::string request;
  AppendRequest(request, words);
  pending_requests_.push_back({&owner, std::move(on_reply)});
  if (is_connected_) return link_->Send(request);
  unsent_ += request;
}

void InstanceConnection::Forget(const Instance& owner) {
  for (Request& request : pending_requests_) {
    if (request.owner == &owner) request.owner = nullptr;
  }
}

void InstanceConnection::Close() {
  has_ended_ = true;
  is_connected_ = false;
  pending_requests_.clear();
  link_.reset();
}

std::string InstanceConnection::LocalIp() const {
  return is_connected_ ? WithoutPort(link_->LocalAddress()) : std::string();
}

std::string InstanceConnection::PeerIp() const {
  return is_connected_ ? WithoutPort(link_->PeerAddress()) : std::string();
}

void InstanceConnection::OnConnected() {
  is_connected_ = true;
  link_->Send(std::exchange(unsent_, {}));
}

// Handles each complete reply. Keeps this object alive with `self`, because a handler may close the connection and
// release its last owner.
void InstanceConnection::OnReceived(Bytes bytes) {
  const auto self = shared_from_this();
  parser_.Feed(bytes);
  while (!has_ended_) {
    const std::optional<ReplyTree> reply = parser_.Next();
    if (!reply) break;
    Receive(*reply);
  }
  constexpr size_t kLongestReply = size_t{16} << 20;  // no server has an INFO of this size
  if (parser_.Failed() || parser_.PendingBytes() > kLongestReply) Close();
}

void InstanceConnection::Receive(const ReplyTree& reply) {
  if (pending_requests_.empty()) {
    if (on_message_) on_message_(reply);
    return;
  }
  const Request request = std::move(pending_requests_.front());
  pending_requests_.pop_front();
  if (request.owner != nullptr && request.on_reply) request.on_reply(reply);
}

void InstanceConnection::OnEnded(const std::string&) {
  const auto self = shared_from_this();
  Close();
}

// --- InstanceLink.

InstanceLink::~InstanceLink() { Close(); }

void InstanceLink::Close() {
  CloseCommandConnection();
  CloseHelloConnection();
}

void InstanceLink::CloseCommandConnection() {
  if (const auto connection = std::exchange(command_connection, nullptr)) connection->Close();
}

void InstanceLink::CloseHelloConnection() {
  if (const auto connection = std::exchange(hello_connection, nullptr)) connection->Close();
}

void InstanceLink::Forget(const Instance& owner) {
  if (command_connection != nullptr) command_connection->Forget(owner);
  if (hello_connection != nullptr) hello_connection->Forget(owner);
}

void InstanceLink::Restart(int64_t now_ms) {
  Close();
  ping_waits_since_ms = last_available_ms = last_ping_answer_ms = now_ms;
  last_ping_ms = last_connect_ms = 0;
}

}  // namespace respite
