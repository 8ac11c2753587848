#include "server/commands/families.h"

#include <array>

namespace respite {

std::span<const std::span<const CommandCard>> CommandFamilies() {
  static const std::array kFamilies = {
      StringCommands(),     CounterCommands(),   BitmapCommands(),         HyperLogLogCommands(),
      ListCommands(),       SortedSetCommands(), SortedSetRangeCommands(), SortedSetAlgebraCommands(),
      KeyCommands(),        ExpiryCommands(),    DumpCommands(),           GeoCommands(),
      WaitCommands(),       DatabaseCommands(),  ConnectionCommands(),     ClientCommands(),
      CommandCommands(),    InfoCommands(),      ConfigCommands(),         ObserveCommands(),
      MemoryCommands(),     DebugCommands(),     ServerCommands(),         SetCommands(),
      SetAlgebraCommands(), SortCommands(),      HashCommands(),           HashExpiryCommands(),
  };
  return kFamilies;
}

}  // namespace respite
