// The HELP subcommand of a container: its lines between Redis' header and footer.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "server/execution/call.h"

namespace respite {

// Lines come in pairs: the subcommand with its arguments, then its description, indented by four blanks.
inline void WriteHelp(Call& call, std::span<const std::string_view> lines) {
  call.reply.Array(lines.size() + 3);
  call.reply.Simple(ToUpper(call.args[0]) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (std::string_view line : lines) call.reply.Simple(line);
  call.reply.Simple("HELP");
  call.reply.Simple("    Print this help.");
}
inline void WriteHelp(Call& call, std::initializer_list<std::string_view> lines) {
  WriteHelp(call, std::span(lines.begin(), lines.size()));
}

}  // namespace respite
