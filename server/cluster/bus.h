// Bus: this node's connections to the other nodes, and the packets on them. Each node connects to all others, so a pair
// of nodes has two connections. A PONG is sent on the connection that brought the PING.
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

Result<int, std::string> BusPortOf(const Settings& settings);  // bus port: by default the client port + 10000

class Bus final : public BusLink::Owner, public Network::Acceptor {
 public:
  // The user of the bus handles the packets that arrive, and is told when a link that this node opened is connected.
  class User {
   public:
    virtual ~User() = default;
    virtual void OnLinkConnected(BusLink& link) = 0;                    // a link that this node opened is connected now
    virtual void OnPacket(BusLink& link, const BusPacket& packet) = 0;  // a valid packet has arrived
  };

  Bus(const ClusterCore& core, User& user) : core_(core), user_(user) {}
  ~Bus() override;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  std::optional<std::string> Listen();  // starts to accept connections of other nodes; returns the reason if it failed
  // Returns the port on which the bus listens. It stays the same when the port for clients changes.
  int Port() const { return port_; }

  void ConnectToNode(ClusterNode& node);                   // connects, unless the node has a link already
  void DropOutboundLink(ClusterNode& node);                // closes the link that this node opened
  void DropInboundLink(ClusterNode& node);                 // closes the link that the node opened
  void DropBothLinks(ClusterNode& node);                   // closes the links in both directions
  void BindInboundLink(BusLink& link, ClusterNode& node);  // `node` has opened `link`; closes its older one
  // Closes links with too many unsent bytes (cluster-link-sendbuf-limit). Links of unknown nodes have a fixed limit,
  // and are also closed if the node is still unknown after 15 seconds.
  void CloseLinksOverLimit();  // closes links with too many unsent bytes (cluster-link-sendbuf-limit)

  // --- Packets.

  PacketHeader MakeHeader(PacketType type) const;  // makes a header that describes this node
  void Send(BusLink& link, const BusPacket& packet);
  // Sends on the link that this node opened. Does nothing if there is no such link, or if it is not connected yet.
  void Send(ClusterNode& node, const BusPacket& packet);
  void Flush();  // sends the queued bytes of all links
  // Stops sending forever. Packets that Send has queued before are not sent either.
  void Mute() { is_mute_ = true; }
  void Broadcast(const BusPacket& packet);  // sends to all nodes with a link, except nodes in handshake
  // Like the Broadcast above, but sends only to nodes for which `wanted` returns true.
  void Broadcast(const BusPacket& packet, const std::function<bool(const ClusterNode&)>& wanted);  // to some nodes

  using Counts = std::array<uint64_t, kPacketTypeCount>;  // a number of packets for each packet type
  const Counts& sent() const { return sent_; }            // how many packets were sent since the start
  const Counts& received() const { return received_; }    // how many packets were received since the start
  uint64_t over_limit_link_count() const {                // how many links cluster-link-sendbuf-limit has closed
    return over_limit_link_count_;
  }
  // Visits the links of known nodes, in both directions.
  void ForEachLink(const std::function<void(const BusLink&)>& visit) const;  // visits the links of known nodes

  struct Filter {         // which received packets are dropped, for tests (DEBUG)
    int type = -1;        // the PacketType that is dropped; -1: none
    bool closes = false;  // true: a dropped packet also closes its link
  };
  Filter filter;  // which received packets are dropped; set by DEBUG

  // The functions of BusLink::Owner.
  void OnOpened(BusLink& link) override;               // tells the user that its connection is made
  void OnData(BusLink& link) override;                 // records when the node was last heard
  void OnPacket(BusLink& link, Bytes bytes) override;  // decodes the packet, and handles it
  void OnUnsent(BusLink& link) override { to_flush_.push_back(link.shared_from_this()); }  // Flush will send it
  void OnClosed(BusLink& link, const std::string& reason) override;                        // forgets the link
  // The functions of Network::Acceptor.
  void OnAccepted(std::unique_ptr<Link> link) override;  // makes a BusLink for a node that has connected

 private:
  void SendBytes(BusLink& link, PacketType type, Bytes bytes);  // sends an encoded packet
  void CloseUnknownLinksOverLimit();  // closes links of unknown nodes: too many unsent bytes, or too old
  const SlotSet& MySlots() const;     // slots of this node or its primary; O(1) while nothing has changed

  const ClusterCore& core_;
  User& user_;
  std::unique_ptr<Network::Listening> listening_;  // the bus port
  int port_ = 0;
  std::set<std::shared_ptr<BusLink>> unidentified_links_;  // accepted links of unknown senders
  std::vector<std::shared_ptr<BusLink>> to_flush_;         // links with unsent bytes
  bool is_mute_ = false;                                   // Mute was called: nothing is sent any more
  Counts sent_{};                                          // how many packets were sent since the start
  Counts received_{};                                      // how many packets were received since the start
  uint64_t over_limit_link_count_ = 0;                     // how many links cluster-link-sendbuf-limit has closed
  mutable SlotSet my_slots_;                               // last result of MySlots
  mutable uint64_t my_slots_version_ = UINT64_MAX;         // version of the view for which my_slots_ is valid
};

}  // namespace respite
