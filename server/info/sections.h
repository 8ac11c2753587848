// The sections of INFO, each as the whole text from its title on. Fields, their names and their order are those of
// Redis 7.2; what belongs to a feature that this server does not have yet says what Redis says while it is not in use.
#pragma once

#include <string>

namespace respite {

class Server;

std::string ServerSection(Server& server);
std::string ClientsSection(Server& server);  // Cost: O(clients)
std::string MemorySection(Server& server);   // Cost: O(clients + databases)
std::string PersistenceSection(Server& server);
std::string StatsSection(Server& server);
std::string ReplicationSection(Server& server);
std::string CpuSection(Server& server);
std::string ModulesSection(Server& server);
std::string CommandStatsSection(Server& server);
std::string ErrorStatsSection(Server& server);
std::string LatencyStatsSection(Server& server);
std::string ClusterSection(Server& server);
std::string KeyspaceSection(Server& server);
std::string DebugSection(Server& server);

}  // namespace respite
