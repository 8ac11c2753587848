// What respite-cli knows of commands, from the command table of this program: help, hints while typing, and completion.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respite {

// The arguments of a command that `line` lacks: for `set a ` "value [NX|XX] …". Empty if the line names no command.
std::string CommandHint(std::string_view line);

// The lines that `line` may become: commands and subcommands whose names begin with it, also after `help`. A line that
// is typed in lower case stays so.
std::vector<std::string> CommandCompletions(std::string_view line);

// The answer to `help`, `help COMMAND` and `help @GROUP`; `words` are those after `help`. `is_terminal`: with colours.
std::string HelpText(std::span<const std::string> words, bool is_terminal);

}  // namespace respite
