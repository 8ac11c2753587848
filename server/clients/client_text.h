// Describes a client as text, for CLIENT LIST, CLIENT INFO and the log.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"
#include "server/clients/session.h"

namespace respite {

struct DialectTraits;

// Returns the description of a client in CLIENT LIST of Redis 7.2, "id=3 addr=127.0.0.1:50000 laddr=… fd=8 name= age=0
// idle=0 flags=N db=0 …", without a line end. `running` are the arguments of the command that the client is running;
// `now_ms` is the monotonic clock time.
std::string ClientText(const Session& session, int64_t now_ms,  // the client's line in CLIENT LIST (Redis 7.2)
                       std::span<const Bytes> running = {});
// Returns the description of a client, but only with the fields that the version with these `traits` shows.
std::string ClientText(const Session& session, int64_t now_ms,  // the client's line in CLIENT LIST of a given version
                       std::span<const Bytes> running, const DialectTraits& traits);

// Returns one letter for each property of the client, or "N" if the client has none. kClientFlagLetters are all letters
// of Redis; ClientFlags never returns `u` or `i`.
std::string ClientFlags(const Session& session);  // the field `flags` of CLIENT LIST, such as "N" or "xb"
inline constexpr Bytes kClientFlagLetters = "SMOPxbtRBdcAUeTrIuiN";  // the letters of the field `flags` in CLIENT LIST

enum class UserData : uint8_t { kShown, kHidden };  // whether logs may show the input of clients
// Returns the log line for a protocol error. `user_data` says whether the line may show the client's input
// (hide-user-data-from-log). Requires: the parser session.in has just reported an error.
std::string ProtocolErrorText(const Session& session, int64_t now_ms,  // the log line for a protocol error
                              UserData user_data);

std::string RemoveIpv6Brackets(std::string address);  // turns "[::1]:6379" into "::1:6379"

}  // namespace respite
