// LinkConnection: the connection behind a link, dialed or accepted, over TCP with or without TLS, on an event loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "server/net/byte_stream.h"
#include "server/net/delay_queue.h"
#include "server/net/event_loop.h"
#include "server/net/link.h"
#include "server/net/link_conditions.h"
#include "server/net/socket_address.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

class Tls;

// It lives until the last of its callbacks has returned.
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
  // The other side has dialed. OnConnected follows, at once or when TLS is there.
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
  void SetConditions(const LinkConditions& weather);

 private:
  using Stage = Link::Stage;

  // Looking up the name, and trying the addresses.
  struct Dialing;

  // One direction of a slow network.
  struct Delayed {
    DelayQueue line;
    bool is_awaited = false;
  };

  // Something is done in a later Turn, unless the link is gone by then.
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
  // Whether the socket has yet to take bytes that are due.
  bool HasUnsent() const { return unsent_.size() != sent_; }
  void SendNow(Bytes bytes);
  void SendMore();
  void Deliver(Bytes bytes);
  // When the next bytes are due.
  void Await(Delayed& delayed, void (LinkConnection::*serve)());
  // What is on its way has no longer delay than what comes now.
  void Hasten(Delayed& delayed, int64_t delay_ms, void (LinkConnection::*serve)());
  // So much is on its way that the other side has to wait.
  bool HoldsMuch() const;
  void SendDue();
  void DeliverDue();
  void Watch();
  void Unwatch();
  // Behind what was received and is still on its way.
  void EndByPeer(const std::string& reason);
  void End(const std::string& reason);

  const Parts parts_;
  const Link::Target target_;
  Link::User* user_;                  // null: the link is gone
  std::unique_ptr<Dialing> dialing_;  // null: it is connected, or was accepted
  Stage stage_ = Stage::kResolving;
  std::unique_ptr<ByteStream> stream_;
  SocketPoller::Interest registered_;
  bool reads_ = true;
  LinkConditions weather_;
  Delayed to_send_;
  Delayed to_deliver_;
  std::optional<std::string> end_;  // of the other side, behind to_deliver_
  bool dials_late_ = false;         // it was cut before it dialed
  bool receive_posted_ = false;
  std::string unsent_;
  size_t sent_ = 0;  // of unsent_
};

}  // namespace respite
