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
  // The interface through which the bus tells its user, the Cluster, that a link which this node opened is connected,
  // or that a packet has arrived.
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
  // Returns the port on which the bus listens. CONFIG SET port does not change the port of the bus.
  int Port() const { return port_; }

  void ConnectToNode(ClusterNode& node);                   // connects to the node, unless this node has a link to it
  void DropOutboundLink(ClusterNode& node);                // closes the link that this node opened to `node`
  void DropInboundLink(ClusterNode& node);                 // closes the link that `node` opened to this node
  void DropBothLinks(ClusterNode& node);                   // closes the links to and from `node`
  void BindInboundLink(BusLink& link, ClusterNode& node);  // records that `node` opened `link`; closes its older link
  // Closes links with too many unsent bytes: more than cluster-link-sendbuf-limit, or more than 1 MB if the node at the
  // other end is not known. Also closes a link whose node is not known after 15 seconds.
  void CloseLinksOverLimit();  // closes links with too many unsent bytes, and links whose node stays unknown

  // --- Packets.

  PacketHeader MakeHeader(PacketType type) const;  // makes a header that describes this node
  void Send(BusLink& link, const BusPacket& packet);
  // Sends the packet on the link that this node opened to `node`. Does nothing if there is no such link, or if the link
  // is not connected yet.
  void Send(ClusterNode& node, const BusPacket& packet);
  void Flush();  // sends the queued bytes of all links; called at the end of a turn
  // Stops sending until the process ends. Packets that are already queued are not sent either.
  void Mute() { is_mute_ = true; }          // stops sending until the process ends
  void Broadcast(const BusPacket& packet);  // sends to all nodes to which a link is open, except nodes in handshake
  // Sends the packet to each node for which wanted(node) returns true. Nodes without a link and nodes in handshake do
  // not get it.
  void Broadcast(const BusPacket& packet, const std::function<bool(const ClusterNode&)>& wanted);  // to wanted nodes

  using Counts = std::array<uint64_t, kPacketTypeCount>;  // a number for each packet type
  const Counts& sent() const { return sent_; }            // how many packets of each type were sent since the start
  const Counts& received() const { return received_; }    // how many packets of each type were received since the start
  const Counts& sent_bytes() const { return sent_bytes_; }          // bytes of the packets in sent()
  const Counts& received_bytes() const { return received_bytes_; }  // bytes of the packets in received()
  uint64_t over_limit_link_count() const {  // how many links cluster-link-sendbuf-limit has closed
    return over_limit_link_count_;
  }
  void ForEachLink(const std::function<void(const BusLink&)>& visit) const;  // visits the links to and from known nodes

  struct Filter {              // which received packets are dropped, for tests (set by DEBUG)
    int type = -1;             // the PacketType that is dropped; -1: none
    bool closes_link = false;  // true: a dropped packet also closes its link
  };
  Filter filter;  // which received packets are dropped; set by DEBUG

  // The functions of BusLink::Owner.
  void OnOpened(BusLink& link) override;               // tells user_ that a link which this node opened is connected
  void OnData(BusLink& link) override;                 // records when the node last sent anything
  void OnPacket(BusLink& link, Bytes bytes) override;  // decodes the packet, and passes it to user_
  void OnUnsent(BusLink& link) override { to_flush_.push_back(link.shared_from_this()); }  // adds the link to to_flush_
  // Forgets a link that has ended. If this node could not connect, the other node counts as silent from now on
  // (ClusterNode::ping_sent_ms).
  void OnClosed(BusLink& link, const std::string& reason) override;  // forgets a link that has ended
  // The function of Network::Acceptor. Closes the connection if there are already 1000 links whose other node is not
  // known.
  void OnAccepted(std::unique_ptr<Link> link) override;  // another node connected: makes a BusLink

 private:
  void SendBytes(BusLink& link, PacketType type, Bytes bytes);  // queues an encoded packet, if the link is open
  void CloseUnknownLinksOverLimit();  // closes links of unknown nodes that are too old or have too many unsent bytes
  const SlotSet& MySlots() const;     // slots of this node or its primary; O(1) while the view is unchanged

  const ClusterCore& core_;
  User& user_;
  std::unique_ptr<Network::Listening> listening_;  // the listening socket of the bus port
  int port_ = 0;
  std::set<std::shared_ptr<BusLink>> unidentified_links_;  // accepted links whose node is not known yet
  std::vector<std::shared_ptr<BusLink>> to_flush_;         // links with unsent bytes
  bool is_mute_ = false;                                   // Mute was called: no packet is sent any more
  Counts sent_{};                                          // how many packets of each type were sent since the start
  Counts received_{};                               // how many packets of each type were received since the start
  Counts sent_bytes_{};                             // bytes of the packets that sent_ counts
  Counts received_bytes_{};                         // bytes of the packets that received_ counts
  uint64_t over_limit_link_count_ = 0;              // how many links cluster-link-sendbuf-limit has closed
  mutable SlotSet my_slots_;                        // slots of this node or its primary, as MySlots last returned
  mutable uint64_t my_slots_version_ = UINT64_MAX;  // version of the ClusterView from which my_slots_ was made
};

}  // namespace respite
