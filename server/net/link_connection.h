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
  struct Parts {                          // what every connection needs from its server
    EventLoop& loop;                      // serves the socket and the timers
    EventLoop::Participant& participant;  // the server that gets the events
    const Tls& tls;                       // the keys for TLS
    int keepalive_s;                      // seconds of TCP keepalive; 0: none
  };
  LinkConnection(const Parts& parts, Link::Target target, Link::User& user);
  ~LinkConnection() override;
  LinkConnection(const LinkConnection&) = delete;
  LinkConnection& operator=(const LinkConnection&) = delete;

  void Start();  // resolves the name and connects
  // Starts the link with an accepted socket. Calls OnConnected immediately, or after the TLS handshake.
  void StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption);  // starts with an accepted socket
  void Stop();                                       // closes the connection; the user gets no more calls
  void SetUser(Link::User& user) { user_ = &user; }  // from now on `user` gets the events
  void Send(Bytes bytes);       // sends or queues the bytes; does nothing unless the connection is open
  size_t UnsentBytes() const {  // number of bytes to send, delayed ones included
    return unsent_.size() - sent_ + to_send_.line.Size();
  }
  void SetReading(Link::Reading reading);  // stops or resumes reading; kOff: the peer has to wait
  SocketAddresses GetAddresses() const { return SocketAddressesOf(FileDescriptor()); }        // both addresses
  int FileDescriptor() const { return stream_ == nullptr ? -1 : stream_->FileDescriptor(); }  // the socket; -1: none

  Link::Stage stage() const { return stage_; }  // how far connecting has come

  void OnReadable() override { OnReady({.read = true}); }   // called by the poller
  void OnWritable() override { OnReady({.write = true}); }  // called by the poller
  bool MayTakeLong() const override { return false; }       // its calls are always short

  const Link::Target& target() const { return target_; }  // where the link connects to
  void SetConditions(const LinkConditions& conditions);   // simulates such a network from now on

 private:
  using Stage = Link::Stage;

  // The name look-up and the attempts to connect to the addresses that it found.
  struct ConnectAttempts;

  struct DelayedDirection {  // the bytes of one direction that a simulated slow network holds back
    DelayQueue line;         // the bytes that are held back
    bool has_timer = false;  // true: a timer runs until the next bytes of `line` are due
  };

  // Runs the action in a later turn, unless Stop was called before.
  template <class Action>
  void RunInLaterTurn(Action action) {  // runs the action in a later turn, unless Stop was called before
    parts_.loop.Post(&parts_.participant, [self = shared_from_this(), action] {
      if (self->user_ != nullptr) action(*self);
    });
  }
  void TryNextAddress();        // starts to connect to the next address; ends the link if none is left
  void FinishConnecting();      // after connect(2): continues if it succeeded, else tries the next address
  void BeginHandshakeOrOpen();  // after connecting: the TLS handshake, or Open
  void Handshake();             // performs the next step of the TLS handshake, then Open
  void Open();                  // the connection is ready: tells the user (OnConnected)
  void OnReady(SocketPoller::Interest ready);                 // the socket is ready: connects, sends or receives
  void Receive();                                             // reads from the socket a few times, and delivers
  void ReceiveLater();                                        // calls Receive in a later turn
  bool HasUnsent() const { return unsent_.size() != sent_; }  // true: bytes wait for the socket (not for a delay)
  void SendNow(Bytes bytes);                                  // sends bytes without a simulated delay; queues the rest
  void SendMore();                                            // sends from unsent_ what the socket takes
  void Deliver(Bytes bytes);                                  // gives bytes to the user, or to the delay queue
  void StartTimer(DelayedDirection& delayed, void (LinkConnection::*serve)());  // sets a timer for `line`
  void ShortenDelay(DelayedDirection& delayed, int64_t delay_ms,                // reduces the remaining delay to this
                    void (LinkConnection::*serve)());
  bool MustPauseReading() const;  // true: too many received bytes are delayed, so reading must stop
  void SendDue();                 // sends held-back bytes that are due
  void DeliverDue();              // gives the user held-back bytes that are due, then reports the end, if any
  void Watch();                   // registers the socket events that are needed now
  void Unwatch();                 // stops all events of the socket
  void HandlePeerEnd(const std::string& reason);  // the peer ended or the socket failed: ends after delayed input
  void End(const std::string& reason);            // closes the connection and tells the user (OnEnded)

  const Parts parts_;                                  // what the connection needs from its server
  const Link::Target target_;                          // where the link connects to
  Link::User* user_;                                   // gets the events; null: stopped
  std::unique_ptr<ConnectAttempts> connect_attempts_;  // the addresses to try; null: an accepted connection
  Stage stage_ = Stage::kResolving;                    // how far connecting has come
  std::unique_ptr<ByteStream> stream_;                 // null: no socket yet
  SocketPoller::Interest registered_events_;           // events for which the poller watches the socket
  bool is_reading_ = true;                             // false: SetReading(kOff) was called
  LinkConditions conditions_;                          // the bad network that is simulated
  DelayedDirection to_send_;                           // bytes to send that are held back (conditions_)
  DelayedDirection to_deliver_;                        // received bytes that are held back (conditions_)
  std::optional<std::string> end_;                     // why the peer's side ended; told to the user after to_deliver_
  bool connects_after_cut_ = false;                    // true: connecting waits until the simulated cut ends
  bool receive_posted_ = false;                        // true: ReceiveLater was called, and Receive has not run yet
  std::string unsent_;                                 // bytes for the socket; the first sent_ of them are sent
  size_t sent_ = 0;                                    // number of sent bytes of unsent_
};

}  // namespace respite
