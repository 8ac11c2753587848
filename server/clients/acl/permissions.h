// Permissions: checks whether users may run requests: of clients, in transactions and in scripts. Counts and logs
// refusals and failed logins.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "server/clients/acl/acl_log.h"
#include "server/clients/acl/user.h"
#include "server/clients/session.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
struct DialectTraits;
class Users;

// How a refusal is worded, in Redis 7.2 and later. kBrief: "User joe has no permissions to run the 'get' command" or
// "No permissions to access a key". kNamed, for ACL DRYRUN, also names the key or channel. kInScript begins with "ACL
// failure in script: ".
enum class DenialDetail : uint8_t { kBrief, kNamed, kInScript };
// Returns the text of a refusal without an error code. If `traits` are those of a Redis before 7.2, the text is its
// older one, which does not name the user.
std::string DenialText(const User& user, AclRequest& request, AclVerdict verdict,  // why it was refused, for an error
                       DenialDetail detail, const DialectTraits& traits);
std::string DenialTextAtExec(AclDenial denial);  // the error for a queued command that the user may no longer run

class Permissions {  // checks what users may do, and logs refusals
 public:
  struct Parts {  // the objects that Permissions uses; its constructor gets them
    const Env& env;
    Users& users;      // all ACL users
    AclLog& acl_log;   // the log of refusals
    Clients& clients;  // all sessions
  };
  explicit Permissions(const Parts& parts) : parts_(parts) {}

  // Returns whether the session's user may run this request. Counts a refusal and logs it for `client`. If a script
  // runs, `session` is the script's and `client` the client that runs the script. Cost: one load for users that may do
  // everything.
  AclVerdict Check(const Session& session, AclRequest& request, AclLogEntry::Context context, const Session& client);
  AclVerdict Check(const Session& session, AclRequest& request, AclLogEntry::Context context) {  // logs a refusal too
    return Check(session, request, context, session);
  }

  // Adds a failed login to the ACL log. `command` is "AUTH" or "HELLO".
  void LogFailedLogin(const Session& session, Bytes command, Bytes user);  // adds it to the ACL log

  // Closes the sessions of a user, and makes the default user their user, so that no session refers to `user`.
  void CloseSessionsOf(const User& user, const Session* running);  // `running` closes after its reply
  // Closes the sessions of the user `before` whose subscriptions are forbidden by `after`, its new permissions.
  void CloseForbiddenSubscribers(const User& before, const User& after,  // closes those that `after` forbids
                                 const Session* running);

  std::optional<std::string> LoadConfiguredUsers();  // at start; returns an error if the server must not start
  std::optional<std::string> LoadAclFile(const Session* running);  // ACL LOAD: replaces all users, or returns the error
  // Replaces all users by the users in `text`, the lines of an ACL file; `path` is for the error. Ends the sessions of
  // all users except the default user. In dialects with acl_load_keeps_clients (Redis from 7.4, Valkey from 8.0), users
  // that `text` also has keep their sessions. Of these, only sessions with subscriptions that the new permissions
  // forbid end. On failure the function returns an error and changes nothing.
  std::optional<std::string> LoadAclLines(Bytes text, const std::string& path, const Session* running);  // or the error

 private:
  void Note(AclLogEntry entry, const Session& client);                  // adds a refusal to the ACL log
  void CloseNowOrAfterReply(Session& session, const Session* running);  // `running`: after its reply

  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
