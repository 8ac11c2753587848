// Users: all users, including `default`, the user of clients before they log in. There is always a default user.
//
// Sessions keep pointers to users, so changes take effect immediately. A User stays at the same address until it is
// removed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/clients/acl/user.h"

namespace respite {

class Users {  // all ACL users by name
 public:
  // Creates the default user, which may do everything. Its password is requirepass; if that is empty, it needs no
  // password. The table and the settings must outlive this object.
  Users(const CommandTable& table, const Settings& settings);

  const User& Default() const { return *users_.at("default"); }  // the user `default`
  // Returns the user with this name, or null if there is no such user.
  const User* Find(Bytes name) const;
  template <class Visit>
  void ForEach(Visit&& visit) const {  // visits the users in order of their names
    for (const auto& [name, user] : users_) visit(*user);
  }

  User MakeUnlimitedUser() const { return MakeDefaultUser(); }  // a user that may do everything, and is not in the list
  bool IsLoginRequired() const { return !Default().NeedsNoPassword() || !Default().IsOn(); }  // new clients must log in
  const User* FindIfPasswordMatches(Bytes name, Bytes password) const;  // null: wrong name or password, or user is off

  struct BadRule {  // a rule that Set refused
    std::string rule;
    const char* reason;  // why the rule is invalid
  };
  using Change = std::function<void(const User& before, const User& after)>;
  // Creates or changes a user. Applies all rules, or none if one is invalid; the error names that rule. For an existing
  // user, calls `change` with the old and the new version before the change.
  Result<Done, BadRule> Set(Bytes name, std::span<const std::string> rules, const Change& change);
  void SetDefaultPassword(Bytes password);  // sets requirepass; empty: no password is needed
  // Deletes the user. Requires: the user is not the default user, and no pointers to it remain.
  void Remove(const User& user);  // deletes this user

  // Returns the lines of an ACL file without line ends. Single blanks separate the words. Only rules within a selector
  // may be quoted.
  std::vector<std::string> AclFileLines() const;  // a line "user NAME RULES" for each user
  // Returns the lines about users for the configuration file. Empty words and words that contain quotes are quoted.
  std::vector<std::string> ConfigLines() const;  // a line "user NAME RULES" for each user
  struct Replacement {                           // how Load treats the existing users, except `default`, which stays
    bool keeps_users;  // keep users that the file also has; false: remove all, then add those of the file
    std::function<void(const User&)> before_removal;  // called before a user is removed
    Change before_change;                             // called before a user that stays changes
  };
  // Replaces all users by the users of an ACL file. If a line is invalid, changes nothing; the error names all invalid
  // lines. Calls `before_removal` or `before_change` for each existing user except the default user, before it replaces
  // them. If the file has no default user, the default user gets no password: requirepass does not apply with an ACL
  // file.
  Result<Done, std::string> Load(Bytes text, const std::string& path, const Replacement& replacement);

 private:
  using Map = std::map<std::string, std::unique_ptr<User>, std::less<>>;

  struct LinePlace {  // where a line is, for error texts
    const std::string& path;
    size_t number;  // number of the line, from 1
  };

  User MakeUser(Bytes name) const;  // a user that is off and has no permissions
  User MakeDefaultUser() const;     // may do everything, without a password
  // Adds the user of a line of an ACL file, split into `words`, to `into`. Returns the error, or an empty text.
  std::string ParseAclLine(std::span<const Bytes> words, const LinePlace& place, Map& into) const;  // reads a user line

  const CommandTable& table_;  // all commands of the server
  const Settings& settings_;   // values of the directives
  Map users_;                  // by name
};

bool IsValidUserName(Bytes name);  // false: the name contains blanks or NULs

}  // namespace respite
