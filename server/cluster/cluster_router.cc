#include "server/cluster/cluster_router.h"

#include <algorithm>

#include "base/clock.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/execution/gates.h"

namespace respite {

namespace {

constexpr char kCrossSlot[] = "CROSSSLOT Keys in request don't hash to the same slot";
constexpr char kDownForWrites[] = "CLUSTERDOWN The cluster is down and only accepts read commands";
constexpr char kUnserved[] = "CLUSTERDOWN Hash slot not served";

// Errors for a client that is a node sending slots to this node (CLUSTER MIGRATESLOTS). Its requests may change slots
// that this node does not own yet, but only those that the sender gives away. So scripts, and writes that do not name
// their keys, are refused.
constexpr char kScriptOfSource[] = "ERR A node that sends slots may not run scripts";
constexpr char kNotOfSource[] = "ERR A node that sends slots may only send changes of keys";
constexpr char kFunctionsOfSource[] = "function|restore";
constexpr char kKeylessWriteOfSource[] = "ERR A node that sends slots may only write to keys of its slots";
// Errors for commands of scripts.
constexpr char kDownInScript[] = "ERR Script attempted to execute a command while the cluster is down";
constexpr char kDownForWritesInScript[] =
    "ERR Script attempted to execute a write command while the cluster is down and readonly";
constexpr char kElsewhereInScript[] = "ERR Script attempted to access a non local key in a cluster node";

bool IsExecution(const Request& request) {
  return request.command->Spec().transaction == TransactionRole::kExecutes && request.session.InTransaction();
}

bool IsAsking(const Request& request) {
  return request.command->Is(kAsking) || request.session.cluster_options.asking != ClientClusterState::Asking::kNo;
}

// Ends ASKING when it no longer applies. Called for each new request of the client. ASKING applies only to the next
// request, and to a script that it runs. If the next request is MULTI, ASKING applies to the whole transaction.
void AdvanceAsking(Session& session) {
  using Asking = ClientClusterState::Asking;
  Asking& asking = session.cluster_options.asking;
  if (asking == Asking::kNext) {
    asking = Asking::kTransaction;
  } else if (asking == Asking::kTransaction && !session.InTransaction()) {
    asking = Asking::kNo;
  }
}

}  // namespace

bool ClusterRouter::Exists(int db, Bytes key) const {
  const Entry* entry = parts_.keyspace[db].Find(key);
  return entry != nullptr && !entry->IsExpired(parts_.env.clock.WallMs());
}

void ClusterRouter::AddKey(RequestedKeys& requested_keys, Bytes key) const {
  const int slot = KeySlot(key);
  if (requested_keys.slot == -1) {
    requested_keys.slot = slot;
    requested_keys.first_key = key;
  }
  if (slot != requested_keys.slot) requested_keys.crosses_slots = true;
  if (requested_keys.imports != nullptr && !requested_keys.imports->Has(slot))
    requested_keys.has_keys_outside_imports = true;
  if (key != requested_keys.first_key) requested_keys.has_different_keys = true;
  const ClusterView& view = parts_.cluster.view();
  const bool moves = view.MigratingTo(slot) != nullptr || view.ImportingFrom(slot) != nullptr;
  if (moves && !requested_keys.are_not_keys)
    ++(Exists(requested_keys.db, key) ? requested_keys.existing_count : requested_keys.missing_count);
}

// Returns the number of the database that is selected after the command: for SELECT the new one, for other commands
// `db`. With it, the check of an EXEC knows the database of each queued command.
int ClusterRouter::SelectedDbAfter(int db, const Command& command, std::span<const Bytes> arguments) const {
  if (!command.Spec().selects_database || arguments.size() < 2) return db;
  const auto number = ParseInteger(arguments[1]);
  return number && *number >= 0 && *number < parts_.keyspace.Count() ? static_cast<int>(*number) : db;
}

void ClusterRouter::AddKeysOf(RequestedKeys& requested_keys, const Command& command,
                              std::span<const Bytes> arguments) const {
  const CommandSpec& spec = command.Spec();
  requested_keys.db = SelectedDbAfter(requested_keys.db, command, arguments);
  if (spec.uses_other_database != nullptr && spec.uses_other_database(arguments)) requested_keys.uses_other_db = true;
  if (spec.keys.count == 0 && spec.find_keys == nullptr) return;
  // Adds the slots of arguments that name a slot but are no keys: channels of sharded pub/sub, and cursors of
  // CLUSTERSCAN.
  for (const KeySpec& one : spec.keys.View()) {
    if ((one.flags & kKeyNotKey) == 0) continue;
    requested_keys.is_channel = command.Is(kPubSub);
    requested_keys.are_not_keys = true;
    const size_t end = one.last < 0 ? arguments.size() : static_cast<size_t>(one.index + one.last + 1);
    for (size_t i = static_cast<size_t>(one.index); i < std::min(end, arguments.size()); ++i)
      AddKey(requested_keys, arguments[i]);
  }
  for (const KeyRef& key : KeyPositions(spec, arguments)) AddKey(requested_keys, arguments[key.index]);
}

std::optional<int> ClusterRouter::SlotOf(const Command& command, std::span<const Bytes> arguments) const {
  RequestedKeys requested_keys;
  AddKeysOf(requested_keys, command, arguments);
  return requested_keys.slot == -1 ? std::nullopt : std::optional(requested_keys.slot);
}

bool ClusterRouter::IsServedHere(const Request& request) const { return Find(request).verdict == Verdict::kHere; }

ClusterRouter::Verdict ClusterRouter::DecideWhileDown(const Request& request,
                                                      const RequestedKeys& requested_keys) const {
  const Settings& settings = parts_.env.settings;
  if (requested_keys.is_channel) return settings.cluster_allow_pubsubshard_when_down ? Verdict::kHere : Verdict::kDown;
  if (!settings.cluster_allow_reads_when_down) return Verdict::kDown;
  return (request.flags & kWrite) != 0 ? Verdict::kDownForWrites : Verdict::kHere;
}

std::optional<ClusterRouter::Route> ClusterRouter::DecideForMovingSlot(const Request& request,
                                                                       const RequestedKeys& requested_keys) const {
  const ClusterView& view = parts_.cluster.view();
  const bool is_mine = view.Owner(requested_keys.slot) == &view.me();
  const ClusterNode* target = is_mine ? view.MigratingTo(requested_keys.slot) : nullptr;
  const bool comes = view.ImportingFrom(requested_keys.slot) != nullptr;
  if (target == nullptr && !comes) return std::nullopt;
  if (request.command->Spec().serves_moving_slots) return Route{};
  const bool is_served = is_mine || IsAsking(request);
  if (requested_keys.uses_other_db && is_served) return Route{Verdict::kTryAgain, nullptr, requested_keys.slot};
  if (target != nullptr && requested_keys.missing_count != 0) {
    return Route{requested_keys.existing_count != 0 ? Verdict::kTryAgain : Verdict::kAsk, target, requested_keys.slot};
  }
  if (!comes || !IsAsking(request)) return std::nullopt;
  return Route{
      requested_keys.has_different_keys && requested_keys.missing_count != 0 ? Verdict::kTryAgain : Verdict::kHere,
      nullptr, requested_keys.slot};
}

ClusterRouter::Route ClusterRouter::Find(const Request& request) const {
  RequestedKeys requested_keys{.db = request.session.db, .imports = request.session.cluster_options.imports};
  if (IsExecution(request)) {
    request.session.transaction->ForEach(
        [&](const Command& queued, std::span<const Bytes> words) { AddKeysOf(requested_keys, queued, words); });
  } else {
    AddKeysOf(requested_keys, *request.command, request.words);
  }
  if (requested_keys.slot == -1) return {};
  const ClusterView& view = parts_.cluster.view();
  const ClusterNode* owner = view.Owner(requested_keys.slot);
  if (requested_keys.imports != nullptr && !requested_keys.has_keys_outside_imports) return {};
  if (owner == nullptr || requested_keys.imports != nullptr) return {Verdict::kUnserved, nullptr, requested_keys.slot};
  if (requested_keys.crosses_slots) return {Verdict::kCross, nullptr, requested_keys.slot};
  if (!view.is_ok) {
    const Verdict verdict = DecideWhileDown(request, requested_keys);
    if (verdict != Verdict::kHere) return {verdict, nullptr, requested_keys.slot};
  }
  if (!requested_keys.is_channel) {
    if (const auto route = DecideForMovingSlot(request, requested_keys)) return *route;
  }
  const ClusterNode& me = view.me();
  const bool is_read = (request.flags & kWrite) == 0 && request.session.cluster_options.reads_from_replica;
  const bool is_mine = owner == &me || (me.primary == owner && (is_read || requested_keys.is_channel));
  return is_mine ? Route{Verdict::kHere, nullptr, requested_keys.slot}
                 : Route{Verdict::kMoved, owner, requested_keys.slot};
}

// Returns true if the request can run without further checks. Most requests can: they have one key, in a slot that this
// node owns, while no slot moves and the cluster is up.
inline bool ClusterRouter::IsServedByFastPath(const Request& request) const {
  const uint32_t index = request.command->only_key_index;
  if (index == 0 || index >= request.words.size()) return false;
  const ClusterView& view = parts_.cluster.view();
  return view.is_ok && !view.HasMovingSlots() && view.Owner(KeySlot(request.words[index])) == &view.me();
}

void ClusterRouter::Check(const Request& request) const {
  if (request.progress.stage == Progress::Stage::kNew) AdvanceAsking(request.session);
  if (request.session.cluster_options.imports != nullptr) {
    if (request.session.cluster_options.is_internal) {
      // The session has all permissions. `FUNCTION RESTORE payload REPLACE` precedes the keys that Redis sends.
      const bool adds_functions = request.command->full_name == kFunctionsOfSource && request.words.size() == 4 &&
                                  EqualsIgnoreCase(request.words[3], "REPLACE");
      if (adds_functions) return;
      if (!IsSentBySlotSource(*request.command)) throw Refusal{kNotOfSource};
    }
    if (request.command->Is(kNoMandatoryKeys)) throw Refusal{kScriptOfSource};
    if (request.command->Is(kWrite) && request.command->Spec().keys.count == 0) throw Refusal{kKeylessWriteOfSource};
  } else if (IsServedByFastPath(request)) {
    return;
  }
  const Route route = Find(request);
  if (route.verdict != Verdict::kHere) throw RefusalOf(request, route);
}

std::optional<int> ClusterRouter::CheckInScript(const Request& request) const {
  const Route route = Find(request);
  switch (route.verdict) {
    case Verdict::kHere:
      return route.slot == -1 ? std::nullopt : std::optional(route.slot);
    case Verdict::kDown:
      throw Refusal{kDownInScript};
    case Verdict::kDownForWrites:
      throw Refusal{kDownForWritesInScript};
    default:  // as in Redis, also for keys in different slots (kCross)
      throw Refusal{kElsewhereInScript};
  }
}

std::optional<std::string> ClusterRouter::EndpointFor(const Session& session, const ClusterNode& node) const {
  switch (parts_.env.settings.cluster_preferred_endpoint_type) {
    case ClusterEndpointType::kIp:
      return IpFor(session, node);
    case ClusterEndpointType::kHostname:
      return node.hostname.empty() ? "?" : node.hostname;
    case ClusterEndpointType::kUnknown:
      break;
  }
  return std::nullopt;
}

const std::string& ClusterRouter::IpFor(const Session& session, const ClusterNode& node) {
  return node.IpFor(session.addresses.IsIpv6() ? IpFamily::kIpv6 : IpFamily::kIpv4);
}

int ClusterRouter::PortFor(const Session& session, const ClusterNode& node) {
  const bool is_tls = session.addresses.is_encrypted;
  if (is_tls) return node.address.tls_port != 0 ? node.address.tls_port : node.address.tcp_port;
  return node.address.tcp_port != 0 ? node.address.tcp_port : node.address.tls_port;
}

Refusal ClusterRouter::RefusalOf(const Request& request, const Route& route) const {
  const auto redirect = [](std::string text) { return Refusal{.text = std::move(text), .is_redirect = true}; };
  switch (route.verdict) {
    case Verdict::kHere:
      break;
    case Verdict::kCross:
      return redirect(kCrossSlot);
    case Verdict::kTryAgain:
      return redirect(refusals::kTryAgain);
    case Verdict::kDown:
      return redirect(refusals::kClusterDown);
    case Verdict::kDownForWrites:
      return redirect(kDownForWrites);
    case Verdict::kUnserved:
      return redirect(kUnserved);
    case Verdict::kAsk:
    case Verdict::kMoved:
      return redirect(StrCat(route.verdict == Verdict::kAsk ? "ASK " : "MOVED ", route.slot, " ",
                             EndpointFor(request.session, *route.node).value_or(""), ":",
                             PortFor(request.session, *route.node)));
  }
  return {};
}

}  // namespace respite
