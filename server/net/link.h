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
    virtual void OnConnected() = 0;  // called when the link is open: from now on the user can send
    // Called when bytes have been received. The bytes are valid only during the call.
    virtual void OnReceived(Bytes bytes) = 0;  // called with received bytes, valid during the call
    // Called when the connection could not be made, or has ended. `reason` is for the log. No other function of User is
    // called afterwards.
    virtual void OnEnded(const std::string& reason) = 0;  // called when connecting failed, or the link ended
  };
  enum class Reading : uint8_t { kOn, kOff };                                 // whether received bytes are read
  enum class Stage : uint8_t { kResolving, kConnecting, kHandshake, kOpen };  // how far connecting has come

  struct Target {      // where a link connects to, and how
    std::string host;  // a name or an IP address
    int port = 0;
    std::string source = {};  // local IP address to connect from; empty: any
    bool uses_tls = false;    // true: the link uses TLS
  };

  // The destructor closes the connection, if there is one.
  virtual ~Link() = default;
  virtual void SetUser(User& user) = 0;  // `user` gets the link's events from now on
  // Sends bytes in order. Queues the bytes that do not fit into the socket. Requires: the link is connected.
  virtual void Send(Bytes bytes) = 0;  // sends the bytes in order; queues what the socket does not take
  // Turns reading on or off. While reading is off, the peer can send only until the buffers of both sockets are full.
  virtual void SetReading(Reading reading) = 0;  // turns reading on or off; kOff: received bytes wait in the socket
  virtual size_t UnsentBytes() const = 0;        // number of bytes given to Send that the socket has not taken yet
  // Requires: the link is connected.
  virtual std::string LocalAddress() const = 0;  // this side's address, such as "127.0.0.1:50000"
  virtual std::string PeerAddress() const = 0;   // the other side's address: "127.0.0.1:6379"
  virtual int FileDescriptor() const = 0;        // of the socket; -1: there is none
  virtual Stage stage() const = 0;               // how far connecting has come; does not change when the link ends
};

// Makes the connections of a server, except those of its clients. LoopNetwork implements this for the event loop; tests
// implement it in memory.
class Network {  // an interface: makes and accepts links (connections) to other servers
 public:
  class Watch {  // an interface: while this object exists, a handler is called when a pipe has input or has ended
   public:
    virtual ~Watch() = default;
    virtual void SetReading(Link::Reading reading) = 0;  // kOff: stops calling the handler; kOn: resumes
  };

  // Gets the connections that other servers make to a listening port. OnAccepted may destroy the Listening of the port.
  class Acceptor {  // an interface: gets each link that another server opens to a listening port
   public:
    virtual ~Acceptor() = default;
    virtual void OnAccepted(std::unique_ptr<Link> link) = 0;  // must set the link's user, or drop the link
  };
  class Listening {  // a port is open while this object exists; accepted links stay open
   public:
    virtual ~Listening() = default;
  };
  struct ListenOptions {             // where a port is opened, by Network::Listen
    std::vector<std::string> hosts;  // as in the directive `bind`; "-" before a host means that it may be missing
    int port = 0;
    bool uses_tls = false;  // true: accepted links use TLS
  };

  virtual ~Network() = default;
  // Starts to connect. `user` is not called before this function returns.
  virtual std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) = 0;  // starts a new link
  // Starts to listen. If that fails, the error says why, for the log.
  virtual Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions& place,  // opens a port
                                                                 Acceptor& acceptor) = 0;
  // Calls `handler` whenever the descriptor is readable or has reached its end, until the Watch is destroyed or its
  // SetReading(kOff) is called. The caller keeps ownership of the descriptor.
  virtual std::unique_ptr<Watch> WatchPipe(int descriptor,  // calls `handler` whenever the descriptor is readable
                                           std::function<void()> handler) = 0;
};

}  // namespace respite
