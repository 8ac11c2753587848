// Writes what COMMAND INFO and COMMAND DOCS tell about a command. All of it comes from the card.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/reply.h"
#include "server/catalogue/command_table.h"

namespace respite {

// One row of COMMAND INFO: ten elements, the last of them the rows of the subcommands.
void WriteCommandInfo(Reply& reply, const Command& command);

// The map of one command in COMMAND DOCS, without the name in front of it.
void WriteCommandDocs(Reply& reply, const Command& command);

// The set of COMMAND GETKEYSANDFLAGS: "RO", "access" …
void WriteKeyFlags(Reply& reply, uint32_t key_flags);

// The names COMMAND INFO gives to the flags of a command, in Redis' order. Some flags have none.
std::vector<std::string_view> CommandFlagNames(const Command& command);

// "string", "sorted-set" …
std::string_view CommandGroupName(CommandGroup group);

}  // namespace respite
