// InstanceLink: the connections to one instance: one for commands, and one that is subscribed to hello messages. A
// link to another Sentinel has only the first one, and is shared by all primaries that both Sentinels watch.
//
//   InstanceLink ─► InstanceConnection ─► Link
//
// Commands can be sent while the connection is being made; they are queued until then.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/late_bound.h"
#include "protocol/reply_tree.h"
#include "server/net/link.h"

namespace respite {

struct Instance;

// One connection. Replies arrive in the order of the requests.
class InstanceConnection final : public Link::User, public std::enable_shared_from_this<InstanceConnection> {
 public:
  using OnReply = std::function<void(const ReplyTree&)>;

  void Connect(const LateBound<Network>& network, const Link::Target& target);
  // Calls `on_reply` with the reply, unless `owner` is forgotten before.
  void Send(const Instance& owner, std::initializer_list<Bytes> words, OnReply on_reply);
  // Sets the handler of replies without a request: messages of channels.
  void SetMessageHandler(OnReply handler) { on_message_ = std::move(handler); }
  void Forget(const Instance& owner);  // drops the reply handlers of this owner
  void Close();                        // replies do not arrive any more

  bool HasEnded() const { return has_ended_; }             // the connection is closed
  size_t PendingCount() const { return pending_.size(); }  // requests without a reply
  // Each returns the address of one end without the port; empty if there is no connection.
  std::string LocalIp() const;
  std::string PeerIp() const;

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

 private:
  struct Request {          // a request without a reply
    const Instance* owner;  // null: forgotten
    OnReply on_reply;
  };

  void Receive(const ReplyTree& reply);  // a reply, or a message of a channel

  std::unique_ptr<Link> link_;
  bool is_connected_ = false;  // requests can be sent
  bool has_ended_ = false;
  std::string unsent_;  // requests that wait for the connection
  ReplyTreeParser parser_;
  std::deque<Request> pending_;  // in the order of their replies
  OnReply on_message_;           // for messages of channels
};

struct InstanceLink {  // the connections to one instance
  enum class Wires : uint8_t { kCommands, kCommandsAndHello };
  InstanceLink(Wires wanted, int64_t now_ms)
      : connections(wanted), ping_waits_since_ms(now_ms), last_available_ms(now_ms), last_pong_ms(now_ms) {}
  ~InstanceLink();
  InstanceLink(const InstanceLink&) = delete;
  InstanceLink& operator=(const InstanceLink&) = delete;

  bool HasCommandConnection() const { return commands != nullptr && !commands->HasEnded(); }
  bool HasHelloConnection() const { return hello != nullptr && !hello->HasEnded(); }
  // Returns whether a connection is missing. One that is being made is not missing.
  bool IsDisconnected() const {
    return !HasCommandConnection() || (connections == Wires::kCommandsAndHello && !HasHelloConnection());
  }
  size_t PendingCount() const {
    return (HasCommandConnection() ? commands->PendingCount() : 0) + (HasHelloConnection() ? hello->PendingCount() : 0);
  }
  void Close();
  void CloseCommandConnection();
  void CloseHelloConnection();
  void Forget(const Instance& owner);  // drops the reply handlers of this owner
  void Restart(int64_t now_ms);        // returns to the state of a new link

  const Wires connections;                       // those that it should have
  std::shared_ptr<InstanceConnection> commands;  // the connection for commands; null: none
  std::shared_ptr<InstanceConnection> hello;     // the connection for hello messages; null: none
  int64_t commands_since_ms = 0;                 // when the connection for commands was begun
  int64_t hello_since_ms = 0;                    // when the connection for hello messages was begun
  int64_t hello_heard_ms = 0;                    // when the last hello message arrived
  int64_t ping_waits_since_ms;                   // when the oldest PING without an answer was sent; 0: none
  int64_t last_ping_ms = 0;                      // when the last PING was sent
  int64_t last_available_ms;                     // last good answer to a PING
  int64_t last_pong_ms;                          // last answer of any kind to a PING
  int64_t last_connect_ms = 0;                   // last attempt to connect; 0: never
};

}  // namespace respite
