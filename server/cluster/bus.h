// Bus: this node's connections to the other nodes, and the packets on them. Each node dials all others, so a pair of
// nodes has two connections. A PONG is sent on the connection that brought the PING.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/cluster/bus_link.h"
#include "server/cluster/bus_packet.h"
#include "server/cluster/cluster_core.h"

namespace respite {

// Returns the bus port of a server that listens for clients. Fails with the reason, for the log.
Result<int, std::string> BusPortOf(const Settings& settings);

class Bus final : public BusLink::Owner, public Network::Acceptor {
 public:
  // Handles packets and new connections.
  class User {
   public:
    virtual ~User() = default;
    // Called when a link that this node dialed has connected.
    virtual void OnReached(BusLink& link) = 0;
    virtual void OnPacket(BusLink& link, const BusPacket& packet) = 0;
  };

  Bus(const ClusterCore& core, User& user) : core_(core), user_(user) {}
  ~Bus() override;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Starts to accept connections of other nodes. Returns the reason if that failed, for the log.
  std::optional<std::string> Listen();
  // Returns the port on which the bus listens. It stays the same when the port for clients changes.
  int Port() const { return port_; }

  // Dials the node, unless it has a link already.
  void Reach(ClusterNode& node);
  // Drop closes the dialed link, DropInbound the accepted link, and DropAll both.
  void Drop(ClusterNode& node);
  void DropInbound(ClusterNode& node);
  void DropAll(ClusterNode& node);
  // Binds an accepted link to its node; it replaces the node's former accepted link.
  void Claim(BusLink& link, ClusterNode& node);
  // Closes links with too many unsent bytes (cluster-link-sendbuf-limit). Links of unknown nodes have a fixed limit.
  void KeepLimits();

  // --- Packets.

  // Returns a header that describes this node.
  PacketHeader Header(PacketType type) const;
  void Send(BusLink& link, const BusPacket& packet);
  // Does nothing if the node has no link.
  void Send(ClusterNode& node, const BusPacket& packet);
  // Sends the queued bytes of all links.
  void Flush();
  // From now on nothing is sent, not even bytes that are queued already.
  void Mute() { is_mute_ = true; }
  // Sends to all nodes with a link, except nodes in handshake.
  void Broadcast(const BusPacket& packet);
  // Sends only to the nodes for which `wanted` returns true.
  void Broadcast(const BusPacket& packet, const std::function<bool(const ClusterNode&)>& wanted);

  using Counts = std::array<uint64_t, kPacketTypes>;
  const Counts& sent() const { return sent_; }
  const Counts& received() const { return received_; }
  uint64_t links_over_limit() const { return links_over_limit_; }
  // Visits all links of known nodes.
  void ForEachLink(const std::function<void(const BusLink&)>& visit) const;

  // DEBUG: drops received packets of this type (-1: none), and closes their link if `closes` is set.
  struct Filter {
    int type = -1;
    bool closes = false;
  };
  Filter filter;

  // BusLink::Owner
  void OnOpened(BusLink& link) override;
  void OnData(BusLink& link) override;
  void OnPacket(BusLink& link, Bytes bytes) override;
  void OnUnsent(BusLink& link) override { to_flush_.push_back(link.shared_from_this()); }
  void OnClosed(BusLink& link, const std::string& reason) override;
  // Network::Acceptor
  void OnAccepted(std::unique_ptr<Link> link) override;

 private:
  void SendBytes(BusLink& link, PacketType type, Bytes bytes);
  void KeepLimitOfStrangers();
  // Returns the slots of this node, or of its primary. Cost: O(1) while nothing has changed.
  const SlotSet& MySlots() const;

  const ClusterCore& core_;
  User& user_;
  std::unique_ptr<Network::Listening> listening_;
  int port_ = 0;
  std::set<std::shared_ptr<BusLink>> strangers_;  // accepted links of unknown senders
  std::vector<std::shared_ptr<BusLink>> to_flush_;
  bool is_mute_ = false;
  Counts sent_{};
  Counts received_{};
  uint64_t links_over_limit_ = 0;
  mutable SlotSet my_slots_;
  mutable uint64_t my_slots_version_ = UINT64_MAX;  // version of the view for which my_slots_ is valid
};

}  // namespace respite
