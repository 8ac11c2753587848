// NodePlan: derives the settings of each node from the directives `nodes` and `sentinels`: a directory, ports and
// settings. Sentinels are numbered after the nodes that they watch.
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

class NodePlan {
 public:
  // Requires: config.settings().nodes is not empty.
  explicit NodePlan(const Config& config);

  // Returns the layout of the nodes with data.
  const NodeLayout& layout() const { return layout_; }
  int Count() const { return layout_.Count() + sentinels_; }
  bool HasSentinels() const { return sentinels_ > 0; }
  bool IsSentinel(int node) const { return node >= layout_.Count(); }
  // Returns "node-1" or "sentinel-1" and so on: the name of the node's directory, and of the node in log lines.
  std::string NameOf(int node) const;
  // Returns an error text if these settings are impossible for several nodes.
  std::optional<std::string> Check() const;
  // Creates the directories that do not exist yet. Returns an error text on failure. A test run uses a new temporary
  // directory, unless its settings name a place for data. The files of a test run are of no use to later runs, and
  // several runs may take place at the same time.
  std::optional<std::string> MakeFolders();
  // After a failed start, removes the directories that it has created and that are still empty.
  void RemoveFolders();
  // Removes the temporary directory and its content, if there is one.
  void RemoveTemporary();
  // Returns the configuration of a node. Requires: MakeFolders has succeeded. `folder` is the directory of the node.
  std::unique_ptr<Config> ConfigOf(int node, Folder& folder) const;
  std::string FolderOf(int node) const;

 private:
  const Config& config_;
  const NodeLayout layout_;
  const int sentinels_;
  const bool is_temporary_;
  std::string home_;  // the parent of the node directories
  std::vector<std::string> made_;
};

}  // namespace respite
