// LinkConnection: the TCP connection of a link, outgoing or accepted, with or without TLS, on an event loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "server/net/byte_stream.h"
#include "server/net/event_loop.h"
#include "server/net/link.h"
#include "server/net/link_conditions.h"
#include "server/net/socket_address.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

class Tls;

// A LinkConnection lives until the last of its callbacks has returned, even if its Link was destroyed.
class LinkConnection final : public SocketPoller::Watcher, public std::enable_shared_from_this<LinkConnection> {
 public:
  struct Parts {  // what every connection needs from its server
    EventLoop& loop;
    EventLoop::Participant& participant;  // the server that gets the events
    const Tls& tls;
    int keepalive_s;  // TCP keepalive; 0: none
  };
  LinkConnection(const Parts& parts, Link::Target target, Link::User& user);
  ~LinkConnection() override;
  LinkConnection(const LinkConnection&) = delete;
  LinkConnection& operator=(const LinkConnection&) = delete;

  void Start();  // resolves the name and connects
  // Starts with an accepted socket. Calls OnConnected immediately, or after the TLS handshake.
  void StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption);
  void Stop();
  void SetUser(Link::User& user) { user_ = &user; }
  void Send(Bytes bytes);
  size_t UnsentBytes() const { return unsent_.size() - sent_ + to_send_.line.Size(); }  // delayed ones included
  void SetReading(Link::Reading reading);  // with kOff the peer has to wait
  SocketAddresses GetAddresses() const { return SocketAddressesOf(FileDescriptor()); }  // its two addresses
  int FileDescriptor() const { return stream_ == nullptr ? -1 : stream_->FileDescriptor(); }

  Link::Stage stage() const { return stage_; }

  void OnReadable() override { OnReady({.read = true}); }
  void OnWritable() override { OnReady({.write = true}); }
  bool MayTakeLong() const override { return false; }

  const Link::Target& target() const { return target_; }
  void SetConditions(const LinkConditions& conditions);  // simulates these conditions from now on

 private:
  using Stage = Link::Stage;

  // The name look-up and the attempts to connect to the addresses that it found.
  struct ConnectAttempts;

  struct DelayedDirection {   // one direction of a delayed link
    DelayQueue line;          // the delayed bytes of this direction
    bool is_awaited = false;  // a timer runs until the next bytes of `line` are due
  };

  // Runs the action in a later turn, unless Stop was called before.
  template <class Action>
  void RunInLaterTurn(Action action) {  // runs the action in a later turn, unless the link is gone by then
    parts_.loop.Post(&parts_.participant, [self = shared_from_this(), action] {
      if (self->user_ != nullptr) action(*self);
    });
  }
  void TryNextAddress();        // connects to the next address of the host
  void FinishConnecting();      // the socket is connected, or connecting has failed
  void BeginHandshakeOrOpen();  // after connecting: the TLS handshake, or Open
  void Handshake();             // performs the next step of the TLS handshake
  void Open();
  void OnReady(SocketPoller::Interest ready);                 // serves the socket, which is ready
  void Receive();                                             // reads from the socket and delivers
  void ReceiveLater();                                        // calls Receive in a later turn
  bool HasUnsent() const { return unsent_.size() != sent_; }  // bytes wait for the socket, and not for a delay
  void SendNow(Bytes bytes);                                  // sends bytes without delay
  void SendMore();                                            // sends what is in unsent_
  void Deliver(Bytes bytes);                                  // gives bytes to the user, or to the delay queue
  void Await(DelayedDirection& delayed, void (LinkConnection::*serve)());  // calls `serve` when the next bytes are due
  void Hasten(DelayedDirection& delayed, int64_t delay_ms,
              void (LinkConnection::*serve)());  // reduces the remaining delay
  bool MustPauseReading() const;                 // too many received bytes are delayed, so reading must stop
  void SendDue();                                // sends delayed bytes whose time has come
  void DeliverDue();                             // gives the user delayed bytes whose time has come
  void Watch();                                  // registers the socket events that are needed now
  void Unwatch();                                // registers no socket events
  void EndByPeer(const std::string& reason);     // ends the link when the user has got the delayed bytes
  void End(const std::string& reason);

  const Parts parts_;  // what the connection needs from its server
  const Link::Target target_;
  Link::User* user_;                                   // null: the link is gone
  std::unique_ptr<ConnectAttempts> connect_attempts_;  // the attempts to connect; null: connected, or accepted
  Stage stage_ = Stage::kResolving;                    // the stage that was reached
  std::unique_ptr<ByteStream> stream_;                 // null: no socket yet
  SocketPoller::Interest registered_events_;           // events for which the poller watches the socket
  bool reads_ = true;                                  // reading is on (SetReading)
  LinkConditions conditions_;                          // conditions that are simulated
  DelayedDirection to_send_;                           // delayed bytes that the user has sent
  DelayedDirection to_deliver_;                        // delayed bytes that were received
  std::optional<std::string> end_;   // end of the connection by the other side, reported after to_deliver_
  bool connects_after_cut_ = false;  // was cut, so it connects only after the cut
  bool receive_posted_ = false;      // ReceiveLater waits for its turn
  std::string unsent_;               // bytes for the socket; the first sent_ of them are sent
  size_t sent_ = 0;                  // number of sent bytes of unsent_
};

}  // namespace respite
