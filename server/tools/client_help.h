// Help, hints while typing, and completion for respite-cli. All texts come from the command table of this program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respite {

// Returns the arguments that the command in `line` still lacks, or the subcommands. For example, the line `set a `
// gives "value [NX|XX] …". Returns an empty text if nothing is lacking, or if `line` is wrong.
std::string CommandHint(std::string_view line);  // arguments or subcommands still to type; empty: none, or no command

// Returns possible completions of `line`, also after the word `help`: commands that start with it, and subcommands once
// their command is typed; after `help`, also groups such as @string. A word that has no upper-case letters is completed
// in lower case.
std::vector<std::string> CommandCompletions(std::string_view line);  // possible completions of `line`

// Returns the answer to the lines `help`, `help COMMAND` and `help @GROUP`. `words` are the words after `help`. If
// `is_terminal` is true, the answer has colours.
std::string HelpText(std::span<const std::string> words, bool is_terminal);  // help for a command or @group

}  // namespace respite
