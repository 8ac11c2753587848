// SENTINEL MONITOR, REMOVE, SET, RESET, FAILOVER, CONFIG, DEBUG, FLUSHCONFIG and SIMULATE-FAILURE: change which
// primaries this Sentinel monitors, and how.
#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <vector>

#include "base/glob.h"
#include "base/str_cat.h"
#include "server/commands/families.h"
#include "server/commands/sentinel/sentinel_commands.h"
#include "server/config/config.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNoSuchConfig[] =
    "ERR Only SENTINEL CONFIG GET <param> [<param> <param> ...]/ SET <param> <value> [<param> <value> ...] are "
    "supported.";

}  // namespace
}  // namespace refusals

namespace {

struct SentinelFailover {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|FAILOVER master-name",
      .where = Where::kSentinels,
      .summary = "Replaces a primary by one of its replicas, without asking other Sentinels.",
      .since = "2.8.4",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call) {
    Primary& primary = PrimaryNamed(call, call.args.Next());
    if (primary.is_failing_over) throw Refusal{"INPROG Failover already in progress"};
    PrimaryFailover& failover = SentinelOf(call).failover();
    if (failover.FindBestReplica(primary) == nullptr) throw Refusal{"NOGOODSLAVE No suitable replica to promote"};
    failover.ForceFailover(primary);
    call.reply.Ok();
  }
};

struct SentinelFlushConfig {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|FLUSHCONFIG",
      .where = Where::kSentinels,
      .summary = "Writes the configuration file, with everything that this Sentinel knows.",
      .since = "2.8.4",
      .complexity = "O(1)",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call) { SaveAndReply(call); }
};

struct SentinelMonitor {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MONITOR name ip port:integer quorum:integer",
                                       .where = Where::kSentinels,
                                       .summary = "Begins to watch a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    auto [name, host, port_text, quorum_text] = call.args.Take<Bytes, Bytes, Bytes, Bytes>();
    const int64_t quorum = Args::Integer(quorum_text, "ERR Invalid quorum");
    const int64_t port = Args::Integer(port_text, "ERR Invalid port");
    if (quorum <= 0) throw Refusal{"ERR Quorum must be 1 or greater."};
    if (quorum > INT_MAX) throw Refusal{"ERR Invalid quorum"};
    if (port != static_cast<int>(port)) throw Refusal{"ERR Invalid port"};
    Sentinel& sentinel = SentinelOf(call);
    const SentinelCore& core = sentinel.core();
    const std::string place(host);
    if (!core.ResolveAddress(place, 0, SentinelCore::Accept::kResolved).ok()) {
      throw Refusal{"ERR Invalid IP address or hostname specified"};
    }
    const auto added =
        sentinel.list().AddPrimary(std::string(name), place, static_cast<int>(port), static_cast<int>(quorum));
    if (!added.ok()) throw Refusal{"ERR " + TextOf(added.error(), InstanceKind::kPrimary)};
    sentinel.events().Tell(LogLevel::kWarning, "+monitor", *added.value(), StrCat(" quorum ", quorum));
    SaveAndReply(call);
  }
};

struct SentinelRemove {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|REMOVE master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Stops watching a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    Primary& primary = PrimaryNamed(call, call.args.Next());
    SentinelOf(call).events().Tell(LogLevel::kWarning, "-monitor", primary);
    SentinelOf(call).list().Remove(primary);
    SaveAndReply(call);
  }
};

struct SentinelReset {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|RESET pattern:pattern",
                                       .where = Where::kSentinels,
                                       .summary = "Discards the known replicas and Sentinels of some primaries.",
                                       .since = "2.8.4",
                                       .complexity = "O(N) for N primaries",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    Sentinel& sentinel = SentinelOf(call);
    const Glob pattern(call.args.Next());
    int64_t count = 0;
    for (const auto& [name, primary] : sentinel.state().primaries) {
      if (!pattern.Matches(name)) continue;
      sentinel.list().Reset(*primary, InstanceList::Sentinels::kForget);
      sentinel.events().Tell(LogLevel::kWarning, "+reset-master", *primary);
      ++count;
    }
    call.reply.Integer(count);
  }
};

