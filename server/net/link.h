// Link: one connection to another server. A Link never blocks: the name look-up, connecting, the TLS handshake,
// receiving and sending happen in turns of the event loop. Most links are outgoing; the bus of a cluster also accepts
// some.
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

class Link {  // a connection to another server, as an interface
 public:
  class User {  // receives the events of the link, and may destroy it in each call
   public:
    virtual ~User() = default;
    virtual void OnConnected() = 0;  // from now on the user can send
    // The bytes are valid only during the call.
    virtual void OnReceived(Bytes bytes) = 0;
    // `reason` is for the log. No other function of User is called afterwards.
    virtual void OnEnded(const std::string& reason) = 0;  // the connection could not be made, or has ended
  };
  enum class Reading : uint8_t { kOn, kOff };
  enum class Stage : uint8_t { kResolving, kConnecting, kHandshake, kOpen };

  struct Target {  // where and how to connect
    std::string host;
    int port = 0;
    std::string source = {};  // local address to connect from; empty: the system chooses
    bool uses_tls = false;
  };

  // The destructor closes the connection, if there is one.
  virtual ~Link() = default;
  virtual void SetUser(User& user) = 0;  // replaces the user of the link
  // Sends bytes; those that do not fit into the socket are queued. Requires: the link is connected.
  virtual void Send(Bytes bytes) = 0;
  // Turns reading on or off. While it is off, the other side has to wait once its socket is full.
  virtual void SetReading(Reading reading) = 0;  // kOff: the other side has to wait
  virtual size_t UnsentBytes() const = 0;        // bytes that wait until the socket takes them
  // Requires: the link is connected.
  virtual std::string LocalAddress() const = 0;  // for example "127.0.0.1:50000"
  virtual std::string PeerAddress() const = 0;   // for example "127.0.0.1:6379"
  virtual int FileDescriptor() const = 0;
  virtual Stage stage() const = 0;  // the stage that was reached, also after the end
};

// The connections of a server, except those of clients. LoopNetwork implements this for the event loop; tests implement
// it in memory.
class Network {  // an interface that makes and accepts connections to other servers
 public:
  class Watch {  // watches a descriptor until destroyed
   public:
    virtual ~Watch() = default;
    virtual void SetReading(Link::Reading reading) = 0;
  };

  // An Acceptor gets the connections that other servers have made. It may destroy the Listening in a call of
  // OnAccepted.
  class Acceptor {  // an interface that gets connections from other servers
   public:
    virtual ~Acceptor() = default;
    virtual void OnAccepted(std::unique_ptr<Link> link) = 0;  // must set the user of the link, or drop it
  };
  class Listening {  // listens at a port until destroyed; accepted links stay
   public:
    virtual ~Listening() = default;
  };
  struct ListenOptions {             // where to listen
    std::vector<std::string> hosts;  // as the directive `bind` has them: "-::*" may fail
    int port = 0;
    bool uses_tls = false;
  };

  virtual ~Network() = default;
  // Starts to connect. `user` is not called before this function returns.
  virtual std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) = 0;  // starts to connect
  // Starts to listen. The error is the reason, for the log.
  virtual Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions& place, Acceptor& acceptor) = 0;
  // Calls `handler` whenever the descriptor is readable or has reached its end. The caller keeps ownership of the
  // descriptor.
  virtual std::unique_ptr<Watch> WatchPipe(int descriptor, std::function<void()> handler) = 0;  // until destroyed
};

}  // namespace respite
