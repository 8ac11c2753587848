#include "server/sentinel/sentinel_lines.h"

#include <utility>

#include "base/bytes.h"
#include "base/str_cat.h"

namespace respite {

namespace {

class LineWriter {
 public:
  explicit LineWriter(const SentinelState& state) : state_(state) {}

  std::vector<SentinelLine> Write() {
    Add("myid", state_.id);
    AddSwitch("deny-scripts-reconfig", state_.options.denies_script_changes ? "yes" : "no", "yes");
    AddSwitch("resolve-hostnames", state_.options.resolves_hostnames ? "yes" : "no", "no");
    AddSwitch("announce-hostnames", state_.options.announces_hostnames ? "yes" : "no", "no");
    for (const auto& [name, primary] : state_.primaries) AddPrimary(*primary);
    Add("current-epoch", std::to_string(state_.current_epoch));
    if (!state_.options.announce_ip.empty()) Add("announce-ip", Quoted(state_.options.announce_ip));
    if (state_.options.announce_port != 0) Add("announce-port", std::to_string(state_.options.announce_port));
    AddText("sentinel-user", state_.options.user);
    AddText("sentinel-pass", state_.options.password);
    return std::move(lines_);
  }

 private:
  void Add(Bytes keyword, const std::string& rest) {
    lines_.push_back({std::string(keyword), {"sentinel " + std::string(keyword) + " " + rest, LinePresence::kAlways}});
  }
  void AddText(Bytes keyword, const std::string& value) {
    if (!value.empty()) Add(keyword, QuotedIfNeeded(value));
  }
  // Adds a yes/no directive. If its value is the default, it is written only if the file already has a line for this
  // directive.
  void AddSwitch(Bytes keyword, Bytes value, Bytes as_default) {
    Add(keyword, std::string(value));
    if (value == as_default) lines_.back().line.presence = LinePresence::kIfMentioned;
  }
  void AddPrimary(const Primary& primary);
  void AddSettings(const Primary& primary);
  void AddKnown(const Primary& primary);
  void AddOf(Bytes keyword, const Primary& primary, const std::string& rest) {
    Add(keyword, QuotedIfNeeded(primary.name) + " " + rest);
  }
  void AddTextOf(Bytes keyword, const Primary& primary, const std::string& value) {
    if (!value.empty()) AddOf(keyword, primary, QuotedIfNeeded(value));
  }
  void AddNumberOf(Bytes keyword, const Primary& primary, int64_t value, int64_t as_default) {
    if (value != as_default) AddOf(keyword, primary, std::to_string(value));
  }

  const SentinelState& state_;
  std::vector<SentinelLine> lines_;
};

void LineWriter::AddPrimary(const Primary& primary) {
  AddOf("monitor", primary, StrCat(state_.HostAndPortToAnnounce(CurrentAddress(primary)), " ", primary.quorum));
  AddSettings(primary);
  AddOf("config-epoch", primary, std::to_string(primary.config_epoch));
  AddOf("leader-epoch", primary, std::to_string(primary.leader_epoch));
  AddKnown(primary);
  for (const auto& [from, to] : primary.renamed_commands) {
    AddOf("rename-command", primary, QuotedIfNeeded(from) + " " + QuotedIfNeeded(to));
  }
}

void LineWriter::AddSettings(const Primary& primary) {
  AddNumberOf("down-after-milliseconds", primary, primary.down_after_ms, state_.periods.default_down_after_ms);
  AddNumberOf("failover-timeout", primary, primary.failover_timeout_ms, state_.periods.default_failover_timeout_ms);
  AddNumberOf("parallel-syncs", primary, primary.parallel_syncs, 1);
  AddTextOf("notification-script", primary, primary.notification_script);
  AddTextOf("client-reconfig-script", primary, primary.reconfiguration_script);
  AddTextOf("auth-pass", primary, primary.password);
  AddTextOf("auth-user", primary, primary.user);
  AddNumberOf("master-reboot-down-after-period", primary, primary.reboot_down_after_ms, 0);
}

// Writes the known replicas and Sentinels of a primary. During a failover, the line `monitor` may already name the
// promoted replica as the primary. If so, writes the old primary's address in the promoted replica's place.
void LineWriter::AddKnown(const Primary& primary) {
  const SentinelAddress& current = CurrentAddress(primary);
  for (const auto& [name, replica] : primary.replicas) {
    const SentinelAddress& address = replica->address.Is(current) ? primary.address : replica->address;
    AddOf("known-replica", primary, state_.HostAndPortToAnnounce(address));
  }
  for (const auto& [id, sentinel] : primary.sentinels) {
    AddOf("known-sentinel", primary, state_.HostAndPortToAnnounce(sentinel->address) + " " + id);
  }
}

}  // namespace

std::vector<SentinelLine> LinesOf(const SentinelState& state) { return LineWriter(state).Write(); }

}  // namespace respite
