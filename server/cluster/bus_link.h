// BusLink: one connection of the cluster bus. Splits the received bytes into packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/cluster/bus_packet.h"
#include "server/net/link.h"

namespace respite {

struct ClusterNode;

class BusLink final : public Link::User, public std::enable_shared_from_this<BusLink> {  // one connection of the bus
 public:
  class Owner {  // interface of the Bus, which handles the events of its links
   public:
    virtual ~Owner() = default;
    virtual void OnOpened(BusLink& link) = 0;               // the link is connected now
    virtual void OnData(BusLink& link) = 0;                 // some bytes have arrived; called before OnPacket
    virtual void OnPacket(BusLink& link, Bytes bytes) = 0;  // one whole packet has arrived; may close `link`
    virtual void OnUnsent(BusLink& link) = 0;  // the link has bytes to send now: the owner must call Flush later
    virtual void OnClosed(BusLink& link, const std::string& reason) = 0;  // the link has ended: the owner must drop it
  };
  // The maximum size of a packet, and the maximum of unsent bytes, for a link whose other node is not known yet. The
  // first packets of a new node are smaller than this.
  static constexpr size_t kMaxBytesWithoutNode = size_t{1} << 20;
  enum class Direction : uint8_t { kTo, kFrom };  // kTo: this node has connected; kFrom: it has accepted the link

  BusLink(Owner& owner, Direction direction, ClusterNode* link_node, int64_t now_ms)
      : node(link_node), born_ms(now_ms), owner_(owner), direction_(direction) {}

  void Connect(Network& network, const Link::Target& target) {  // begins to connect to another node
    link_ = network.Connect(target, *this);
  }
  void Adopt(std::unique_ptr<Link> link) {  // uses a connection that another node has opened
    link_ = std::move(link);
    link_->SetUser(*this);
    is_open_ = true;
  }
  void Close() {  // closes the connection; no callback is called afterwards
    link_.reset();
    is_open_ = false;
    node = nullptr;
  }
  bool IsOpen() const { return is_open_; }            // true: connected, and not closed
  Direction direction() const { return direction_; }  // kTo: this node has connected; kFrom: the peer has connected
  // Queues an encoded packet; the next Flush sends it. Requires: the link is open.
  void Send(Bytes packet) {
    if (unsent_.empty()) owner_.OnUnsent(*this);
    unsent_.append(packet);
  }
  void Flush();                 // writes what Send has queued to the socket
  size_t UnsentBytes() const {  // number of bytes that Send has queued and that are not sent yet
    return is_open_ ? unsent_.size() + link_->UnsentBytes() : 0;
  }
  size_t HeldBytes() const { return sizeof *this + UnsentBytes() + received_.capacity(); }  // memory in bytes
  std::string PeerIp() const { return IpOf(link_->PeerAddress()); }                         // IP of the other node
  std::string LocalIp() const { return IpOf(link_->LocalAddress()); }  // IP of this node's end of the link

  // The functions of Link::User.
  void OnConnected() override {  // tells the owner that the link is open
    is_open_ = true;
    owner_.OnOpened(*this);
  }
  void OnReceived(Bytes bytes) override;             // splits the bytes into packets
  void OnEnded(const std::string& reason) override;  // tells the owner that the link has ended

  ClusterNode* node;      // the node at the other end; null: not known yet, or the link is closed
  const int64_t born_ms;  // when the link was made (Unix time)

 private:
  // Returns the IP of an address: "::1" of "[::1]:7000", "127.0.0.1" of "127.0.0.1:7000".
  static std::string IpOf(const std::string& address);
  size_t HandleWholePackets(Bytes bytes);  // handles the whole packets at the front; returns their size in bytes

  Owner& owner_;               // the Bus, which handles the events of the link
  const Direction direction_;  // kTo: this node has connected to the peer; kFrom: the peer has connected
  std::unique_ptr<Link> link_;
  bool is_open_ = false;  // true: the link is connected and not closed, so bytes can be sent
  std::string received_;  // the beginning of a packet whose rest has not arrived yet
  std::string unsent_;    // packets that the next Flush will send
};

}  // namespace respite
