// Writes the replies of COMMAND INFO and COMMAND DOCS for one command. All that they show comes from the card of the
// command.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/reply.h"
#include "server/catalogue/command_table.h"

namespace respite {

// Writes one row of COMMAND INFO: an array of ten elements, of which the last contains the rows of the subcommands.
// Emulated versions before 7.0 have seven.
void WriteCommandInfo(Reply& reply, const Command& command);  // writes its row of COMMAND INFO

// Writes what COMMAND DOCS shows about one command, as a map. The caller writes the name of the command before it.
void WriteCommandDocs(Reply& reply, const Command& command);  // writes its map of COMMAND DOCS, without its name

// COMMAND GETKEYSANDFLAGS shows these flags as a set of texts.
void WriteKeyFlags(Reply& reply, uint32_t key_flags);  // `key_flags`: KeyFlag bits, written as "RO", "access" …

std::vector<std::string_view> CommandFlagNames(const Command& command);  // for COMMAND INFO: "write", "fast" …

std::string_view CommandGroupName(CommandGroup group);  // as COMMAND DOCS shows it, for example "sorted-set"

}  // namespace respite
