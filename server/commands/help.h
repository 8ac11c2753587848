// The HELP subcommand of a container command: writes its lines between the header and footer that Redis has.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "server/execution/call.h"

namespace respite {

// `lines` consists of groups: a subcommand with its arguments, then lines of description, indented by four blanks.
// Omits the groups of subcommands that this server or the emulated version lacks. (Not for DEBUG, whose subcommands are
// not in the command table.) A line that begins with a parenthesis is always shown.
void WriteHelp(Call& call, std::span<const std::string_view> lines);                // replies to a HELP subcommand
inline void WriteHelp(Call& call, std::initializer_list<std::string_view> lines) {  // replies to a HELP subcommand
  WriteHelp(call, std::span(lines.begin(), lines.size()));
}

}  // namespace respite
