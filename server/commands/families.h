// The families of commands. A new file of commands adds its table here and in families.cc.
#pragma once

#include <memory>
#include <span>

#include "server/catalogue/command_table.h"

namespace respite {

// All tables, in the order of COMMAND.
std::span<const std::span<const CommandCard>> CommandFamilies();

// The commands that all servers of the process share, created by the first call. Thread-safe.
std::shared_ptr<const CommandSet> AllCommands();

std::span<const CommandCard> StringCommands();
std::span<const CommandCard> CounterCommands();
std::span<const CommandCard> BitmapCommands();
std::span<const CommandCard> HyperLogLogCommands();
std::span<const CommandCard> ListCommands();
std::span<const CommandCard> ListBlockingCommands();
std::span<const CommandCard> SetCommands();
std::span<const CommandCard> SetAlgebraCommands();
std::span<const CommandCard> SortedSetCommands();
std::span<const CommandCard> SortedSetBlockingCommands();
std::span<const CommandCard> SortedSetRangeCommands();
std::span<const CommandCard> SortedSetAlgebraCommands();
std::span<const CommandCard> KeyCommands();
std::span<const CommandCard> ExpiryCommands();
std::span<const CommandCard> DumpCommands();
std::span<const CommandCard> SortCommands();
std::span<const CommandCard> HashCommands();
std::span<const CommandCard> HashExpiryCommands();
std::span<const CommandCard> GeoCommands();
std::span<const CommandCard> StreamCommands();
std::span<const CommandCard> StreamReadCommands();
std::span<const CommandCard> StreamGroupCommands();
std::span<const CommandCard> StreamClaimCommands();
std::span<const CommandCard> StreamInfoCommands();
std::span<const CommandCard> WaitCommands();
std::span<const CommandCard> PubSubCommands();
std::span<const CommandCard> TransactionCommands();
std::span<const CommandCard> ScriptingCommands();
std::span<const CommandCard> FunctionCommands();
std::span<const CommandCard> DatabaseCommands();
std::span<const CommandCard> ConnectionCommands();
std::span<const CommandCard> ClientCommands();
std::span<const CommandCard> CommandCommands();
std::span<const CommandCard> InfoCommands();
std::span<const CommandCard> ConfigCommands();
std::span<const CommandCard> ObserveCommands();
std::span<const CommandCard> MemoryCommands();
std::span<const CommandCard> DebugCommands();
std::span<const CommandCard> ServerCommands();
std::span<const CommandCard> PersistenceCommands();
std::span<const CommandCard> ReplicationCommands();
std::span<const CommandCard> ClusterCommands();
std::span<const CommandCard> AclCommands();

}  // namespace respite
