#include "server/catalogue/refusals.h"

#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"

namespace respite::refusals {

Refusal LoadingDataset(const DialectTraits& traits) {
  return {"LOADING " + std::string(traits.title) + " is loading the dataset in memory"};
}

Refusal WrongArity(const Command& command, std::span<const Bytes> words) {
  if (command.parent == nullptr || command.dialect->traits.errors_name_subcommands)
    return WrongArity(command.full_name);
  return SubcommandSyntax(*command.dialect, command.parent->full_name, words[1]);
}

Refusal SubcommandSyntax(const Dialect& dialect, Bytes container, Bytes subcommand) {
  const std::string unknown = dialect.traits.errors_name_subcommands ? "ERR unknown" : "ERR Unknown";
  return {unknown + " subcommand or wrong number of arguments for '" + std::string(ShownPart(subcommand)) + "'. Try " +
          ToUpper(container) + " HELP."};
}

}  // namespace respite::refusals
