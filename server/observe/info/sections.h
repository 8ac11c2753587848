// The sections of INFO. Each function returns a section as text, with its title. The text may contain fields of all
// versions; FilterInfoFields later removes the fields that the emulated version lacks. Fields about features that this
// server lacks have the values of a Redis that does not use these features.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/memory_text.h"
#include "base/number_text.h"

namespace respite {

struct Services;

std::string ServerSection(const Services& services);        // text of INFO server
std::string ClientsSection(const Services& services);       // text of INFO clients; O(clients)
std::string MemorySection(const Services& services);        // text of INFO memory; O(clients + databases)
std::string PersistenceSection(const Services& services);   // text of INFO persistence
std::string ThreadsSection(const Services& services);       // text of INFO threads (I/O threads)
std::string StatsSection(const Services& services);         // text of INFO stats
std::string ReplicationSection(const Services& services);   // text of INFO replication
std::string CpuSection(const Services& services);           // text of INFO cpu
std::string ModulesSection(const Services& services);       // text of INFO modules
std::string CommandStatsSection(const Services& services);  // text of INFO commandstats
std::string ErrorStatsSection(const Services& services);    // text of INFO errorstats
std::string LatencyStatsSection(const Services& services);  // text of INFO latencystats
std::string ClusterSection(const Services& services);       // text of INFO cluster
std::string ClusterInfoSection(const Services& services);   // text of INFO cluster_info: as CLUSTER INFO
std::string KeyspaceSection(const Services& services);      // text of INFO keyspace
std::string HotKeysSection(const Services& services);       // text of INFO hotkeys: the session of HOTKEYS
std::string KeySizesSection(const Services& services);      // text of INFO keysizes; O(keys)
std::string EnginesSection(const Services& services);       // text of INFO scriptingengines
std::string TlsSection(const Services& services);           // text of INFO tls: the certificates
std::string DebugSection(const Services& services);         // text of INFO debug
std::string SentinelSection(const Services& services);      // text of INFO sentinel; requires: a Sentinel

// A section begins with a line "# Title". Lines "name:value" follow. Each line ends with CR LF.
class InfoText {  // builds the text of one INFO section: a title, then lines "name:value"
 public:
  explicit InfoText(Bytes title) { (text_ += "# ").append(title).append("\r\n"); }

  InfoText& Add(Bytes name, Bytes value) {  // adds the line "name:value"
    text_.append(name).append(1, ':').append(value).append("\r\n");
    return *this;
  }
  template <std::signed_integral Number>
  InfoText& Add(Bytes name, Number value) {  // adds the line "name:value"
    return Add(name, IntegerText(value).View());
  }
  template <std::unsigned_integral Number>
  InfoText& Add(Bytes name, Number value) {  // adds the line "name:value"
    return Add(name, IntegerText::FromUnsigned(value).View());
  }
  InfoText& AddRatio(Bytes name, double value) {  // adds a field such as "name:1.50"
    return Add(name, FixedText(value, 2));
  }
  InfoText& AddPercent(Bytes name, double value) {  // adds a field such as "name:12.34%"
    return Add(name, FixedText(value, 2) + "%");
  }
  InfoText& AddHumanBytes(Bytes name, uint64_t bytes) {  // adds a field such as "name:1.50M"
    return Add(name, HumanBytes(bytes));
  }
  InfoText& AddZeros(std::initializer_list<Bytes> names) {  // adds "name:0" for figures that this server lacks
    for (Bytes name : names) Add(name, "0");
    return *this;
  }

  std::string Take() { return std::move(text_); }  // returns the text

 private:
  std::string text_;  // the part of the section that is written so far
};

}  // namespace respite