struct SentinelSimulateFailure {
  static constexpr CommandSpec spec = {
      .syntax =
          "SENTINEL|SIMULATE-FAILURE "
          "[mode(crash-after-election:pure-token|crash-after-promotion:pure-token|help:pure-token)...]",
      .where = Where::kSentinels,
      .summary = "Makes this Sentinel crash in the middle of a failover, for tests.",
      .since = "3.2.0",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin,
      .arity = -3};
  static void Run(Call& call) {
    SimulatedFailures& simulated_failures = SentinelOf(call).state().simulated_failures;
    Logger& log = call.services.env.log;
    simulated_failures = {};
    while (!call.args.AtEnd()) {
      if (call.args.TakeToken("crash-after-election")) {
        simulated_failures.crash_after_election = true;
        log.Warning("Failure simulation: this Sentinel will crash after being successfully elected as failover leader");
      } else if (call.args.TakeToken("crash-after-promotion")) {
        simulated_failures.crash_after_promotion = true;
        log.Warning("Failure simulation: this Sentinel will crash after promoting the selected replica to master");
      } else if (call.args.TakeToken("help")) {
        return call.reply.BulkArray(std::array<Bytes, 2>{"crash-after-election", "crash-after-promotion"});
      } else {
        throw Refusal{"ERR Unknown failure simulation specified"};
      }
    }
    call.reply.Ok();
  }
};

// --- SENTINEL SET.

class PrimarySetter {
 public:
  PrimarySetter(Call& call, Primary& primary) : call_(call), sentinel_(SentinelOf(call)), primary_(primary) {}

  // Sets the options of SENTINEL SET one after the other. Stops with an error at an invalid option; the options before
  // the invalid one stay set.
  void SetAll() {
    call_.args.ExpectFewArguments();
    try {
      while (!call_.args.AtEnd()) SetOne();
    } catch (const Refusal&) {
      if (has_changed_) sentinel_.core().Save();
      throw;
    }
    SaveAndReply(call_);
  }

 private:
  struct Number {
    Bytes option;
    int64_t Primary::*setting;
    int64_t least;
  };
  static constexpr std::array<Number, 4> kNumbers = {
      Number{"down-after-milliseconds", &Primary::down_after_ms, 1},
      Number{"failover-timeout", &Primary::failover_timeout_ms, 1},
      Number{"parallel-syncs", &Primary::parallel_syncs, 1},
      Number{"master-reboot-down-after-period", &Primary::reboot_down_after_ms, 0}};

  void SetOne();
  bool SetNumber(Bytes option, Bytes value);
  bool SetText(Bytes option, Bytes value);
  bool SetScript(Bytes option, const std::string& value);
  void RenameCommand(Bytes option);
  int64_t AtLeast(int64_t least, Bytes option, Bytes value) const;
  void CheckScript(const std::string& path, const char* objection) const;
  void Tell(const std::string& words) {
    has_changed_ = true;
    sentinel_.events().Tell(LogLevel::kWarning, "+set", primary_, " " + words);
  }
  [[noreturn]] static void RefuseValue(Bytes option, Bytes value) {
    throw Refusal{"ERR Invalid argument '" + std::string(value) + "' for SENTINEL SET '" + std::string(option) + "'"};
  }

  Call& call_;
  Sentinel& sentinel_;
  Primary& primary_;
  bool has_changed_ = false;
};

void PrimarySetter::SetOne() {
  const Bytes option = call_.args.Next();
  if (EqualsIgnoreCase(option, "rename-command") && call_.args.Left() >= 2) return RenameCommand(option);
  const bool has_value = !call_.args.AtEnd();
  const Bytes value = has_value ? call_.args.Next() : Bytes();
  if (!has_value || !(SetNumber(option, value) || SetText(option, value) || SetScript(option, std::string(value)))) {
    throw Refusal{"ERR Unknown option or number of arguments for SENTINEL SET '" + std::string(option) + "'"};
  }
  const Bytes shown = EqualsIgnoreCase(option, "auth-pass") ? Bytes("******") : value;
  Tell(std::string(option) + " " + std::string(shown));
}

