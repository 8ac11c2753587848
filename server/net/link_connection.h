// LinkConnection: the TCP connection of a link, dialed or accepted, with or without TLS, on an event loop.
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

// Lives until the last of its callbacks has returned.
class LinkConnection final : public SocketPoller::Watcher, public std::enable_shared_from_this<LinkConnection> {
 public:
  struct Parts {
    EventLoop& loop;
    EventLoop::Participant& participant;
    const Tls& tls;
    int keepalive_s;
  };
  LinkConnection(const Parts& parts, Link::Target target, Link::User& user);
  ~LinkConnection() override;
  LinkConnection(const LinkConnection&) = delete;
  LinkConnection& operator=(const LinkConnection&) = delete;

  void Start();
  // Starts with an accepted socket. OnConnected follows immediately, or after the TLS handshake.
  void StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption);
  void Stop();
  void SetUser(Link::User& user) { user_ = &user; }
  void Send(Bytes bytes);
  size_t UnsentBytes() const { return unsent_.size() - sent_ + to_send_.line.Size(); }
  void SetReading(Link::Reading reading);
  PeerNames Names() const { return NamesOf(FileDescriptor()); }
  int FileDescriptor() const { return stream_ == nullptr ? -1 : stream_->FileDescriptor(); }

  Link::Stage stage() const { return stage_; }

  void OnReadable() override { OnReady({.read = true}); }
  void OnWritable() override { OnReady({.write = true}); }
  bool TakesLong() const override { return false; }

  const Link::Target& target() const { return target_; }
  void SetConditions(const LinkConditions& conditions);

 private:
  using Stage = Link::Stage;

  // The name look-up, and the attempts to connect.
  struct Dialing;

  // One direction of a delayed link.
  struct Delayed {
    DelayQueue line;
    bool is_awaited = false;
  };

  // Runs the action in a later turn, unless the link is gone by then.
  template <class Action>
  void Later(Action action) {
    parts_.loop.Post(&parts_.participant, [self = shared_from_this(), action] {
      if (self->user_ != nullptr) action(*self);
    });
  }
  void TryNextAddress();
  void FinishConnecting();
  void Begin();
  void Handshake();
  void Open();
  void OnReady(SocketPoller::Interest ready);
  void Receive();
  void ReceiveLater();
  // Returns whether bytes that are due wait for the socket.
  bool HasUnsent() const { return unsent_.size() != sent_; }
  void SendNow(Bytes bytes);
  void SendMore();
  void Deliver(Bytes bytes);
  // Calls `serve` when the next bytes are due.
  void Await(Delayed& delayed, void (LinkConnection::*serve)());
  // Reduces the remaining delay of queued bytes to at most `delay_ms`.
  void Hasten(Delayed& delayed, int64_t delay_ms, void (LinkConnection::*serve)());
  // Returns whether reading must stop because of the size of the delayed received bytes.
  bool HoldsMuch() const;
  void SendDue();
  void DeliverDue();
  void Watch();
  void Unwatch();
  // Ends the link, after received bytes that are still delayed.
  void EndByPeer(const std::string& reason);
  void End(const std::string& reason);

  const Parts parts_;
  const Link::Target target_;
  Link::User* user_;                  // null: the link is gone
  std::unique_ptr<Dialing> dialing_;  // null: connected, or accepted
  Stage stage_ = Stage::kResolving;
  std::unique_ptr<ByteStream> stream_;
  SocketPoller::Interest registered_;
  bool reads_ = true;
  LinkConditions conditions_;
  Delayed to_send_;
  Delayed to_deliver_;
  std::optional<std::string> end_;  // end of the connection by the other side, reported after to_deliver_
  bool dials_late_ = false;         // was cut before it dialed
  bool receive_posted_ = false;
  std::string unsent_;
  size_t sent_ = 0;  // of unsent_
};

}  // namespace respite
