#include "server/commands/help.h"

#include <algorithm>
#include <string>
#include <vector>

#include "server/catalogue/command_table.h"

namespace respite {

namespace {

// Returns "HELP" for "ACL|HELP".
std::string_view SubcommandName(const CommandCard& card) {
  const std::string_view full_name = card.spec->syntax.substr(0, card.spec->syntax.find(' '));
  return full_name.substr(full_name.find('|') + 1);
}

// Returns whether the line describes a subcommand that this dialect does not have.
bool IsHiddenLine(const Command& container, std::string_view line) {
  const std::string_view name = line.substr(0, line.find(' '));
  const auto is_it = [&](const Command& each) { return EqualsIgnoreCase(each.name, name); };
  return std::ranges::any_of(container.card->subcommands,
                             [&](const CommandCard& card) { return EqualsIgnoreCase(SubcommandName(card), name); }) &&
         std::ranges::none_of(container.subcommands, is_it);
}

std::vector<std::string_view> ShownLines(const Command& command, std::span<const std::string_view> lines) {
  if (command.parent == nullptr) return {lines.begin(), lines.end()};
  std::vector<std::string_view> shown;
  bool is_hidden = false;
  for (const std::string_view line : lines) {
    if (!line.starts_with(' ')) is_hidden = IsHiddenLine(*command.parent, line);
    if (!is_hidden) shown.push_back(line);
  }
  return shown;
}

}  // namespace

void WriteHelp(Call& call, std::span<const std::string_view> lines) {
  const std::vector<std::string_view> shown = ShownLines(call.command, lines);
  call.reply.Array(shown.size() + 3);
  call.reply.Simple(ToUpper(call.args[0]) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (std::string_view line : shown) call.reply.Simple(line);
  call.reply.Simple("HELP");
  call.reply.Simple("    Print this help.");
}

}  // namespace respite
