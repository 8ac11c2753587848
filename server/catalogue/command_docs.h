// Writes what COMMAND INFO and COMMAND DOCS show about one command. The data come from the command's CommandSpec,
// adapted to the emulated version.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/reply.h"
#include "server/catalogue/command_table.h"

namespace respite {

// Writes one row of COMMAND INFO: an array of ten elements. The last element contains the rows of the subcommands. If
// the server emulates a version before 7.0, writes only the first seven elements.
void WriteCommandInfo(Reply& reply, const Command& command);  // writes the row of this command in COMMAND INFO

// Writes what COMMAND DOCS shows about one command, as a map. The caller writes the name of the command before it.
void WriteCommandDocs(Reply& reply, const Command& command);  // writes what COMMAND DOCS shows: a map

// Writes the flags of a key as a set of texts, as COMMAND GETKEYSANDFLAGS shows them.
void WriteKeyFlags(Reply& reply, uint32_t key_flags);  // writes KeyFlag bits as a set of texts: "RO", "access" …

std::vector<std::string_view> CommandFlagNames(const Command& command);  // flags that COMMAND INFO shows: "write" …

std::string_view CommandGroupName(CommandGroup group);  // name of the group in COMMAND DOCS, for example "sorted-set"

}  // namespace respite
