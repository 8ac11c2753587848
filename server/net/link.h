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

class Link {  // an interface: one connection to another server, which never blocks
 public:
  class User {  // an interface that gets the events of one link; may destroy the link in each call
   public:
    virtual ~User() = default;
    virtual void OnConnected() = 0;  // the link is open: from now on the user can send
    // Called when bytes have been received. The bytes are valid only during the call.
    virtual void OnReceived(Bytes bytes) = 0;  // bytes were received; they are valid during the call
    // Called when the connection could not be made, or has ended. `reason` is for the log. No other function of User is
    // called afterwards.
    virtual void OnEnded(const std::string& reason) = 0;  // the connection could not be made, or has ended
  };
  enum class Reading : uint8_t { kOn, kOff };
  enum class Stage : uint8_t { kResolving, kConnecting, kHandshake, kOpen };

  struct Target {      // where and how to connect
    std::string host;  // a name or an IP address
    int port = 0;
    std::string source = {};  // local address to connect from; empty: the system chooses
    bool uses_tls = false;    // true: encrypts the connection with TLS
  };

  // The destructor closes the connection, if there is one.
  virtual ~Link() = default;
  virtual void SetUser(User& user) = 0;  // from now on this user gets the events
  // Sends bytes in order. Queues the bytes that do not fit into the socket. Requires: the link is connected.
  virtual void Send(Bytes bytes) = 0;  // sends the bytes in order; queues what the socket does not take
  // Turns reading on or off. While it is off, the other side has to wait once its socket is full.
  virtual void SetReading(Reading reading) = 0;  // stops or resumes reading; kOff: the other side has to wait
  virtual size_t UnsentBytes() const = 0;        // number of queued bytes
  // Requires: the link is connected.
  virtual std::string LocalAddress() const = 0;  // for example "127.0.0.1:50000"
  virtual std::string PeerAddress() const = 0;   // for example "127.0.0.1:6379"
  virtual int FileDescriptor() const = 0;        // the socket; -1: there is none
  virtual Stage stage() const = 0;               // how far connecting has come; does not change when the link ends
};

// Makes the connections of a server, except those of its clients. LoopNetwork implements this for the event loop; tests
// implement it in memory.
class Network {  // an interface: makes and accepts connections to other servers
 public:
  class Watch {  // an interface: calls a handler while a pipe is readable, until destroyed
   public:
    virtual ~Watch() = default;
    virtual void SetReading(Link::Reading reading) = 0;  // stops or resumes the calls of the handler
  };

  // Gets the connections that other servers make to a listening port. May destroy the Listening inside OnAccepted.
  class Acceptor {  // an interface that gets the connections that other servers make
   public:
    virtual ~Acceptor() = default;
    virtual void OnAccepted(std::unique_ptr<Link> link) = 0;  // must set the user of the link, or drop it
  };
  class Listening {  // listens at a port until destroyed; accepted links stay open
   public:
    virtual ~Listening() = default;
  };
  struct ListenOptions {             // where Network::Listen listens
    std::vector<std::string> hosts;  // as in the directive `bind`; a leading '-' means that the host may be unavailable
    int port = 0;
    bool uses_tls = false;  // true: the accepted links use TLS
  };

  virtual ~Network() = default;
  // Starts to connect. `user` is not called before this function returns.
  virtual std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) = 0;  // begins to connect
  // Starts to listen. The error says why that failed, for the log.
  virtual Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions& place, Acceptor& acceptor) = 0;
  // Calls `handler` whenever the descriptor is readable or has reached its end, until the Watch is destroyed. The
  // caller keeps ownership of the descriptor.
  virtual std::unique_ptr<Watch> WatchPipe(int descriptor, std::function<void()> handler) = 0;  // calls it on input
};

}  // namespace respite
