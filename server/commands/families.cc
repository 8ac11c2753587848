#include "server/commands/families.h"

#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "server/catalogue/dialect.h"

namespace respite {

std::span<const std::span<const CommandCard>> CommandFamilies() {
#define RESPITE_TABLE_OF(Name) Name(),
  static const std::array kFamilies = {RESPITE_COMMAND_FAMILIES(RESPITE_TABLE_OF)};
#undef RESPITE_TABLE_OF
  return kFamilies;
}

std::shared_ptr<const CommandSet> AllCommands(Where where, Emulated emulated) {
  // The sets of commands for each kind of server and emulated version. A set is created when it is first needed.
  struct Sets {
    std::mutex making;
    std::map<std::pair<Where, Emulated>, std::shared_ptr<const CommandSet>> made;
  };
  static Sets sets;
  const std::lock_guard lock(sets.making);
  auto& set = sets.made[{where, emulated}];
  if (set == nullptr) set = std::make_shared<const CommandSet>(CommandFamilies(), where, DialectOf(emulated));
  return set;
}

}  // namespace respite