int64_t PrimarySetter::AtLeast(int64_t least, Bytes option, Bytes value) const {
  const auto number = ParseInteger(value);
  if (!number || *number < least) RefuseValue(option, value);
  return *number;
}

bool PrimarySetter::SetNumber(Bytes option, Bytes value) {
  if (EqualsIgnoreCase(option, "quorum")) {
    const int64_t quorum = AtLeast(1, option, value);
    if (quorum > INT_MAX) RefuseValue(option, value);
    primary_.quorum = static_cast<int>(quorum);
    return true;
  }
  for (const Number& number : kNumbers) {
    if (!EqualsIgnoreCase(option, number.option)) continue;
    primary_.*number.setting = AtLeast(number.least, option, value);
    return true;
  }
  return false;
}

bool PrimarySetter::SetText(Bytes option, Bytes value) {
  const bool is_password = EqualsIgnoreCase(option, "auth-pass");
  if (!is_password && !EqualsIgnoreCase(option, "auth-user")) return false;
  (is_password ? primary_.password : primary_.user) = value;
  sentinel_.list().DropServerLinks(primary_);
  return true;
}

bool PrimarySetter::SetScript(Bytes option, const std::string& value) {
  if (EqualsIgnoreCase(option, "notification-script")) {
    CheckScript(value, "ERR Notification script seems non existing or non executable");
    primary_.notification_script = value;
  } else if (EqualsIgnoreCase(option, "client-reconfig-script")) {
    CheckScript(value, "ERR Client reconfiguration script seems non existing or non executable");
    primary_.reconfiguration_script = value;
  } else {
    return false;
  }
  return true;
}

void PrimarySetter::CheckScript(const std::string& path, const char* objection) const {
  if (sentinel_.state().options.denies_script_changes) {
    throw Refusal{
        "ERR Reconfiguration of scripts path is denied for security reasons. Check the deny-scripts-reconfig "
        "configuration directive in your Sentinel configuration"};
  }
  if (!path.empty() && !sentinel_.core().host.MayRun(path)) throw Refusal{objection};
}

// Renames a command that this Sentinel sends to the primary. If the two names are equal, removes the renaming.
void PrimarySetter::RenameCommand(Bytes option) {
  const std::string from(call_.args.Next());
  const std::string to(call_.args.Next());
  if (from.empty() || to.empty()) RefuseValue(option, to.empty() ? to : from);
  primary_.renamed_commands.erase(from);
  if (!EqualsIgnoreCase(from, to)) primary_.renamed_commands.emplace(from, to);
  Tell(std::string(option) + " " + from + " " + to);
}

struct SentinelSet {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|SET master-name data{option value}...",
                                       .where = Where::kSentinels,
                                       .summary = "Changes settings of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .arity = -5};
  static void Run(Call& call) {
    Primary& primary = PrimaryNamed(call, call.args.Next());
    PrimarySetter(call, primary).SetAll();
  }
};

// --- SENTINEL CONFIG.

Bytes LogLevelName(LogLevel level) {
  constexpr std::array<Bytes, 5> kNames = {"debug", "verbose", "notice", "warning", "nothing"};
  return kNames[static_cast<size_t>(level)];
}

std::optional<bool> ParseYesOrNo(Bytes text) {
  if (EqualsIgnoreCase(text, "yes")) return true;
  if (EqualsIgnoreCase(text, "no")) return false;
  return std::nullopt;
}

std::optional<int> Port(Bytes text) {
  const auto number = ParseInteger(text);
  if (!number || *number < 0 || *number > 65535) return std::nullopt;
  return static_cast<int>(*number);
}

// One setting of SENTINEL CONFIG.
struct SentinelOption {
  Bytes name;
  std::string (*get)(const Call&);
  bool (*accepts)(Bytes);
  void (*set)(Call&, Bytes);
};

SentinelOptions& OptionsOf(const Call& call) { return SentinelOf(call).state().options; }
bool AcceptsAll(Bytes) { return true; }
bool AcceptsSwitch(Bytes value) { return ParseYesOrNo(value).has_value(); }

void SetLevel(Call& call, Bytes value) {
  const LogLevel level = *ParseLogLevel(value);
  call.services.env.config.MutableSettings().loglevel = level;
  call.services.env.log.SetLevel(level);
}

