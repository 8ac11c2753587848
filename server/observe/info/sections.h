// The sections of INFO, each as text including its title. Fields and their order are those of Redis 7.2. Fields of
// unsupported features have Redis' values for an unused feature.
#pragma once

#include <string>

namespace respite {

struct Services;

std::string ServerSection(const Services& services);
std::string ClientsSection(const Services& services);  // Cost: O(clients)
std::string MemorySection(const Services& services);   // Cost: O(clients + databases)
std::string PersistenceSection(const Services& services);
std::string ThreadsSection(const Services& services);
std::string StatsSection(const Services& services);
std::string ReplicationSection(const Services& services);
std::string CpuSection(const Services& services);
std::string ModulesSection(const Services& services);
std::string CommandStatsSection(const Services& services);
std::string ErrorStatsSection(const Services& services);
std::string LatencyStatsSection(const Services& services);
std::string ClusterSection(const Services& services);
std::string KeyspaceSection(const Services& services);
std::string DebugSection(const Services& services);
std::string SentinelSection(const Services& services);

}  // namespace respite
