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

class NodePlan {  // which nodes a process has, and their settings
 public:
  // Requires: config.settings().nodes is not empty.
  explicit NodePlan(const Config& config);

  // Returns the layout of the nodes with data.
  const NodeLayout& layout() const { return layout_; }
  int Count() const { return layout_.Count() + sentinels_; }  // including Sentinels
  bool HasSentinels() const { return sentinels_ > 0; }
  bool IsSentinel(int node) const { return node >= layout_.Count(); }  // `node`: from 0, Sentinels last
  std::string NameOf(int node) const;        // "node-1", "sentinel-1" …, as in directories and log lines
  std::optional<std::string> Check() const;  // an error if the settings are impossible
  // Creates the directories that do not exist yet. A test run uses a new temporary directory, unless its settings name
  // a place for data. The files of a test run are of no use to later runs, and several runs may take place at the same
  // time.
  std::optional<std::string> MakeFolders();  // for the nodes; returns an error text on failure
  void RemoveFolders();                      // after a failed start: the empty ones that it created
  void RemoveTemporaryFolder();              // with its content
  // Returns the configuration of a node. Requires: MakeFolders has succeeded. `folder` is the directory of the node.
  std::unique_ptr<Config> ConfigOf(int node, Folder& folder) const;
  std::string FolderOf(int node) const;  // absolute path of its directory

 private:
  const Config& config_;     // configuration of the process
  const NodeLayout layout_;  // of the nodes with data
  const int sentinels_;      // number of Sentinels
  const bool is_temporary_;  // home_ is removed when the process ends
  std::string home_;         // the parent of the node directories
  std::vector<std::string> made_;
};

}  // namespace respite
