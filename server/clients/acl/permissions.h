// Permissions: what happens when a user may not do something, wherever it is asked: a command of a client, one of a
// transaction that runs, one of a script, a login.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "server/clients/acl/acl_log.h"
#include "server/clients/acl/user.h"
#include "server/clients/session.h"

namespace respite {

class Clients;
class Clock;
class Config;
class FileSystem;
struct ServerStats;
struct Settings;
class Users;

// "User joe has no permissions to run the 'get' command". Keys and channels are named only to who asks with ACL DRYRUN.
enum class DenialDetail : uint8_t { kBrief, kNamed };
std::string DenialText(const User& user, AclRequest& request, AclVerdict verdict, DenialDetail detail);
// What EXEC says of a command that was allowed when it was queued.
std::string LateDenialText(AclDenial denial);

class Permissions {
 public:
  struct Parts {
    const Settings& settings;
    const Config& config;
    const Clock& clock;
    FileSystem& files;
    ServerStats& stats;
    Users& users;
    AclLog& acl_log;
    Clients& clients;
  };
  explicit Permissions(const Parts& parts) : parts_(parts) {}

  // Whether the session's user may run this. A refusal is counted and logged as that of `client`, which is another
  // session when a script runs. Cost: one load for users who may do everything.
  AclVerdict Check(const Session& session, AclRequest& request, AclLogEntry::Context context, const Session& client);
  AclVerdict Check(const Session& session, AclRequest& request, AclLogEntry::Context context) {
    return Check(session, request, context, session);
  }

  // A login that failed, as said by this command ("AUTH", "HELLO").
  void NoteFailedLogin(const Session& session, Bytes command, Bytes user);

  // Closes the sessions of a user, the running one behind its reply. From then on they are the default user's.
  void CloseSessionsOf(const User& user, const Session* running);
  // Closes those that listen to something that the user may not listen to any more.
  void CloseListenersBeyond(const User& before, const User& after, const Session* running);

  // Reads the users of the configuration (user, aclfile) at start. Returns what is wrong: then the server must not
  // start.
  std::optional<std::string> LoadConfiguredUsers();
  // Reads the ACL file again. Returns what is wrong with it; then nothing has changed.
  std::optional<std::string> LoadAclFile(const Session* running);

 private:
  void Note(AclLogEntry entry, const Session& client);
  void Dismiss(Session& session, const Session* running);

  const Parts parts_;
};

}  // namespace respite