template <bool SentinelOptions::*option>
constexpr SentinelOption SwitchOption(Bytes name) {
  return {name, [](const Call& call) { return std::string(OptionsOf(call).*option ? "yes" : "no"); }, AcceptsSwitch,
          [](Call& call, Bytes value) { OptionsOf(call).*option = *ParseYesOrNo(value); }};
}

template <std::string SentinelOptions::*option>
constexpr SentinelOption TextOption(Bytes name) {
  return {name, [](const Call& call) { return OptionsOf(call).*option; }, AcceptsAll,
          [](Call& call, Bytes value) { OptionsOf(call).*option = value; }};
}

constexpr Bytes kUser = "sentinel-user";
constexpr Bytes kPassword = "sentinel-pass";

// All settings that SENTINEL CONFIG can read and change, in the order in which SENTINEL CONFIG GET replies with them.
constexpr std::array kSentinelOptions = {
    SwitchOption<&SentinelOptions::resolves_hostnames>("resolve-hostnames"),
    SwitchOption<&SentinelOptions::announces_hostnames>("announce-hostnames"),
    TextOption<&SentinelOptions::announce_ip>("announce-ip"),
    SentinelOption{"announce-port", [](const Call& call) { return std::to_string(OptionsOf(call).announce_port); },
                   [](Bytes value) { return Port(value).has_value(); },
                   [](Call& call, Bytes value) { OptionsOf(call).announce_port = *Port(value); }},
    TextOption<&SentinelOptions::user>(kUser),
    TextOption<&SentinelOptions::password>(kPassword),
    SentinelOption{"loglevel",
                   [](const Call& call) { return std::string(LogLevelName(call.services.env.settings.loglevel)); },
                   [](Bytes value) { return ParseLogLevel(value).has_value(); }, SetLevel}};

void GetSentinelOptions(Call& call) {
  call.args.ExpectFewArguments();
  std::vector<const SentinelOption*> found;
  for (const Bytes word : call.args.Rest()) {
    const Glob pattern(word, CaseMode::kIgnore);
    for (const SentinelOption& option : kSentinelOptions) {
      const bool is_new = std::ranges::find(found, &option) == found.end();
      if (is_new && pattern.Matches(option.name)) found.push_back(&option);
    }
  }
  call.reply.Map(found.size());
  for (const SentinelOption* option : found) {
    call.reply.Bulk(option->name);
    call.reply.Bulk(option->get(call));
  }
}

struct Change {
  const SentinelOption* option;
  Bytes value;
};

std::vector<Change> TakeChanges(Call& call) {
  std::vector<Change> changes;
  while (!call.args.AtEnd()) {
    const Bytes name = call.args.Next();
    const std::string shown(name);
    const auto option = std::ranges::find_if(
        kSentinelOptions, [&](const SentinelOption& one) { return EqualsIgnoreCase(one.name, name); });
    if (option == kSentinelOptions.end()) throw Refusal{"ERR Invalid argument '" + shown + "' to SENTINEL CONFIG SET"};
    const auto is_same = [&](const Change& change) { return change.option == &*option; };
    if (std::ranges::any_of(changes, is_same)) {
      throw Refusal{"ERR Duplicate argument '" + shown + "' to SENTINEL CONFIG SET"};
    }
    if (call.args.AtEnd()) throw Refusal{"ERR Missing argument '" + shown + "' value"};
    const Bytes value = call.args.Next();
    if (!option->accepts(value)) {
      throw Refusal{"ERR Invalid value '" + std::string(value) + "' to SENTINEL CONFIG SET '" + shown + "'"};
    }
    changes.push_back({&*option, value});
  }
  return changes;
}

// Sets all options of a SENTINEL CONFIG SET, or none of them if one is not valid. If the user or the password changes,
// closes the links to other Sentinels, so that this Sentinel logs in again.
void SetSentinelOptions(Call& call) {
  const std::vector<Change> changes = TakeChanges(call);
  for (const Change& change : changes) change.option->set(call, change.value);
  const auto is_login = [](const Change& change) {
    return change.option->name == kUser || change.option->name == kPassword;
  };
  if (std::ranges::any_of(changes, is_login)) SentinelOf(call).list().DropSentinelLinks();
  SaveAndReply(call);
}

