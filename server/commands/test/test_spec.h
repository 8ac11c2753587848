// What the specs of all subcommands of TEST have in common.
#pragma once

#include "server/catalogue/command_spec.h"

namespace respite {

// Returns the spec of a subcommand of TEST. All of them are refused in transactions, in scripts and while data is
// loaded, because most of them act on the whole server.
constexpr CommandSpec TestSpec(std::string_view syntax, std::string_view summary, Where where = Where::kDataServers) {
  return {.syntax = syntax,
          .where = where,
          .summary = summary,
          .group = CommandGroup::kServer,
          .flags = kAdmin | kNoScript | kNoMulti | kNoAsyncLoading | kStale | kProtected | kSkipMonitor | kSkipSlowlog,
          .protection = Protection::kTestCommands};
}

}  // namespace respite
