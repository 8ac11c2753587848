// CLIENT TRACKING and the other subcommands of CLIENT for client-side caching. The rest of CLIENT is in
// client_commands.cc.
#include <algorithm>
#include <span>

#include "server/catalogue/refusals.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/tracking.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kOneRedirect[] = "ERR A client can only redirect to a single other client";
constexpr char kRedirectUnknown[] = "ERR The client ID you want redirect to does not exist";
constexpr char kPrefixWithoutBcast[] = "ERR PREFIX option requires BCAST mode to be enabled";
constexpr char kBcastSwitch[] =
    "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
constexpr char kOptWithBcast[] = "ERR OPTIN and OPTOUT are not compatible with BCAST";
constexpr char kOptInAndOut[] = "ERR You can't specify both OPTIN mode and OPTOUT mode";
constexpr char kOptSwitch[] =
    "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
constexpr char kCachingWithoutOpt[] =
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled";
constexpr char kCachingYes[] = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";
constexpr char kCachingNo[] = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.";
// Returns the error of CLIENT TRACKING for two prefixes, one of which begins with the other. `which` says where `other`
// comes from: "an existing" or "another provided".
Refusal PrefixOverlap(Bytes prefix, Bytes which, Bytes other) {
  return {"ERR Prefix '" + std::string(prefix) + "' overlaps with " + std::string(which) + " prefix '" +
          std::string(other) + "'. Prefixes for a single client must not overlap."};
}

}  // namespace
}  // namespace refusals

namespace {

using TrackingMode = TrackingOptions::Mode;

// The options of CLIENT TRACKING as the client gave them. CheckRequest checks whether they can be combined.
struct TrackingRequest {
  uint64_t redirect = 0;
  bool broadcast = false;
  bool opt_in = false;
  bool opt_out = false;
  bool no_loop = false;
  std::vector<Bytes> prefixes = {};