struct SentinelConfig {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|CONFIG action(SET set{parameter value}...|GET parameter...)",
                                       .where = Where::kSentinels,
                                       .summary = "Reads or changes settings of this Sentinel.",
                                       .since = "6.2.0",
                                       .complexity = "O(N) for N settings",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .history = "7.2.0: Accepts several settings.",
                                       .arity = -4};
  static void Run(Call& call) {
    if (call.args.TakeTokenWith("SET", 2)) return SetSentinelOptions(call);
    if (call.args.TakeTokenWith("GET", 1)) return GetSentinelOptions(call);
    throw Refusal{refusals::kNoSuchConfig};
  }
};

// --- SENTINEL DEBUG.

struct Period {
  Bytes name;
  int64_t SentinelPeriods::*period;
};

constexpr std::array kPeriods = {Period{"INFO-PERIOD", &SentinelPeriods::info_period_ms},
                                 Period{"PING-PERIOD", &SentinelPeriods::ping_period_ms},
                                 Period{"ASK-PERIOD", &SentinelPeriods::ask_period_ms},
                                 Period{"PUBLISH-PERIOD", &SentinelPeriods::publish_period_ms},
                                 Period{"DEFAULT-DOWN-AFTER", &SentinelPeriods::default_down_after_ms},
                                 Period{"DEFAULT-FAILOVER-TIMEOUT", &SentinelPeriods::default_failover_timeout_ms},
                                 Period{"TILT-TRIGGER", &SentinelPeriods::tilt_trigger_ms},
                                 Period{"TILT-PERIOD", &SentinelPeriods::tilt_period_ms},
                                 Period{"SLAVE-RECONF-TIMEOUT", &SentinelPeriods::reconfiguration_timeout_ms},
                                 Period{"MIN-LINK-RECONNECT-PERIOD", &SentinelPeriods::min_link_age_ms},
                                 Period{"ELECTION-TIMEOUT", &SentinelPeriods::election_timeout_ms},
                                 Period{"SCRIPT-MAX-RUNTIME", &SentinelPeriods::script_max_runtime_ms},
                                 Period{"SCRIPT-RETRY-DELAY", &SentinelPeriods::script_retry_delay_ms}};

void ShowPeriods(Call& call) {
  call.reply.Map(kPeriods.size());
  for (const Period& period : kPeriods) {
    call.reply.Bulk(period.name);
    call.reply.BulkInteger(SentinelOf(call).state().periods.*period.period);
  }
}

void SetPeriod(Call& call) {
  const Bytes name = call.args.Next();
  const auto period =
      std::ranges::find_if(kPeriods, [&](const Period& one) { return EqualsIgnoreCase(one.name, name); });
  if (period == kPeriods.end() || call.args.AtEnd()) {
    throw Refusal{"ERR Unknown option or number of arguments for SENTINEL DEBUG '" + std::string(name) + "'"};
  }
  const Bytes value = call.args.Next();
  const auto number = ParseInteger(value);
  if (!number || *number <= 0) {
    throw Refusal{"ERR Invalid argument '" + std::string(value) + "' for SENTINEL DEBUG '" + std::string(name) + "'"};
  }
  SentinelOf(call).state().periods.*period->period = *number;
}

struct SentinelDebug {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|DEBUG [data{parameter value}...]",
                                       .where = Where::kSentinels,
                                       .summary = "Reads or changes the periods by which this Sentinel works.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N periods",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    if (call.args.AtEnd()) return ShowPeriods(call);
    while (!call.args.AtEnd()) SetPeriod(call);
    call.reply.Ok();
  }
};

constexpr auto kSentinelChangeCommands =
    Family<SentinelConfig, SentinelDebug, SentinelFailover, SentinelFlushConfig, SentinelMonitor, SentinelRemove,
           SentinelReset, SentinelSet, SentinelSimulateFailure>();

}  // namespace

std::span<const CommandCard> SentinelChangeCommands() { return kSentinelChangeCommands; }

}  // namespace respite
