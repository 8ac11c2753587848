#include "server/cluster/nodes_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/config/announced_place.h"

namespace respite {

namespace {

struct FlagName {
  NodeFlag flag;
  Bytes name;
};
constexpr std::array<FlagName, 8> kFlagNames = {{{kNodeMyself, "myself"},
                                                 {kNodePrimary, "master"},
                                                 {kNodeReplica, "slave"},
                                                 {kNodePfail, "fail?"},
                                                 {kNodeFail, "fail"},
                                                 {kNodeHandshake, "handshake"},
                                                 {kNodeNoAddress, "noaddr"},
                                                 {kNodeNoFailover, "nofailover"}}};

using RangesByNode = std::map<const ClusterNode*, std::vector<SlotRange>>;

RangesByNode AllRanges(const ClusterView& view) {
  RangesByNode all;
  const ClusterNode* last = nullptr;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* owner = view.Owner(slot);
    if (owner != nullptr && owner == last) {
      all[owner].back().last = slot;
    } else if (owner != nullptr) {
      all[owner].push_back({slot, slot});
    }
    last = owner;
  }
  return all;
}

std::string RangesText(const std::vector<SlotRange>& ranges) {
  std::string text;
  for (const SlotRange& range : ranges) {
    if (!text.empty()) text += ' ';
    text += std::to_string(range.first);
    if (range.last != range.first) StrAppend(text, "-", range.last);
  }
  return text;
}

std::string AddressText(const ClusterNode& node, NodesFormat format) {
  const NodeAddress& address = node.address;
  const bool is_tls = format.port == PortChoice::kTls;
  const std::string& ip = format.form == NodeForm::kClient ? node.IpFor(format.family) : address.ip;
  std::string text = StrCat(ip, ":", is_tls ? address.tls_port : address.tcp_port, "@", address.bus_port);
  if (!node.hostname.empty()) text += "," + node.hostname;
  if (format.form == NodeForm::kClient) return text;
  if (node.hostname.empty()) text += ",";
  if (!node.client_ipv6.empty()) text += ",client-ipv6=" + node.client_ipv6;
  if (!node.client_ipv4.empty()) text += ",client-ipv4=" + node.client_ipv4;
  if (!node.availability_zone.empty()) text += ",availability-zone=" + node.availability_zone;
  text += is_tls ? StrCat(",tcp-port=", address.tcp_port) : StrCat(",tls-port=", address.tls_port);
  if (!node.human_name.empty()) text += ",nodename=" + node.human_name;
  return text + ",shard-id=" + node.shard.String();
}

std::string LineOf(const ClusterView& view, const ClusterNode& node, NodesFormat format,
                   const std::vector<SlotRange>& ranges) {
  const bool is_linked = node.IsMyself() || node.outbound_link != nullptr;
  const uint64_t epoch = node.primary == nullptr ? node.config_epoch : node.primary->config_epoch;
  std::string line = StrCat(node.id.String(), " ", AddressText(node, format), " ", FlagsText(node), " ",
                            node.primary == nullptr ? "-" : node.primary->id.String(), " ", node.ping_sent_ms, " ",
                            node.pong_received_ms, " ", epoch, is_linked ? " connected" : " disconnected");
  if (!ranges.empty()) line += " " + RangesText(ranges);
  if (!node.IsMyself()) return line;
  for (const auto& [slot, target] : view.migrating()) StrAppend(line, " [", slot, "->-", target->id.String(), "]");
  for (const auto& [slot, source] : view.importing()) StrAppend(line, " [", slot, "-<-", source->id.String(), "]");
  return line;
}

// --- Reading.

// A parsed line of nodes.conf, which describes one node. Its primary and the other nodes of slot moves are still ids,
// because their lines may come later.
struct Line {
  NodeId id;
  Bytes address;
  uint16_t flags = 0;
  Bytes primary;
  uint64_t epoch = 0;
  std::vector<Bytes> slots;
};

std::vector<Bytes> WordsOf(Bytes line) {
  std::vector<Bytes> words;
  for (const Bytes word : SplitOn(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::optional<uint16_t> ParseFlags(Bytes text) {
  uint16_t flags = 0;
  for (const Bytes name : SplitOn(text, ',')) {
    const auto found = std::ranges::find(kFlagNames, name, &FlagName::name);
    if (found != kFlagNames.end()) {
      flags |= found->flag;
    } else if (name != "noflags") {
      return std::nullopt;
    }
  }
  return flags;
}

std::optional<uint64_t> ParseEpoch(Bytes text) {
  uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return epoch;
}

std::optional<Line> ParseLine(const std::vector<Bytes>& words) {
  constexpr size_t kFixedWords = 8;
  if (words.size() < kFixedWords) return std::nullopt;
  const auto id = NodeId::Parse(words[0]);
  const auto flags = ParseFlags(words[2]);
  const auto ping = ParseInteger(words[4]);
  const auto pong = ParseInteger(words[5]);
  const auto epoch = ParseEpoch(words[6]);
  if (!id || !flags || !ping || !pong || !epoch) return std::nullopt;
  Line line{*id, words[1], *flags, words[3], *epoch, {}};
  line.slots.assign(words.begin() + kFixedWords, words.end());
  return line;
}

std::optional<uint16_t> ParsePort(Bytes text) {
  const auto number = ParseInteger(text);
  if (!number || *number < 0 || *number > UINT16_MAX) return std::nullopt;
  return static_cast<uint16_t>(*number);
}

bool TakeAux(ClusterNode& node, Bytes aux) {
  const size_t equals = aux.find('=');
  if (equals == Bytes::npos) return false;
  const Bytes name = aux.substr(0, equals);
  const Bytes value = aux.substr(equals + 1);
  if (name == "shard-id") {
    const auto shard = NodeId::Parse(value);
    if (shard) node.shard = *shard;
    node.is_shard_known = shard.has_value();
    return shard.has_value();
  }
  if (name == "nodename") node.human_name = value;
  if (name == "availability-zone") node.availability_zone = value;
  const auto take_ip = [value](std::string& place, bool is_sound) {
    if (is_sound) place = value;
    return is_sound;
  };
  if (name == "client-ipv4") return take_ip(node.client_ipv4, IsIpv4(value));
  if (name == "client-ipv6") return take_ip(node.client_ipv6, IsIpv6(value));
  if (name != "tcp-port" && name != "tls-port") return true;  // fields of later versions are ignored
  const auto port = ParsePort(value);
  if (port) (name == "tcp-port" ? node.address.tcp_port : node.address.tls_port) = *port;
  return port.has_value();
}

bool TakeAddress(ClusterNode& node, Bytes text, PortChoice choice) {
  const std::vector<Bytes> parts = SplitOn(text, ',');
  if (parts.size() > 1) node.hostname = parts[1];
  for (size_t i = 2; i < parts.size(); ++i) {
    if (!TakeAux(node, parts[i])) return false;
  }
  const size_t colon = parts[0].rfind(':');
  if (colon == Bytes::npos) return false;
  node.address.ip = parts[0].substr(0, colon);
  const Bytes ports = parts[0].substr(colon + 1);
  const size_t at = ports.find('@');
  const auto port = ParsePort(ports.substr(0, at));
  if (!port) return false;
  (choice == PortChoice::kTls ? node.address.tls_port : node.address.tcp_port) = *port;
  // A file of Redis before version 4 does not contain the bus port, which is then the client port + 10000.
  const auto bus =
      at == Bytes::npos ? static_cast<uint16_t>(*port + kBusPortDistance) : ParsePort(ports.substr(at + 1));
  if (bus) node.address.bus_port = *bus;
  return bus.has_value();
}

std::optional<int> ParseSlot(Bytes text) {
  const auto slot = ParseInteger(text);
  if (!slot || *slot < 0 || *slot >= kSlotCount) return std::nullopt;
  return static_cast<int>(*slot);
}

// Returns the node with this id. If nodes.conf refers to the node but has no line for it, adds the node without an
// address.
ClusterNode& FindOrAdd(ClusterView& view, const NodeId& id, Random& random) {
  if (ClusterNode* node = view.Find(id)) return *node;
  ClusterNode& node = view.Add(id, kNodeNoAddress);
  node.shard = NodeId::Draw(random);
  return node;
}

bool TakeMove(ClusterView& view, Bytes text, Random& random) {
  if (!text.ends_with(']') || text.size() < 5) return false;
  text = text.substr(1, text.size() - 2);
  const size_t dash = text.find('-');
  if (dash == Bytes::npos || text.size() < dash + 3) return false;
  const auto slot = ParseSlot(text.substr(0, dash));
  const auto id = NodeId::Parse(text.substr(dash + 3));
  if (!slot || !id) return false;
  ClusterNode* const other = &FindOrAdd(view, *id, random);
  const Bytes direction = text.substr(dash, 3);
  if (direction == "->-") view.SetMigrating(*slot, other);
  if (direction == "-<-") view.SetImporting(*slot, other);
  return direction == "->-" || direction == "-<-";
}

bool TakeSlots(ClusterView& view, ClusterNode& node, Bytes text, Random& random) {
  if (text.starts_with('[')) return TakeMove(view, text, random);
  const size_t dash = text.find('-');
  const auto first = ParseSlot(text.substr(0, dash));
  const auto last = dash == Bytes::npos ? first : ParseSlot(text.substr(dash + 1));
  if (!first || !last || *first > *last) return false;
  for (int slot = *first; slot <= *last; ++slot) {
    if (view.Owner(slot) != nullptr) return false;
    view.Assign(slot, &node);
  }
  return true;
}

bool TakeVars(ClusterView& view, const std::vector<Bytes>& words) {
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto value = ParseEpoch(words[i + 1]);
    if (!value) return false;
    if (words[i] == "currentEpoch") view.current_epoch = *value;
    if (words[i] == "lastVoteEpoch") view.last_vote_epoch = *value;
  }
  return words.size() % 2 == 1;
}

bool TakeLine(ClusterView& view, const Line& line, PortChoice port, Random& random) {
  ClusterNode& node = *view.Find(line.id);
  if (!TakeAddress(node, line.address, port)) return false;
  node.config_epoch = line.epoch;
  if (line.primary != "-") {
    const auto id = NodeId::Parse(line.primary);
    if (!id || *id == line.id) return false;
    view.MarkAsReplica(node, &FindOrAdd(view, *id, random));
  }
  return std::ranges::all_of(line.slots, [&](Bytes text) { return TakeSlots(view, node, text, random); });
}

}  // namespace

std::string FlagsText(const ClusterNode& node) {
  std::string text;
  for (const FlagName& one : kFlagNames) {
    if (!node.Is(one.flag)) continue;
    if (!text.empty()) text += ',';
    text += one.name;
  }
  return text.empty() ? "noflags" : text;
}

std::string SlotsText(const ClusterView& view, const ClusterNode& node) {
  return RangesText(RangesOf(view.SlotsOf(node)));
}

std::string NodeLine(const ClusterView& view, const ClusterNode& node, NodesFormat format) {
  return LineOf(view, node, format, RangesOf(view.SlotsOf(node)));
}

std::string NodesText(const ClusterView& view, NodesFormat format, uint16_t without_flags) {
  const RangesByNode ranges = AllRanges(view);
  std::string text;
  for (const auto& [id, node] : view.nodes()) {
    if ((node->flags & without_flags) != 0) continue;
    const auto found = ranges.find(node.get());
    text += LineOf(view, *node, format, found == ranges.end() ? std::vector<SlotRange>() : found->second) + "\n";
  }
  return text;
}

std::string NodesFileText(const ClusterView& view, PortChoice port) {
  return StrCat(NodesText(view, {.port = port, .form = NodeForm::kFile}, kNodeHandshake), "vars currentEpoch ",
                view.current_epoch, " lastVoteEpoch ", view.last_vote_epoch, "\n");
}

Result<std::unique_ptr<ClusterView>, std::string> ParseNodesFile(Bytes text, PortChoice port, Random& random) {
  std::vector<Line> lines;
  std::vector<Bytes> vars;
  for (const Bytes raw : SplitOn(text, '\n')) {
    const std::vector<Bytes> words = WordsOf(TrimSpaces(raw));
    if (words.empty()) continue;
    if (words[0] == "vars") {
      vars = words;
      continue;
    }
    auto line = ParseLine(words);
    if (!line) return Failure("Unrecoverable error: corrupted cluster config file \"" + std::string(raw) + "\".");
    lines.push_back(std::move(*line));
  }
  const auto is_mine = [](const Line& line) { return (line.flags & kNodeMyself) != 0; };
  const auto me = std::ranges::find_if(lines, is_mine);
  if (std::ranges::count_if(lines, is_mine) != 1) {
    return Failure(std::string("Unrecoverable error: corrupted cluster config file: not exactly one myself."));
  }
  auto view = std::make_unique<ClusterView>(me->id, NodeId::Draw(random));
  std::set<NodeId> ids;
  for (const Line& line : lines) {
    ClusterNode* node = view->Find(line.id);
    if (!ids.insert(line.id).second) {
      return Failure("Unrecoverable error: corrupted cluster config file: two lines of " + line.id.String() + ".");
    }
    if (node == nullptr) node = &view->Add(line.id, line.flags);
    node->flags = line.flags;
    // Clears flags that a node cannot have in its own view. For example, a node never considers itself failed.
    if (node->IsMyself()) {
      for (NodeFlag flag : {kNodePfail, kNodeFail, kNodeHandshake, kNodeMeet, kNodeNoAddress}) node->Clear(flag);
    }
    if (node->shard.IsNull()) node->shard = NodeId::Draw(random);
  }
  const bool is_sound = (vars.empty() || TakeVars(*view, vars)) && std::ranges::all_of(lines, [&](const Line& line) {
                          return TakeLine(*view, line, port, random);
                        });
  if (!is_sound) return Failure(std::string("Unrecoverable error: corrupted cluster config file."));
  view->current_epoch = view->LargestEpoch();
  return view;
}

}  // namespace respite
