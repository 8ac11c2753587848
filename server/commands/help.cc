#include "server/commands/help.h"

#include <algorithm>
#include <string>
#include <vector>

#include "server/catalogue/command_table.h"

namespace respite {

namespace {

// Returns whether a line of help begins the text about a subcommand that this server or the emulated version does not
// have.
bool IsHiddenLine(const Command& container, std::string_view line) {
  if (line.starts_with('(')) return false;  // describes the container without a subcommand
  const std::string_view name = line.substr(0, line.find(' '));
  return std::ranges::none_of(container.subcommands,
                              [&](const Command& each) { return EqualsIgnoreCase(each.name, name); });
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
