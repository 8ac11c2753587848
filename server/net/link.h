// Link: one connection to another server, which keeps nobody waiting: looking up the name, connecting, the handshake of
// TLS, receiving and sending all happen in Turns of the event loop. Most are dialed; the bus of a cluster accepts some,
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

class Link {
 public:
  // Who uses the link. It may destroy the link in each of these calls.
  class User {
   public:
    virtual ~User() = default;
    virtual void OnConnected() = 0;
    // Some bytes, which are valid during the call.
    virtual void OnReceived(Bytes bytes) = 0;
    // There is no connection, or not any more. `reason` is for the log. Nothing is called after it.
    virtual void OnEnded(const std::string& reason) = 0;
  };
  enum class Reading : uint8_t { kOn, kOff };
  enum class Stage : uint8_t { kResolving, kConnecting, kHandshake, kOpen };

  struct Target {
    std::string host;
    int port = 0;
    std::string source = {};  // own address to connect from; empty: the system chooses
    bool encrypts = false;
  };

  // Closes the connection, if there is one.
  virtual ~Link() = default;
  // Somebody else hears of the link from now on.
  virtual void SetUser(User& user) = 0;
  // Requires: connected. What does not fit into the socket waits here.
  virtual void Send(Bytes bytes) = 0;
  // kOff: the other side has to wait.
  virtual void SetReading(Reading reading) = 0;
  // What waits here until the socket takes it.
  virtual size_t UnsentBytes() const = 0;
  // "127.0.0.1:50000". Requires: connected.
  virtual std::string LocalAddress() const = 0;
  virtual std::string PeerAddress() const = 0;
  virtual int FileDescriptor() const = 0;
  // How far it has come, also when it has ended.
  virtual Stage stage() const = 0;
};

// What a server asks of the network beyond its clients: the event loop in production, a network in memory in tests.
class Network {
 public:
  // Ends the watch when it is destroyed.
  class Watch {
   public:
    virtual ~Watch() = default;
    virtual void SetReading(Link::Reading reading) = 0;
  };

  // Who takes connections that others have dialed. It may end the Listening.
  class Acceptor {
   public:
    virtual ~Acceptor() = default;
    // The link is connected; the acceptor names its user before it returns, or drops it.
    virtual void OnAccepted(std::unique_ptr<Link> link) = 0;
  };
  // Ends when it is destroyed; links that were accepted stay.
  class Listening {
   public:
    virtual ~Listening() = default;
  };
  struct ListenAt {
    std::vector<std::string> hosts;  // as the directive `bind` has them: "-::*" may fail
    int port = 0;
    bool encrypts = false;
  };

  virtual ~Network() = default;
  // Begins to connect. Nothing is called before this returns.
  virtual std::unique_ptr<Link> Dial(const Link::Target& target, Link::User& user) = 0;
  // Fails with the reason, for the log.
  virtual Result<std::unique_ptr<Listening>, std::string> Listen(const ListenAt& place, Acceptor& acceptor) = 0;
  // Calls `handler` whenever this descriptor (not ours to close) has something to read, or its end.
  virtual std::unique_ptr<Watch> WatchPipe(int descriptor, std::function<void()> handler) = 0;
};

}  // namespace respite
