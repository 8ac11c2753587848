// NodePlan: derives the directory, the ports and the other settings of each node from the configuration of the process
// (directives `nodes` and `sentinels`). Sentinels are numbered after the nodes that they watch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/config/config.h"
#include "server/config/folder.h"
#include "server/config/node_layout.h"

namespace respite {

class NodePlan {  // the nodes of a process, and the settings of each
 public:
  // Requires: config.settings().nodes is not empty.
  explicit NodePlan(const Config& config);

  const NodeLayout& layout() const { return layout_; }                 // how many primaries and replicas there are
  int Count() const { return layout_.Count() + sentinel_count_; }      // number of nodes, including Sentinels
  bool HasSentinels() const { return sentinel_count_ > 0; }            // whether the process also runs Sentinels
  bool IsSentinel(int node) const { return node >= layout_.Count(); }  // `node`: number from 0; Sentinels last
  std::string NameOf(int node) const;        // "node-1", "sentinel-1" …, as in directories and log lines
  std::optional<std::string> Check() const;  // returns an error if the settings are impossible; nullopt: possible
  // Creates the directories of the nodes that do not exist yet. They are made in the directory of the process, with two
  // exceptions that use a new temporary directory, so that several groups can run at the same time. These are a group
  // with Sentinels, and a test run (--test) whose settings ask for no persistence and no Unix sockets.
  std::optional<std::string> MakeFolders();  // creates the directories of the nodes; returns the error
  void RemoveFolders();  // after a failed start: removes empty directories that MakeFolders made, and the temporary one
  void RemoveTemporaryFolder();  // removes the temporary directory with its content, if there is one
  // Returns the configuration of a node. Requires: MakeFolders has succeeded. `folder` is the directory of the node.
  std::unique_ptr<Config> ConfigOf(int node, Folder& folder) const;  // a copy of the configuration for this node
  std::string FolderOf(int node) const;                              // absolute path of the directory of this node

 private:
  const Config& config_;                   // configuration of the process
  const NodeLayout layout_;                // number of primaries, and of replicas of each
  const int sentinel_count_;               // number of Sentinels
  const bool is_temporary_;                // true: home_ is a new directory, which is removed at the end
  std::string home_;                       // the directory that contains the directories of the nodes
  std::vector<std::string> made_folders_;  // directories that MakeFolders has created
};

}  // namespace respite
