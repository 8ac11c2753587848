#include "server/sentinel/sentinel_lines_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace respite {

namespace {

constexpr std::array<Bytes, 9> kGlobalKeywords = {"announce-ip",   "announce-port",     "deny-scripts-reconfig",
                                                  "sentinel-user", "sentinel-pass",     "current-epoch",
                                                  "myid",          "resolve-hostnames", "announce-hostnames"};

constexpr std::array<Bytes, 14> kPrimaryKeywords = {"down-after-milliseconds",
                                                    "failover-timeout",
                                                    "parallel-syncs",
                                                    "notification-script",
                                                    "client-reconfig-script",
                                                    "auth-pass",
                                                    "auth-user",
                                                    "master-reboot-down-after-period",
                                                    "config-epoch",
                                                    "leader-epoch",
                                                    "known-replica",
                                                    "known-slave",
                                                    "known-sentinel",
                                                    "rename-command"};

// Returns the number at the beginning of the text, whatever follows it, as in Redis.
int64_t NumberOf(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }
uint64_t EpochOf(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

std::optional<bool> YesOrNo(const std::string& text) {
  if (EqualsIgnoreCase(text, "yes")) return true;
  if (EqualsIgnoreCase(text, "no")) return false;
  return std::nullopt;
}

std::optional<std::string> ReadSwitch(SentinelOptions& options, bool SentinelOptions::*option, const std::string& value,
                                      const char* objection) {
  const auto parsed = YesOrNo(value);
  if (!parsed) return objection;
  options.*option = *parsed;
  return std::nullopt;
}

// Sets a number that must be at least `least`. Returns an error text, or nullopt on success.
std::optional<std::string> ReadAtLeast(Primary& primary, int64_t Primary::*setting, int64_t least,
                                       const std::string& value) {
  primary.*setting = NumberOf(value);
  if (primary.*setting >= least) return std::nullopt;
  return least == 0 ? "negative time parameter." : "negative or zero time parameter.";
}

}  // namespace

SentinelLinesReader::Rank SentinelLinesReader::RankOf(const std::string& keyword) {
  if (keyword == "monitor") return Rank::kMonitor;
  return std::ranges::find(kGlobalKeywords, keyword) != kGlobalKeywords.end() ? Rank::kGlobal : Rank::kPrimary;
}

// Reads the lines in three passes: global lines, `monitor` lines, and other lines about a primary. `monitor` depends on
// the global line `resolve-hostnames`, and a line of a primary needs the primary that `monitor` adds.
std::optional<InvalidLine> SentinelLinesReader::Read(const std::vector<ConfigLine>& lines) {
  for (const Rank rank : {Rank::kGlobal, Rank::kMonitor, Rank::kPrimary}) {
    for (const ConfigLine& line : lines) {
      const Words words(line.words.begin() + 1, line.words.end());
      if (RankOf(ToLower(words[0])) != rank) continue;
      if (auto objection = ReadLine(words)) return InvalidLine{&line, *objection};
    }
  }
  return std::nullopt;
}

SentinelLinesReader::Objection SentinelLinesReader::ReadLine(const Words& words) {
  const std::string keyword = ToLower(words[0]);
  if (keyword == "monitor" && words.size() == 5) return ReadMonitorLine(words);
  auto outcome = words.size() == 2 ? ReadGlobalLine(keyword, words) : ReadPrimaryLine(keyword, words);
  return outcome ? *outcome : "Unrecognized sentinel configuration statement.";
}

std::optional<SentinelLinesReader::Objection> SentinelLinesReader::ReadGlobalLine(const std::string& keyword,
                                                                                  const Words& words) {
  SentinelOptions& options = core_.state.options;
  const std::string& value = words[1];
  if (keyword == "announce-ip") {
    options.announce_ip = value;
  } else if (keyword == "announce-port") {
    options.announce_port = static_cast<int>(NumberOf(value));
  } else if (keyword == "sentinel-user") {
    options.user = value;
  } else if (keyword == "sentinel-pass") {
    options.password = value;
  } else if (keyword == "current-epoch") {
    core_.state.current_epoch = std::max(core_.state.current_epoch, EpochOf(value));
  } else if (keyword == "myid") {
    if (value.size() != kSentinelIdLength) return Objection("Malformed Sentinel id in myid option.");
    core_.state.id = value;
  } else if (keyword == "deny-scripts-reconfig") {
    return ReadSwitch(options, &SentinelOptions::denies_script_changes, value,
                      "Please specify yes or no for the deny-scripts-reconfig options.");
  } else if (keyword == "resolve-hostnames") {
    return ReadSwitch(options, &SentinelOptions::resolves_hostnames, value,
                      "Please specify yes or no for the resolve-hostnames option.");
  } else if (keyword == "announce-hostnames") {
    return ReadSwitch(options, &SentinelOptions::announces_hostnames, value,
                      "Please specify yes or no for the announce-hostnames option.");
  } else {
    return std::nullopt;
  }
  return Objection();
}

SentinelLinesReader::Objection SentinelLinesReader::ReadMonitorLine(const Words& words) {
  const int64_t quorum = NumberOf(words[4]);
  if (quorum <= 0) return "Quorum must be 1 or greater.";
  const auto added =
      list_.AddPrimary(words[1], words[2], static_cast<int>(NumberOf(words[3])), static_cast<int>(quorum));
  if (!added.ok()) return TextOf(added.error(), InstanceKind::kPrimary);
  return std::nullopt;
}

std::optional<SentinelLinesReader::Objection> SentinelLinesReader::ReadPrimaryLine(const std::string& keyword,
                                                                                   const Words& words) {
  if (keyword == "known-sentinel" && words.size() == 4) return Objection();  // without an id, from very old versions
  if (words.size() < 3 || std::ranges::find(kPrimaryKeywords, keyword) == kPrimaryKeywords.end()) return std::nullopt;
  Primary* const primary = core_.state.Find(words[1]);
  if (primary == nullptr) return Objection("No such master with specified name.");
  if (words.size() > 3) return ReadLongPrimaryLine(keyword, *primary, words);
  auto outcome = ReadNumber(keyword, *primary, words[2]);
  return outcome ? outcome : ReadText(keyword, *primary, words[2]);
}

std::optional<SentinelLinesReader::Objection> SentinelLinesReader::ReadNumber(const std::string& keyword,
                                                                              Primary& primary,
                                                                              const std::string& value) {
  if (keyword == "down-after-milliseconds") return ReadAtLeast(primary, &Primary::down_after_ms, 1, value);
  if (keyword == "failover-timeout") return ReadAtLeast(primary, &Primary::failover_timeout_ms, 1, value);
  if (keyword == "master-reboot-down-after-period") {
    return ReadAtLeast(primary, &Primary::reboot_down_after_ms, 0, value);
  }
  if (keyword == "parallel-syncs") {
    primary.parallel_syncs = NumberOf(value);
  } else if (keyword == "config-epoch") {
    primary.config_epoch = EpochOf(value);
    core_.state.current_epoch = std::max(core_.state.current_epoch, primary.config_epoch);
  } else if (keyword == "leader-epoch") {
    primary.leader_epoch = EpochOf(value);
  } else {
    return std::nullopt;
  }
  return Objection();
}

std::optional<SentinelLinesReader::Objection> SentinelLinesReader::ReadText(const std::string& keyword,
                                                                            Primary& primary,
                                                                            const std::string& value) {
  if (keyword == "notification-script") {
    if (!core_.host.MayRun(value)) return Objection("Notification script seems non existing or non executable.");
    primary.notification_script = value;
  } else if (keyword == "client-reconfig-script") {
    if (!core_.host.MayRun(value)) {
      return Objection("Client reconfiguration script seems non existing or non executable.");
    }
    primary.reconfiguration_script = value;
  } else if (keyword == "auth-pass") {
    primary.password = value;
  } else if (keyword == "auth-user") {
    primary.user = value;
  } else {
    return std::nullopt;
  }
  return Objection();
}

std::optional<SentinelLinesReader::Objection> SentinelLinesReader::ReadLongPrimaryLine(const std::string& keyword,
                                                                                       Primary& primary,
                                                                                       const Words& words) {
  const int port = static_cast<int>(NumberOf(words[3]));
  if ((keyword == "known-replica" || keyword == "known-slave") && words.size() == 4) {
    const auto added = list_.AddReplica(primary, words[2], port);
    return added.ok() ? Objection() : Objection(TextOf(added.error(), InstanceKind::kReplica));
  }
  if (keyword == "known-sentinel" && words.size() == 5) {
    const auto added = list_.AddSentinel(primary, words[4], words[2], port, SentinelCore::Accept::kUnresolved);
    return added.ok() ? Objection() : Objection(TextOf(added.error(), InstanceKind::kSentinel));
  }
  if (keyword != "rename-command" || words.size() != 4) return std::nullopt;
  if (primary.renamed_commands.emplace(words[2], words[3]).second) return Objection();
  return Objection("Same command renamed multiple times with rename-command.");
}

}  // namespace respite
