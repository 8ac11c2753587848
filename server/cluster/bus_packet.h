// BusPacket: a message of the cluster bus, protocol version 1. Its bytes on the wire, each field with its offset:
//
//   bytes  0 "RCmb" · 4 length · 8 version · 10 port · 12 type · 14 count · 16 current epoch · 24 config epoch
//          32 offset · 40 sender · 80 slots · 2128 primary · 2168 address · 2214 extensions · 2246 other port
//        2248 bus port · 2250 flags · 2252 state · 2253 message flags · 2256 body
//
// Numbers are big-endian. Lengths from a peer are checked against the size of the packet before anything is read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/slot_set.h"
#include "server/cluster/node_id.h"

namespace respite {

enum class PacketType : uint16_t {
  kPing,
  kPong,
  kMeet,
  kFail,
  kPublish,
  kVoteRequest,  // FAILOVER_AUTH_REQUEST
  kVote,         // FAILOVER_AUTH_ACK
  kUpdate,
  kPauseRequest,  // MFSTART: a replica asks its primary to pause for a manual failover
  kModule,
  kPublishShard,
};
inline constexpr size_t kPacketTypeCount = 11;
Bytes NameOf(PacketType type);  // the name in CLUSTER INFO, for example "ping"

// Role and state of a node, as bits in ClusterNode::flags and in packets of the bus.
enum NodeFlag : uint16_t {
  kNodePrimary = 1,
  kNodeReplica = 2,
  kNodePfail = 4,  // PFAIL: this node (or the sender of a packet with the flag) does not reach the node with the flag
  kNodeFail = 8,   // FAIL: a majority of the primaries did not reach the node
  kNodeMyself = 16,
  kNodeHandshake = 32,    // the node has not answered yet, so its id is a random placeholder
  kNodeNoAddress = 64,    // the node's address is not known
  kNodeMeet = 128,        // the first packet to it must be a MEET
  kNodeMigrateTo = 256,   // this primary should have a replica, so a replica of another primary may move to it
  kNodeNoFailover = 512,  // this replica does not replace a failed primary by itself, only by CLUSTER FAILOVER
};

struct PacketHeader {  // the beginning of every packet: what the sender says of itself
  // Bits of `message_flags`.
  static constexpr uint8_t kPaused = 1;      // the sender is a primary that has paused writes for a manual failover
  static constexpr uint8_t kForcesVote = 2;  // in a vote request: receivers may vote although the primary is not FAIL
  static constexpr uint8_t kHasExtensions = 4;  // PingExtensions follow the gossip entries of this packet

  PacketType type = PacketType::kPing;
  uint16_t port = 0;           // the sender's port for clients: TLS with tls-cluster, else TCP
  uint16_t other_port = 0;     // the sender's TLS port if `port` is TCP, and the reverse; 0: none
  uint16_t bus_port = 0;       // port of the sender's cluster bus
  uint16_t flags = 0;          // NodeFlag bits
  uint64_t current_epoch = 0;  // the largest epoch of the cluster that the sender knows
  uint64_t config_epoch = 0;   // epoch of the sender or, if it is a replica, of its primary
  uint64_t offset = 0;         // replication offset of the sender
  NodeId sender;               // id of the node that sent the packet; null only in broken packets
  SlotSet slots;               // slots of the sender or, if it is a replica, of its primary
  NodeId primary;              // id of the sender's primary; null if the sender is a primary
  std::string ip;              // cluster-announce-ip of the sender; empty: the IP of the connection is used
  bool is_cluster_ok = false;  // cluster_state of the sender is "ok": it serves requests
  uint8_t message_flags = 0;   // bits: kPaused, kForcesVote, kHasExtensions
};

struct GossipEntry {  // what the sender of a packet knows of one other node
  NodeId id;
  uint32_t ping_sent_s = 0;      // when the node was sent the PING that it has not answered (Unix time); 0: none
  uint32_t pong_received_s = 0;  // when the node last sent a PONG that the sender knows of (Unix time)
  std::string ip;
  uint16_t port = 0;        // the node's port for clients: TLS if the sender has tls-cluster, else TCP
  uint16_t bus_port = 0;    // the node's port of the cluster bus
  uint16_t flags = 0;       // NodeFlag bits of the node
  uint16_t other_port = 0;  // the node's TLS port if `port` is TCP, and the reverse; 0: none
};

// Optional fields that follow the gossip entries of a packet. Redis has extensions since version 7.0.
struct PingExtensions {  // optional fields at the end of PING, PONG and MEET, which describe the sender
  struct Forgotten {     // a node that CLUSTER FORGET has removed at the sender
    NodeId id;
    uint64_t ttl_s = 0;  // for how many more seconds receivers must not add the node again
  };
  std::optional<std::string> hostname;           // cluster-announce-hostname of the sender
  std::optional<std::string> human_name;         // cluster-announce-human-nodename of the sender
  std::optional<NodeId> shard;                   // id of the sender's shard
  std::optional<std::string> client_ipv4;        // cluster-announce-client-ipv4; Valkey 8.0 or later
  std::optional<std::string> internal_secret;    // secret of a Redis 8 node for logins between nodes; not sent
  std::optional<std::string> client_ipv6;        // cluster-announce-client-ipv6; Valkey 8.0 or later
  std::optional<std::string> availability_zone;  // availability-zone; Valkey 9.1 or later
  std::vector<Forgotten> forgotten;              // nodes that CLUSTER FORGET removed; receivers remove them too
};

struct PingBody {                   // the content of PING, PONG and MEET
  std::vector<GossipEntry> gossip;  // what the sender says of other nodes
  PingExtensions extensions;        // optional fields, such as the host name of the sender
};
struct FailBody {  // the content of FAIL: names a node that has failed
  NodeId id;
};
struct PublishBody {    // the content of PUBLISH and SPUBLISH between nodes
  std::string channel;  // name of the pub/sub channel
  std::string message;  // the published message
};
struct UpdateBody {           // the content of UPDATE: tells an outdated node which slots a node owns
  uint64_t config_epoch = 0;  // configuration epoch of the node `id`
  NodeId id;                  // the node that owns the slots
  SlotSet slots;              // all slots of the node `id`
};
struct EmptyBody {};  // the content of packets that have only a header

struct BusPacket {                              // one packet of the cluster bus
  static constexpr size_t kPreambleBytes = 8;   // how many bytes of a packet LengthOf needs
  static constexpr size_t kHeaderBytes = 2256;  // encoded size of PacketHeader, with the preamble
  static constexpr size_t kGossipBytes = 104;   // encoded size of one GossipEntry
  // The maximum size of a packet in bytes. A longer packet is invalid, and its link is closed.
  static constexpr uint32_t kMaxPacketBytes = uint32_t{1} << 30;
  // The maximum epoch of a packet; a packet with a larger epoch is dropped. Each election takes the next epoch, so an
  // epoch near the end of the range would leave no room for elections. No cluster reaches this value by counting.
  static constexpr uint64_t kMaxEpoch = uint64_t{1} << 62;

  PacketHeader header;  // type of the packet, and what the sender says of itself
  std::variant<EmptyBody, PingBody, FailBody, PublishBody, UpdateBody> body;

  std::string Encode() const;  // returns the packet as the bytes to send
  // Reads a packet. Fails with the reason, for the log, if the packet is invalid. Ignores unknown extensions and the
  // body of a kModule packet.
  static Result<BusPacket, std::string> Decode(Bytes bytes);  // reads the bytes of one packet; fails with the reason
  static std::optional<uint32_t> LengthOf(Bytes preamble);    // size of the whole packet in bytes; nullopt: invalid
};

}  // namespace respite
