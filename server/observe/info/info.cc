#include "server/observe/info/info.h"

#include <algorithm>
#include <array>

#include "server/execution/services.h"
#include "server/observe/info/field_marks.h"
#include "server/observe/info/sections.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

namespace {

// Which names select a section of INFO. kByDefault: its own name, "default", "all" and "everything". kInAll: its own
// name, "all" and "everything". kOnlyByName: only its own name.
enum class Included : uint8_t { kByDefault, kInAll, kOnlyByName };
// The kinds of servers whose INFO has the section.
enum class ServerKind : uint8_t { kDataServer, kSentinel, kBoth };

struct Section {
  Bytes name;
  Included included;
  std::string (*text)(const Services&);
  ServerKind teller = ServerKind::kDataServer;
  VersionMark since = {};  // if set, shown only if a version that has the section is emulated
};

constexpr std::array kSections = {
    Section{"server", Included::kByDefault, ServerSection, ServerKind::kBoth},
    Section{"tls", Included::kInAll, TlsSection, ServerKind::kDataServer, "valkey:9.1.0"},
    Section{"clients", Included::kByDefault, ClientsSection, ServerKind::kBoth},
    Section{"memory", Included::kByDefault, MemorySection},
    Section{"persistence", Included::kByDefault, PersistenceSection},
    Section{"threads", Included::kByDefault, ThreadsSection, ServerKind::kDataServer, "8.0.0"},
    Section{"stats", Included::kByDefault, StatsSection, ServerKind::kBoth},
    Section{"replication", Included::kByDefault, ReplicationSection},
    Section{"cpu", Included::kByDefault, CpuSection, ServerKind::kBoth},
    Section{"hotkeys", Included::kByDefault, HotKeysSection, ServerKind::kDataServer, "8.6.0"},
    Section{"modules", Included::kByDefault, ModulesSection},
    Section{"commandstats", Included::kInAll, CommandStatsSection},
    Section{"errorstats", Included::kByDefault, ErrorStatsSection},
    Section{"latencystats", Included::kInAll, LatencyStatsSection},
    Section{"cluster", Included::kByDefault, ClusterSection},
    Section{"cluster_info", Included::kInAll, ClusterInfoSection, ServerKind::kDataServer, "valkey:9.1.0"},
    Section{"scriptingengines", Included::kInAll, EnginesSection, ServerKind::kDataServer, "valkey:9.1.0"},
    Section{"keyspace", Included::kByDefault, KeyspaceSection},
    Section{"keysizes", Included::kByDefault, KeySizesSection, ServerKind::kDataServer, "8.0.0"},
    Section{"debug", Included::kOnlyByName, DebugSection},
    Section{"sentinel", Included::kByDefault, SentinelSection, ServerKind::kSentinel},
};

bool Asks(Bytes name, const Section& section) {
  if (EqualsIgnoreCase(name, section.name)) return true;
  if (EqualsIgnoreCase(name, "default")) return section.included == Included::kByDefault;
  if (EqualsIgnoreCase(name, "all") || EqualsIgnoreCase(name, "everything")) {
    return section.included != Included::kOnlyByName;
  }
  // INFO module_list shows the section "modules". In Redis, INFO modules also shows the sections that modules define,
  // and module_list does not. Here no module defines a section, so both names mean the same.
  return section.name == "modules" && EqualsIgnoreCase(name, "module_list");
}

}  // namespace

std::string InfoReport(const Services& services, std::span<const Bytes> names) {
  static constexpr std::array<Bytes, 1> kDefault = {"default"};
  if (names.empty()) names = kDefault;
  const ServerKind teller = services.sentinel.sentinel() == nullptr ? ServerKind::kDataServer : ServerKind::kSentinel;
  std::string report;
  for (const Section& section : kSections) {
    if (section.teller != teller && section.teller != ServerKind::kBoth) continue;
    if (!section.since.IsEmpty() &&
        !(services.env.dialect.EmulatesVersion() && services.env.dialect.Has(section.since)))
      continue;
    if (std::ranges::none_of(names, [&](Bytes name) { return Asks(name, section); })) continue;
    if (!report.empty()) report += "\r\n";
    report += FilterInfoFields(services.env.dialect, section.text(services));
  }
  return report;
}

}  // namespace respite
