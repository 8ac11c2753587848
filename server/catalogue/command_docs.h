// Writes the replies of COMMAND INFO and COMMAND DOCS for a command, based only on its card.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/reply.h"
#include "server/catalogue/command_table.h"

namespace respite {

// Writes one row of COMMAND INFO: ten elements. The last element holds the rows of the subcommands.
void WriteCommandInfo(Reply& reply, const Command& command);

// Writes the map of one command in COMMAND DOCS, without the name before it.
void WriteCommandDocs(Reply& reply, const Command& command);

// Writes the flags of one key for COMMAND GETKEYSANDFLAGS, as a set of texts.
void WriteKeyFlags(Reply& reply, uint32_t key_flags);  // `key_flags`: KeyFlag bits, written as "RO", "access" …

std::vector<std::string_view> CommandFlagNames(const Command& command);  // for COMMAND INFO, in Redis' order

std::string_view CommandGroupName(CommandGroup group);  // as COMMAND DOCS shows it, for example "sorted-set"

}  // namespace respite
