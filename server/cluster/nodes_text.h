// The text of nodes.conf and of CLUSTER NODES: one line for each node.
//
//   <id> <address> <flags> <id of the primary, or -> <ping> <pong> <epoch> <link> <slots>
//   vars currentEpoch <n> lastVoteEpoch <n>
//
// The address is `<ip>:<port>@<bus port>[,<hostname>[,<name>=<value>]…]`. The line `vars` and the pairs
// `<name>=<value>` are only in nodes.conf.
// Slots are `5`, `0-5460`, `[7->-<id>]` while slot 7 migrates to node `<id>`, and `[7-<-<id>]` while slot 7 is imported
// from node `<id>`.
#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "server/cluster/cluster_view.h"
#include "server/config/settings.h"

namespace respite {

std::string FlagsText(const ClusterNode& node);  // the node's flags, for example "myself,master,fail?"
std::string SlotsText(const ClusterView& view, const ClusterNode& node);  // the node's slots, for example "0-5460 5462"

// Which port of a node stands first in its line. In nodes.conf, kTls if the bus uses TLS. In a reply, kTls if the
// client that asks uses TLS.
enum class PortChoice : uint8_t { kTcp, kTls };
// kFile: the lines of nodes.conf. kClient: the lines for clients, without the fields that only nodes need.
enum class NodeForm : uint8_t { kFile, kClient };
struct NodesFormat {  // how the lines for nodes are written
  PortChoice port = PortChoice::kTcp;
  NodeForm form = NodeForm::kClient;
  IpFamily family = IpFamily::kIpv4;  // family of the address of the client that asks
};
std::string NodeLine(const ClusterView& view, const ClusterNode& node, NodesFormat format);  // the line of one node
// Returns the lines for all nodes except those that have one of the flags `without_flags`. Cost: O(nodes + slots).
std::string NodesText(const ClusterView& view, NodesFormat format,  // one line for each node without these flags
                      uint16_t without_flags);
std::string NodesFileText(const ClusterView& view, PortChoice port);  // the content of nodes.conf

// Parses the content of nodes.conf. Draws random shard ids for nodes without one. Fails with the reason.
Result<std::unique_ptr<ClusterView>, std::string> ParseNodesFile(Bytes text, PortChoice port,  // parses nodes.conf
                                                                 Random& random);

}  // namespace respite
