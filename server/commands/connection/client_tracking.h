// The subcommands of CLIENT for client-side caching; client_commands.cc has the container.
#pragma once

#include "server/execution/call.h"

namespace respite {

struct ClientCaching {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|CACHING mode(YES|NO)",
                                       .where = Where::kEverywhere,
                                       .summary = "Says whether the keys of the next command are tracked.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call);
};

struct ClientGetRedir {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|GETREDIR",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells which client gets the tracking messages of this one.",
                                       .since = "6.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call);
};

struct ClientTracking {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLIENT|TRACKING status(ON|OFF) [REDIRECT client-id:integer] [PREFIX... prefix] [BCAST] [OPTIN] "
          "[OPTOUT] [NOLOOP]",
      .where = Where::kEverywhere,
      .summary = "Turns messages about changes of keys that this client caches on or off.",
      .since = "6.0.0",
      .complexity = "O(1) for each prefix",
      .group = CommandGroup::kConnection,
      .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call);
};

struct ClientTrackingInfo {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|TRACKINGINFO",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells the tracking state of the connection.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kNoScript | kLoading | kStale};
  static void Run(Call& call);
};

}  // namespace respite
