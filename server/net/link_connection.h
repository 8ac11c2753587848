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
class LinkConnection final : public SocketPoller::Watcher,  // the socket and state of one Link to another server
                             public std::enable_shared_from_this<LinkConnection> {
 public:
  struct Parts {                          // what all connections of a server share
    EventLoop& loop;                      // serves the socket and the timers
    EventLoop::Participant& participant;  // the server that owns the connection; gets EndTurn after its events
    const Tls& tls;                       // the keys for TLS
    int keepalive_s;  // after this number of idle seconds, TCP probes the peer (keepalive); 0: never
  };
  LinkConnection(const Parts& parts, Link::Target target, Link::User& user);
  ~LinkConnection() override;
  LinkConnection(const LinkConnection&) = delete;
  LinkConnection& operator=(const LinkConnection&) = delete;

  void Start();  // begins to look up the host; connects in later turns
  // Starts the link with an accepted socket. Calls OnConnected immediately, or after the TLS handshake.
  void StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption);  // starts with an accepted socket
  void Stop();                                       // closes the connection; the user gets no more calls
  void SetUser(Link::User& user) { user_ = &user; }  // `user` gets the events from now on
  void Send(Bytes bytes);       // sends or queues the bytes; does nothing unless the connection is open
  size_t UnsentBytes() const {  // bytes that wait to be sent, also those delayed by simulation
    return unsent_.size() - sent_ + delayed_output_.line.Size();
  }
  void SetReading(Link::Reading reading);  // kOff: received bytes wait in the socket, so the peer must wait
  SocketAddresses GetAddresses() const { return SocketAddressesOf(FileDescriptor()); }  // the addresses of both sides
  int FileDescriptor() const { return stream_ == nullptr ? -1 : stream_->FileDescriptor(); }  // the socket; -1: none

  Link::Stage stage() const { return stage_; }  // how far connecting has come

  void OnReadable() override { OnReady({.readable = true}); }  // called by SocketPoller: the socket has input
  void OnWritable() override { OnReady({.writable = true}); }  // called by SocketPoller: the socket takes output
  bool MayTakeLong() const override { return false; }          // false: the poller does not limit calls of OnReadable

  const Link::Target& target() const { return target_; }  // where the link connects to
  void SetConditions(const LinkConditions& conditions);   // from now on, simulates these network conditions

 private:
  using Stage = Link::Stage;

  // The name look-up and the attempts to connect to the addresses that it found.
  struct ConnectAttempts;

  struct DelayedDirection {  // bytes of one direction that are delayed by a simulated slow network
    DelayQueue line;         // the bytes that are held back
    bool has_timer = false;  // true: a timer will serve `line` when its first bytes are due
  };

  // Runs the action in a later turn, unless Stop was called before.
  template <class Action>
  void RunInLaterTurn(Action action) {  // runs `action` in a later turn of the event loop, unless stopped
    parts_.loop.Post(&parts_.participant, [self = shared_from_this(), action] {
      if (self->user_ != nullptr) action(*self);
    });
  }
  void TryNextAddress();        // begins to connect to the host's next address; ends the link if none is left
  void FinishConnecting();      // continues after a successful connect(2), or tries the next address
  void BeginHandshakeOrOpen();  // once connected: begins the TLS handshake, or calls Open
  void Handshake();             // performs the next step of the TLS handshake; then calls Open, waits, or ends the link
  void Open();                  // the connection is ready: tells the user (OnConnected)
  void OnReady(SocketPoller::Events ready);  // called when the socket is ready: connects, sends or receives
  void Receive();       // reads from the socket, up to kReceivesPerEvent times; gives the bytes to Deliver
  void ReceiveLater();  // calls Receive in a later turn of the event loop
  bool HasUnsent() const { return unsent_.size() != sent_; }  // true: the socket has not taken all bytes of unsent_
  void SendNow(Bytes bytes);                                  // sends bytes without delay; queues what does not fit
  void SendMore();                                            // sends what the socket takes of unsent_
  void Deliver(Bytes bytes);                                  // gives received bytes to the user, or delays them
  // Sets a timer that calls `serve` when the first bytes of `delayed` are due. Does nothing if no bytes are delayed, or
  // if there is a timer already.
  void StartTimer(DelayedDirection& delayed, void (LinkConnection::*serve)());  // calls `serve` when bytes are due
  void ShortenDelay(DelayedDirection& delayed, int64_t delay_ms,  // makes waiting bytes due in `delay_ms` at the latest
                    void (LinkConnection::*serve)());
  bool MustPauseReading() const;  // true: kMaxDelayedBytes (16 MB) or more received bytes are delayed
  void SendDue();                 // sends the delayed bytes that are due
  void DeliverDue();              // gives the user the delayed bytes that are due; after the last, the peer's end
  void Watch();                   // tells the poller which socket events are needed now; a refusal ends the link
  void Unwatch();                 // tells the poller that no socket events are needed
  void HandlePeerEnd(const std::string& reason);  // the socket ended or failed: ends the link, after delayed input
  void End(const std::string& reason);            // closes the connection and tells the user (OnEnded)

  const Parts parts_;                                  // what all connections of the server share
  const Link::Target target_;                          // where the link connects to
  Link::User* user_;                                   // gets the events; null: stopped
  std::unique_ptr<ConnectAttempts> connect_attempts_;  // addresses to try in turn; null: an accepted connection
  Stage stage_ = Stage::kResolving;                    // how far connecting has come
  std::unique_ptr<ByteStream> stream_;                 // sends and receives; null: no socket yet
  SocketPoller::Events registered_events_;             // the socket events about which the poller tells this object
  bool is_reading_ = true;                             // false: SetReading(kOff) was called
  LinkConditions conditions_;                          // the network conditions that are simulated
  DelayedDirection delayed_output_;                    // bytes to send, held back by the simulated delay (conditions_)
  DelayedDirection delayed_input_;                     // received bytes, held back by the simulated delay
  std::optional<std::string> end_;   // why the peer's side ended; the user learns it after delayed_input_
  bool connects_after_cut_ = false;  // true: the simulated cut has stopped TryNextAddress, which runs when it ends
  bool receive_posted_ = false;      // true: ReceiveLater has posted a call of Receive
  std::string unsent_;               // bytes for the socket, of which the first sent_ are sent already
  size_t sent_ = 0;                  // number of sent bytes of unsent_
};

}  // namespace respite
