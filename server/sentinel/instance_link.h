// InstanceLink: the connections to one instance: one for commands, and one that is subscribed to hello messages. A link
// to another Sentinel has only the one for commands, and serves all primaries that both Sentinels watch.
//
//   InstanceLink ─► InstanceConnection ─► Link
//
// Commands can be sent while the connection is being made; these commands are queued until then.
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

class InstanceConnection final  // one connection to an instance; replies arrive in the order of the requests
    : public Link::User,
      public std::enable_shared_from_this<InstanceConnection> {
 public:
  using OnReply = std::function<void(const ReplyTree&)>;

  void Connect(const LateBound<Network>& network, const Link::Target& target);  // begins to connect; may still fail
  // Sends a request. Calls `on_reply` with the reply, unless `owner` is forgotten (Forget) or the connection is closed
  // before the reply arrives.
  void Send(const Instance& owner, std::initializer_list<Bytes> words, OnReply on_reply);
  void SetMessageHandler(OnReply handler) { on_message_ = std::move(handler); }  // `handler` gets messages of channels
  void Forget(const Instance& owner);  // from now on, ignores replies to requests of this owner
  void Close();                        // closes the connection; pending replies are lost

  bool HasEnded() const { return has_ended_; }                      // true: the connection was lost or closed
  size_t PendingCount() const { return pending_requests_.size(); }  // number of requests without a reply
  std::string LocalIp() const;  // address of this end without the port; empty: not connected
  std::string PeerIp() const;   // address of the other end without the port; empty: not connected

  // The functions of Link::User.
  void OnConnected() override;                       // sends the requests that have waited
  void OnReceived(Bytes bytes) override;             // handles replies and messages
  void OnEnded(const std::string& reason) override;  // the connection is lost: marks it as closed

 private:
  struct Request {          // a request that was not answered yet
    const Instance* owner;  // the instance for which the request was sent; null: forgotten
    OnReply on_reply;       // called with the reply
  };

  void Receive(const ReplyTree& reply);  // handles a reply, or a message of a channel

  std::unique_ptr<Link> link_;
  bool is_connected_ = false;             // true: the connection was made, so requests are sent directly
  bool has_ended_ = false;                // true: the connection is closed
  std::string unsent_;                    // requests that wait until the connection is made
  ReplyTreeParser parser_;                // parses the replies
  std::deque<Request> pending_requests_;  // requests without a reply, in the order in which they are answered
  OnReply on_message_;                    // called with messages of channels
};

struct InstanceLink {  // the connections to one instance, and when they were last used
  // Which connections the link to an instance has. kCommands: one connection, for commands. kCommandsAndHello: also a
  // second one, which subscribes to the channel __sentinel__:hello.
  enum class ConnectionKinds : uint8_t { kCommands, kCommandsAndHello };
  InstanceLink(ConnectionKinds wanted, int64_t now_ms)
      : connections(wanted), ping_waits_since_ms(now_ms), last_available_ms(now_ms), last_ping_answer_ms(now_ms) {}
  ~InstanceLink();
  InstanceLink(const InstanceLink&) = delete;
  InstanceLink& operator=(const InstanceLink&) = delete;

  bool HasCommandConnection() const {  // open, or connecting
    return command_connection != nullptr && !command_connection->HasEnded();
  }
  bool HasHelloConnection() const {  // open, or connecting
    return hello_connection != nullptr && !hello_connection->HasEnded();
  }
  bool IsDisconnected() const {  // true: a connection that is needed (`connections`) is missing
    return !HasCommandConnection() || (connections == ConnectionKinds::kCommandsAndHello && !HasHelloConnection());
  }
  size_t PendingCount() const {  // number of requests without a reply
    return (HasCommandConnection() ? command_connection->PendingCount() : 0) +
           (HasHelloConnection() ? hello_connection->PendingCount() : 0);
  }
  void Close();                        // closes both connections
  void CloseCommandConnection();       // closes the connection for commands; a later tick opens a new one
  void CloseHelloConnection();         // closes the connection for hello messages; a later tick opens a new one
  void Forget(const Instance& owner);  // from now on, ignores replies to requests of this owner
  void Restart(int64_t now_ms);        // closes the connections, and resets the times of PING and PONG

  const ConnectionKinds connections;                       // which connections the link should have
  std::shared_ptr<InstanceConnection> command_connection;  // the connection for commands; null: none
  std::shared_ptr<InstanceConnection> hello_connection;    // the connection for hello messages; null: none
  int64_t command_connection_began_ms = 0;                 // when command_connection began to connect (real time)
  int64_t hello_connection_began_ms = 0;                   // when hello_connection began to connect (real time)
  int64_t hello_heard_ms = 0;   // when SUBSCRIBE was answered, or the last message arrived (real time)
  int64_t ping_waits_since_ms;  // since when a PING waits for a good answer (real time); 0: no PING waits
  int64_t last_ping_ms = 0;     // when the last PING was sent (real time)
  int64_t last_available_ms;    // when the last PONG, LOADING or MASTERDOWN arrived, or else the link began (real time)
  int64_t last_ping_answer_ms;  // when any answer to a PING last arrived, or else the link began (real time)
  int64_t last_connect_ms = 0;  // when a connection was last attempted (real time); 0: never
};

}  // namespace respite
