// BusLink: one connection of the cluster bus: packets instead of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/cluster/bus_packet.h"
#include "server/net/link.h"

namespace respite {

struct ClusterNode;

class BusLink final : public Link::User, public std::enable_shared_from_this<BusLink> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnOpened(BusLink& link) = 0;
    // Some bytes have come; before OnPacket.
    virtual void OnData(BusLink& link) = 0;
    // The bytes of a whole packet. It may close the link.
    virtual void OnPacket(BusLink& link, Bytes bytes) = 0;
    // From now on something waits for Flush.
    virtual void OnUnsent(BusLink& link) = 0;
    // The connection is over. The owner drops the link.
    virtual void OnClosed(BusLink& link, const std::string& reason) = 0;
  };
  // The longest packet, and the most unsent bytes, of somebody whom we do not know: they are allowed a greeting.
  static constexpr size_t kMostOfStranger = size_t{1} << 20;
  enum class Direction : uint8_t { kTo, kFrom };  // we dialed it, or the other side did

  BusLink(Owner& owner, Direction direction, ClusterNode* link_node, int64_t now_ms)
      : node(link_node), born_ms(now_ms), owner_(owner), direction_(direction) {}

  void Dial(Network& network, const Link::Target& target) { link_ = network.Dial(target, *this); }
  void Adopt(std::unique_ptr<Link> link) {
    link_ = std::move(link);
    link_->SetUser(*this);
    is_open_ = true;
  }
  // Nothing is called after it.
  void Close() {
    link_.reset();
    is_open_ = false;
    node = nullptr;
  }
  bool IsOpen() const { return is_open_; }
  Direction direction() const { return direction_; }
  // The packet leaves with the next Flush. Requires: open.
  void Send(Bytes packet) {
    if (unsent_.empty()) owner_.OnUnsent(*this);
    unsent_.append(packet);
  }
  void Flush();
  size_t UnsentBytes() const { return is_open_ ? unsent_.size() + link_->UnsentBytes() : 0; }
  size_t HeldBytes() const { return sizeof *this + UnsentBytes() + received_.capacity(); }
  // Without the port. Requires: open.
  std::string PeerIp() const { return IpOf(link_->PeerAddress()); }
  std::string LocalIp() const { return IpOf(link_->LocalAddress()); }

  // Link::User
  void OnConnected() override {
    is_open_ = true;
    owner_.OnOpened(*this);
  }
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

  ClusterNode* node;  // at the other end; null while unknown
  const int64_t born_ms;

 private:
  // "127.0.0.1:7000" and "[::1]:7000" without port and brackets.
  static std::string IpOf(const std::string& address);
  // How many bytes are done with.
  size_t TakePackets(Bytes bytes);

  Owner& owner_;
  const Direction direction_;
  std::unique_ptr<Link> link_;
  bool is_open_ = false;
  std::string received_;  // the beginning of a packet
  std::string unsent_;    // whole packets
};

}  // namespace respite
