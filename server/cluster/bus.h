// Bus: the connections of this node to the others, and the packets that travel on them. Each node dials all others, so
// between two of them there are two connections; a PONG goes back on the one that brought the PING.
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

// The port of the bus of a server with these settings, which listens for clients. Fails with the reason, for the log.
Result<int, std::string> BusPortOf(const Settings& settings);

class Bus final : public BusLink::Owner, public Network::Acceptor {
 public:
  // What is to be done about packets and new connections.
  class User {
   public:
    virtual ~User() = default;
    // We have reached the node of the link.
    virtual void OnReached(BusLink& link) = 0;
    virtual void OnPacket(BusLink& link, const BusPacket& packet) = 0;
  };

  Bus(const ClusterCore& core, User& user) : core_(core), user_(user) {}
  ~Bus() override;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Takes connections of others. Returns why that failed, for the log.
  std::optional<std::string> Listen();
  // Where it listens, whatever the port for clients is by now.
  int Port() const { return port_; }

  // Dials the node, unless it has a link.
  void Reach(ClusterNode& node);
  // Drops the link that was dialed, the one that was accepted, or both.
  void Drop(ClusterNode& node);
  void DropInbound(ClusterNode& node);
  void DropAll(ClusterNode& node);
  // The accepted link is of this node; it replaces the one before.
  void Claim(BusLink& link, ClusterNode& node);
  // Drops links whose other side takes too little (cluster-link-sendbuf-limit; strangers have a limit of their own).
  void KeepLimits();

  // --- Packets.

  // A header that says what this node is.
  PacketHeader Header(PacketType type) const;
  void Send(BusLink& link, const BusPacket& packet);
  // Does nothing when there is no link.
  void Send(ClusterNode& node, const BusPacket& packet);
  // What was sent so far leaves.
  void Flush();
  // Nothing leaves any more, not even what was sent before.
  void Mute() { is_mute_ = true; }
  // To all nodes that we reach; those that only shook hands are none.
  void Broadcast(const BusPacket& packet);
  // To those of them that `wanted` names.
  void Broadcast(const BusPacket& packet, const std::function<bool(const ClusterNode&)>& wanted);

  using Counts = std::array<uint64_t, kPacketTypes>;
  const Counts& sent() const { return sent_; }
  const Counts& received() const { return received_; }
  uint64_t links_over_limit() const { return links_over_limit_; }
  // All links that lead somewhere.
  void ForEachLink(const std::function<void(const BusLink&)>& visit) const;

  // Packets of this type are dropped, and with them the link if somebody wants that (DEBUG); -1: none.
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
  // What this node, or its primary, owns. Cost: O(1) while nothing has changed.
  const SlotSet& MySlots() const;

  const ClusterCore& core_;
  User& user_;
  std::unique_ptr<Network::Listening> listening_;
  int port_ = 0;
  std::set<std::shared_ptr<BusLink>> strangers_;  // accepted, from nobody whom we know
  std::vector<std::shared_ptr<BusLink>> to_flush_;
  bool is_mute_ = false;
  Counts sent_{};
  Counts received_{};
  uint64_t links_over_limit_ = 0;
  mutable SlotSet my_slots_;
  mutable uint64_t my_slots_version_ = UINT64_MAX;  // of the view
};

}  // namespace respite
