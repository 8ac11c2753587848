// NodePlan: what the directives `nodes` and `sentinels` make of the settings of the process: a directory, ports and
// settings for each node. Sentinels are counted behind the nodes that they watch.
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

  // Of the nodes with data.
  const NodeLayout& layout() const { return layout_; }
  int Count() const { return layout_.Count() + sentinels_; }
  bool HasSentinels() const { return sentinels_ > 0; }
  bool IsSentinel(int node) const { return node >= layout_.Count(); }
  // "node-1" and "sentinel-1" are the first. The directory of the node and its lines in the log are called so.
  std::string NameOf(int node) const;
  // Returns why these settings cannot hold for several nodes.
  std::optional<std::string> Check() const;
  // Makes the directories that are not there yet. Returns why that failed. Those of a test run are in a new temporary
  // directory, unless it is told where data is: they are of no use to the next one, and several may run at once.
  std::optional<std::string> MakeFolders();
  // The start has failed: removes those that it has made and that are still empty.
  void RemoveFolders();
  // Removes the temporary directory, if there is one, with its content.
  void RemoveTemporary();
  // Requires: MakeFolders has succeeded. `folder` has entered its place.
  std::unique_ptr<Config> ConfigOf(int node, Folder& folder) const;
  std::string FolderOf(int node) const;

 private:
  const Config& config_;
  const NodeLayout layout_;
  const int sentinels_;
  const bool is_temporary_;
  std::string home_;  // where the directories are
  std::vector<std::string> made_;
};

}  // namespace respite
