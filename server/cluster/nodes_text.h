// The text of nodes.conf and of CLUSTER NODES: one line for each node.
//
//   <id> <ip>:<port>@<bus port>[,<hostname>[,<name>=<value>]…] <flags> <primary or -> <ping> <pong> <epoch> <link>
//   <slots> vars currentEpoch <n> lastVoteEpoch <n>
//
// Slots are `5`, `0-5460`, `[7->-<id>]` while slot 7 goes to that node, `[7-<-<id>]` while it comes from there.
#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "server/cluster/cluster_view.h"
#include "server/config/settings.h"

namespace respite {

// "myself,master,fail?" as nodes.conf has them.
std::string FlagsText(const ClusterNode& node);
// "0-5460 5462": what the node owns.
std::string SlotsText(const ClusterView& view, const ClusterNode& node);

// Which port stands in front: that of TLS, if the bus or the client that asks uses it.
enum class PortChoice : uint8_t { kTcp, kTls };
// kClient: without what only other nodes need to know.
enum class NodeForm : uint8_t { kFile, kClient };
struct NodesFormat {
  PortChoice port = PortChoice::kTcp;
  NodeForm form = NodeForm::kClient;
  IpFamily family = IpFamily::kIpv4;  // of the client that asks
};
std::string NodeLine(const ClusterView& view, const ClusterNode& node, NodesFormat format);
// Without nodes that have one of these flags. Cost: O(nodes + slots).
std::string NodesText(const ClusterView& view, NodesFormat format, uint16_t without_flags);
// The whole file.
std::string NodesFileText(const ClusterView& view, PortChoice port);

// Reads the text of a file. Ids that it does not have are drawn. Fails with the reason.
Result<std::unique_ptr<ClusterView>, std::string> ParseNodesFile(Bytes text, PortChoice port, Random& random);

}  // namespace respite
