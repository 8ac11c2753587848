#include "server/commands/families.h"

#include <array>

namespace respite {

std::span<const std::span<const CommandCard>> CommandFamilies() {
  static const std::array kFamilies = {
      StringCommands(),
      CounterCommands(),
      BitmapCommands(),
      HyperLogLogCommands(),
      ListCommands(),
      ListBlockingCommands(),
      SetCommands(),
      SetAlgebraCommands(),
      SortedSetCommands(),
      SortedSetBlockingCommands(),
      SortedSetRangeCommands(),
      SortedSetAlgebraCommands(),
      KeyCommands(),
      ExpiryCommands(),
      DumpCommands(),
      SortCommands(),
      HashCommands(),
      HashExpiryCommands(),
      GeoCommands(),
      StreamCommands(),
      StreamReadCommands(),
      StreamGroupCommands(),
      StreamClaimCommands(),
      StreamInfoCommands(),
      WaitCommands(),
      PubSubCommands(),
      TransactionCommands(),
      ScriptingCommands(),
      FunctionCommands(),
      DatabaseCommands(),
      ConnectionCommands(),
      ClientCommands(),
      CommandCommands(),
      InfoCommands(),
      ConfigCommands(),
      ObserveCommands(),
      MemoryCommands(),
      DebugCommands(),
      ServerCommands(),
      PersistenceCommands(),
      ReplicationCommands(),
      ClusterCommands(),
      AclCommands(),
  };
  return kFamilies;
}

std::shared_ptr<const CommandSet> AllCommands() {
  static const auto kAll = std::make_shared<const CommandSet>(CommandFamilies());
  return kAll;
}

}  // namespace respite
