#include "server/cluster/cluster_start_plan.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/str_cat.h"
#include "server/cluster/cluster_view.h"

namespace respite {

namespace {

using Members = std::vector<ClusterStartPlan::Member>;
using Views = std::vector<std::unique_ptr<ClusterView>>;

std::string NameOf(size_t member) { return StrCat("node-", member + 1); }

// --- A new cluster.

struct Name {
  NodeId id;
  NodeId shard;
};

std::vector<Name> DrawNames(const NodeLayout& layout, Random& random) {
  std::vector<Name> names;
  for (int i = 0; i < layout.Count(); ++i) {
    const auto primary = layout.PrimaryOf(i);
    const NodeId id = NodeId::Draw(random);
    names.push_back({id, primary ? names[static_cast<size_t>(*primary)].shard : NodeId::Draw(random)});
  }
  return names;
}

// Returns the ClusterView with which the node with index `mine` starts in a new cluster. Each primary gets an epoch of
// its own, so that no two primaries claim slots with the same epoch.
std::unique_ptr<ClusterView> NewView(const NodeLayout& layout, const Members& members, const std::vector<Name>& names,
                                     size_t mine) {
  auto view = std::make_unique<ClusterView>(names[mine].id, names[mine].shard);
  view->current_epoch = static_cast<uint64_t>(layout.primaries);
  for (size_t i = 0; i < names.size(); ++i) {
    ClusterNode& node = i == mine ? view->me() : view->Add(names[i].id, kNodePrimary);
    node.shard = names[i].shard;
    node.is_shard_known = true;
    node.address = members[i].address;
  }
  for (int i = 0; i < layout.Count(); ++i) {
    ClusterNode& node = *view->Find(names[static_cast<size_t>(i)].id);
    if (const auto primary = layout.PrimaryOf(i)) {
      view->MarkAsReplica(node, view->Find(names[static_cast<size_t>(*primary)].id));
      continue;
    }
    node.config_epoch = static_cast<uint64_t>(i) + 1;
    for (int slot = layout.FirstSlot(i); slot <= layout.LastSlot(i); ++slot) view->Assign(slot, &node);
  }
  return view;
}

// --- An existing cluster.

Result<Views, std::string> ReadAll(const Members& members, PortChoice port, Random& random) {
  Views views;
  std::set<NodeId> ids;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].text.empty()) {
      return Failure(NameOf(i) +
                     " has no nodes.conf, but others of the directory have: they were started with another "
                     "number of nodes, or the file was lost");
    }
    auto view = ParseNodesFile(members[i].text, port, random);
    if (!view.ok()) return Failure(NameOf(i) + ": " + view.error());
    if (!ids.insert(view.value()->me().id).second) {
      return Failure(NameOf(i) + " has the nodes.conf of another node: its id is taken");
    }
    views.push_back(std::move(view).value());
  }
  return views;
}

void MoveTo(ClusterView& view, const Views& all, const Members& members) {
  for (size_t i = 0; i < all.size(); ++i) {
    ClusterNode* node = view.Find(all[i]->me().id);
    if (node == nullptr) continue;
    node->address = members[i].address;
    node->Clear(kNodeNoAddress);
  }
}

bool SaySame(const ClusterView& one, const ClusterView& other) {
  const auto has_twin = [&](const auto& item) {
    const ClusterNode& node = *item.second;
    const ClusterNode* twin = other.Find(item.first);
    if (twin == nullptr || node.IsFailing() || node.IsPrimary() != twin->IsPrimary()) return false;
    const bool is_same_shard = (node.primary == nullptr) == (twin->primary == nullptr) &&
                               (node.primary == nullptr || node.primary->id == twin->primary->id);
    return is_same_shard && (node.IsReplica() || node.config_epoch == twin->config_epoch);
  };
  if (one.KnownNodeCount() != other.KnownNodeCount() || !std::ranges::all_of(one.nodes(), has_twin)) return false;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* mine = one.Owner(slot);
    const ClusterNode* theirs = other.Owner(slot);
    if ((mine == nullptr) != (theirs == nullptr) || (mine != nullptr && mine->id != theirs->id)) return false;
  }
  return true;
}

bool Agree(const Views& views) {
  return views[0]->KnownNodeCount() == views.size() &&
         std::ranges::all_of(views, [&](const auto& view) { return SaySame(*view, *views[0]); });
}

}  // namespace

Result<ClusterStartPlan, std::string> ClusterStartPlan::Plan(const NodeLayout& layout,
                                                             const std::vector<Member>& members, PortChoice port,
                                                             Random& random) {
  ClusterStartPlan start;
  start.is_new = std::ranges::all_of(members, [](const Member& member) { return member.text.empty(); });
  Views views;
  if (start.is_new) {
    const std::vector<Name> names = DrawNames(layout, random);
    for (size_t i = 0; i < members.size(); ++i) views.push_back(NewView(layout, members, names, i));
    start.members_agree = true;
  } else {
    auto read = ReadAll(members, port, random);
    if (!read.ok()) return Failure(std::move(read).error());
    views = std::move(read).value();
    for (const auto& view : views) MoveTo(*view, views, members);
    start.members_agree = Agree(views);
  }
  for (const auto& view : views) start.texts.push_back(NodesFileText(*view, port));
  return start;
}

}  // namespace respite