  TrackingMode mode() const {
    if (broadcast) return TrackingMode::kBroadcast;
    if (opt_in) return TrackingMode::kOptIn;
    return opt_out ? TrackingMode::kOptOut : TrackingMode::kAll;
  }
};

uint64_t ParseRedirect(Call& call, const TrackingRequest& request) {
  if (request.redirect != 0) throw Refusal{refusals::kOneRedirect};
  const auto id = static_cast<uint64_t>(call.args.NextInteger());
  if (call.services.clients.registry.Find(id) == nullptr) throw Refusal{refusals::kRedirectUnknown};
  return id;
}

TrackingRequest ParseRequest(Call& call) {
  TrackingRequest request;
  while (!call.args.AtEnd()) {
    if (call.args.TakeTokenWith("REDIRECT", 1)) {
      request.redirect = ParseRedirect(call, request);
    } else if (call.args.TakeToken("BCAST")) {
      request.broadcast = true;
    } else if (call.args.TakeToken("OPTIN")) {
      request.opt_in = true;
    } else if (call.args.TakeToken("OPTOUT")) {
      request.opt_out = true;
    } else if (call.args.TakeToken("NOLOOP")) {
      request.no_loop = true;
    } else if (call.args.TakeTokenWith("PREFIX", 1)) {
      request.prefixes.push_back(call.args.Next());
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return request;
}

bool Overlap(Bytes one, Bytes other) { return one.starts_with(other) || other.starts_with(one); }

// Throws an error that names the first two prefixes that overlap. Checks the pairs in the same order as Redis. Cost:
// O(n²).
void NameOverlap(const TrackingRequest& request, const TrackingOptions* old) {
  for (size_t i = 0; i < request.prefixes.size(); ++i) {
    const Bytes prefix = request.prefixes[i];
    if (old != nullptr) {
      for (const std::string& existing : old->prefixes) {
        if (Overlap(prefix, existing)) throw refusals::PrefixOverlap(prefix, "an existing", existing);
      }
    }
    for (size_t j = i + 1; j < request.prefixes.size(); ++j) {
      if (Overlap(prefix, request.prefixes[j]))
        throw refusals::PrefixOverlap(prefix, "another provided", request.prefixes[j]);
    }
  }
}

// Throws a Refusal if two prefixes overlap: one begins with the other. Compares only neighbours, because in sorted
// order, all texts that begin with a prefix directly follow it.
void RefuseNeighbours(std::span<const Bytes> sorted) {
  const auto found = std::adjacent_find(sorted.begin(), sorted.end(), Overlap);
  if (found != sorted.end()) throw refusals::PrefixOverlap(found[0], "another provided", found[1]);
}

// Refuses prefixes of CLIENT TRACKING that overlap. Compares up to 1000 prefixes in pairs, in the order of Redis:
// O(n²). Sorts more prefixes: O(n log n). The error may then name another pair than Redis does.
void CheckPrefixes(const TrackingRequest& request, const TrackingOptions* old) {
  constexpr size_t kFew = 1000;
  const size_t existing = old == nullptr ? 0 : old->prefixes.size();
  if (request.prefixes.size() + existing <= kFew) return NameOverlap(request, old);
  std::vector<Bytes> all = request.prefixes;
  if (old != nullptr) all.insert(all.end(), old->prefixes.begin(), old->prefixes.end());
  std::sort(all.begin(), all.end());
  RefuseNeighbours(all);
}

void CheckRequest(const TrackingRequest& request, const TrackingOptions* old) {
  if (!request.broadcast && !request.prefixes.empty()) throw Refusal{refusals::kPrefixWithoutBcast};
  if (old != nullptr && (old->mode == TrackingMode::kBroadcast) != request.broadcast)
    throw Refusal{refusals::kBcastSwitch};
  if (request.broadcast && (request.opt_in || request.opt_out)) throw Refusal{refusals::kOptWithBcast};
  if (request.opt_in && request.opt_out) throw Refusal{refusals::kOptInAndOut};
  if (old != nullptr && ((request.opt_in && old->mode == TrackingMode::kOptOut) ||
                         (request.opt_out && old->mode == TrackingMode::kOptIn))) {
    throw Refusal{refusals::kOptSwitch};
  }
  if (request.broadcast) CheckPrefixes(request, old);
}

struct ClientTracking {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLIENT|TRACKING status(ON|OFF) [REDIRECT client-id:integer] [PREFIX... prefix] [BCAST] [OPTIN] "
          "[OPTOUT] [NOLOOP]",
      .where = Where::kEverywhere,
      .summary = "Turns messages about changes of keys that this client caches on or off.",
      .since = "6.0.0",
      .complexity = "O(1) for each prefix",
      .group = CommandGroup::kConnection,
      .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    const bool on = call.args.TakeToken("ON");
    const Bytes status = on ? Bytes("ON") : call.args.Next();
    const TrackingRequest request = ParseRequest(call);
    if (!on && !EqualsIgnoreCase(status, "OFF")) throw Refusal{refusals::kSyntax};
    Tracking& tracking = call.services.clients.tracking;
    if (!on) {
      tracking.Disable(call.session);
      return call.reply.Ok();
    }
    CheckRequest(request, call.session.tracking.get());
    TrackingOptions options{.mode = request.mode(), .no_loop = request.no_loop, .redirect = request.redirect};
    options.prefixes.insert(request.prefixes.begin(), request.prefixes.end());
    if (request.broadcast && request.prefixes.empty()) options.prefixes.emplace();
    tracking.Enable(call.session, std::move(options));
    call.reply.Ok();
  }
};

struct ClientCaching {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|CACHING mode(YES|NO)",
                                       .where = Where::kEverywhere,
                                       .summary = "Says whether the keys of the next command are tracked.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    TrackingOptions* options = call.session.tracking.get();
    if (options == nullptr) throw Refusal{refusals::kCachingWithoutOpt};
    const bool yes = call.args.TakeToken("YES");
    if (!yes && !call.args.TakeToken("NO")) throw Refusal{refusals::kSyntax};
    if (yes && options->mode != TrackingMode::kOptIn) throw Refusal{refusals::kCachingYes};
    if (!yes && options->mode != TrackingMode::kOptOut) throw Refusal{refusals::kCachingNo};
    options->has_caching_choice = true;
    call.reply.Ok();
  }
};

struct ClientGetRedir {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|GETREDIR",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells which client gets the tracking messages of this one.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    const TrackingOptions* options = call.session.tracking.get();
    call.reply.Integer(options == nullptr ? -1 : static_cast<int64_t>(options->redirect));
  }
};

struct ClientTrackingInfo {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|TRACKINGINFO",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells the tracking state of the connection.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call) {
    const TrackingOptions* options = call.session.tracking.get();
    std::vector<Bytes> flags = {options == nullptr ? "off" : "on"};
    if (options != nullptr) {
      if (options->mode == TrackingMode::kBroadcast) flags.push_back("bcast");
      if (options->mode == TrackingMode::kOptIn) flags.push_back("optin");
      if (options->mode == TrackingMode::kOptIn && options->has_caching_choice) flags.push_back("caching-yes");
      if (options->mode == TrackingMode::kOptOut) flags.push_back("optout");
      if (options->mode == TrackingMode::kOptOut && options->has_caching_choice) flags.push_back("caching-no");
      if (options->no_loop) flags.push_back("noloop");
      if (options->redirect_lost) flags.push_back("broken_redirect");
    }
    call.reply.Map(3);
    call.reply.Bulk("flags");
    call.reply.Set(flags.size());
    for (Bytes flag : flags) call.reply.Bulk(flag);
    call.reply.Bulk("redirect");
    call.reply.Integer(options == nullptr ? -1 : static_cast<int64_t>(options->redirect));
    call.reply.Bulk("prefixes");
    const std::set<std::string, std::less<>> none;
    call.reply.BulkArray(options == nullptr ? none : options->prefixes);
  }
};

constexpr auto kClientTrackingCommands = Family<ClientCaching, ClientGetRedir, ClientTracking, ClientTrackingInfo>();

}  // namespace

std::span<const CommandCard> ClientTrackingCommands() { return kClientTrackingCommands; }

}  // namespace respite
