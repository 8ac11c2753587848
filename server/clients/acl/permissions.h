// Permissions: checks whether users may run the requests of clients, transactions and scripts. Counts and logs refused
// requests and failed logins.
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
// "No permissions to access a key". kNamed, for ACL DRYRUN, also names the key, channel or database. kInScript begins
// with "ACL failure in script: ".
enum class DenialDetail : uint8_t { kBrief, kNamed, kInScript };  // how a refusal is worded
// Returns the text for a refused request, without an error code such as NOPERM. With the `traits` of a Redis before
// 7.2, returns the older text, which does not name the user.
std::string DenialText(const User& user, AclRequest& request, AclVerdict verdict,  // error text of a refused request
                       DenialDetail detail, const DialectTraits& traits);
std::string DenialTextAtExec(AclDenial denial);  // EXEC's error text: the user may no longer run a queued command

class Permissions {  // checks whether users may run requests, and adds refusals to the ACL log
 public:
  struct Parts {  // the objects that Permissions uses; its constructor gets them
    const Env& env;
    Users& users;      // all ACL users
    AclLog& acl_log;   // the log of refused requests and failed logins (ACL LOG)
    Clients& clients;  // the sessions of all clients
  };
  explicit Permissions(const Parts& parts) : parts_(parts) {}

  // Returns whether the session's user may run this request. If not, counts the refusal and adds it to the ACL log,
  // with the description of `client`. If a script runs, `session` is the script's session and `client` the client that
  // runs the script. Cost: one load for users that may do everything.
  AclVerdict Check(const Session& session, AclRequest& request,  // may session.user run this? A refusal goes to ACL LOG
                   AclLogEntry::Context context, const Session& client);
  AclVerdict Check(const Session& session, AclRequest& request,  // may session.user run this? A refusal goes to ACL LOG
                   AclLogEntry::Context context) {
    return Check(session, request, context, session);
  }

  // Counts a failed login and adds it to the ACL log. `command` is "AUTH" or "HELLO", and `user` the name that the
  // client gave.
  void LogFailedLogin(const Session& session, Bytes command, Bytes user);  // adds a failed AUTH or HELLO to ACL LOG

  // Logs out the sessions of `user` (they get the default user, so none refers to `user` any more), and closes them. If
  // the session `running`, which runs the current command, is one of them, it closes only after its reply. `running` is
  // null if no command runs.
  void CloseSessionsOf(const User& user,  // closes all sessions of this user
                       const Session* running);
  // Closes the sessions of `user` that have a subscription which the user's next permissions forbid. Must be called
  // before the change: `user` is the current user, and `next` has the next permissions. The session `running` closes
  // only after its reply.
  void CloseForbiddenSubscribers(const User& user, const User& next,  // closes sessions whose channels `next` forbids
                                 const Session* running);

  std::optional<std::string> LoadConfiguredUsers();  // at startup, from redis.conf or the ACL file; returns the error
  std::optional<std::string> LoadAclFile(const Session* running);  // ACL LOAD: reads the file; or returns the error
  // Replaces all users by those of an ACL file with the content `text`. If a line is invalid, changes nothing and
  // returns the error, which shows `path`. Sessions of `default` stay open, and all other sessions are closed. With the
  // trait acl_load_keeps_clients (Redis from 7.4, Valkey from 8.0), a user who is also in `text` loses only sessions
  // with a subscription that the new permissions forbid.
  std::optional<std::string> LoadAclLines(Bytes text, const std::string& path,  // replaces all users by those in `text`
                                          const Session* running);

 private:
  void Note(AclLogEntry entry, const Session& client);  // counts a refusal or failed login; adds it to the ACL log
  void CloseNowOrAfterReply(Session& session, const Session* running);  // closes a client, `running` after its reply

  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
