// Users: all ACL users, including `default`, the user of clients before they log in. There is always a default user.
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

class Users {  // owns all ACL users, and finds them by name
 public:
  // Creates the default user, which may do everything. Its password is requirepass; if requirepass is empty, the user
  // needs no password. The table and the settings must outlive this object.
  Users(const CommandTable& table, const Settings& settings);

  const User& Default() const { return *users_.at("default"); }  // the user named `default`
  // Returns the user with this name, or null if there is no such user.
  const User* Find(Bytes name) const;
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(user) for each user, sorted by name
    for (const auto& [name, user] : users_) visit(*user);
  }

  User MakeUnlimitedUser() const { return MakeDefaultUser(); }  // makes a user that may do everything; not in users_
  bool IsLoginRequired() const { return !Default().NeedsNoPassword() || !Default().IsOn(); }  // new clients must log in
  const User* FindIfPasswordMatches(Bytes name, Bytes password) const;  // null: wrong name or password, or user is off

  struct BadRule {       // a rule of ACL SETUSER that Set refused
    std::string rule;    // the refused rule, for example "+gett"
    const char* reason;  // why the rule is invalid
  };
  using Change = std::function<void(const User& before, const User& after)>;  // called before a user changes
  // Creates or changes a user. Applies all rules, or none if a rule is invalid; the error names the invalid rule. For
  // an existing user, calls change(old version, new version) before the change.
  Result<Done, BadRule> Set(Bytes name, std::span<const std::string> rules, const Change& change);
  void SetDefaultPassword(Bytes password);  // sets the only password of `default` (requirepass); empty: none needed
  // Deletes the user. Requires: the user is not the default user, and no pointers to it remain.
  void Remove(const User& user);  // deletes the user; never the user `default`

  // Returns the lines to write to an ACL file, without line ends. Unlike Redis, quotes a rule inside a selector `(…)`
  // that contains quotes or ends with `)`, because Load would split it wrongly, or take its `)` for the end of the
  // selector.
  std::vector<std::string> AclFileLines() const;  // a line "user NAME RULES" for each user, for ACL SAVE
  // Returns the lines about users for the configuration file. Empty words and words that contain quotes are quoted.
  std::vector<std::string> ConfigLines() const;  // lines "user NAME RULES" for redis.conf: with quotes where needed
  struct Replacement {                           // what Load does with the current users, except `default`, which stays
    bool keeps_users;  // true: users named in the file are changed in place; false: all are removed and made again
    std::function<void(const User&)> before_removal;  // called before Load removes a user
    Change before_change;                             // called before Load changes a user that stays
  };
  // Replaces all users by the users of an ACL file. If a line is invalid, changes nothing; the error names all invalid
  // lines. Calls `before_removal` or `before_change` for each existing user except the default user, before the
  // replacement. If the file has no line for the default user, this user may do everything without a password, because
  // requirepass does not apply with an ACL file.
  Result<Done, std::string> Load(Bytes text, const std::string& path, const Replacement& replacement);

 private:
  using Map = std::map<std::string, std::unique_ptr<User>, std::less<>>;

  struct LinePlace {          // path and number of a line of the ACL file, for error texts
    const std::string& path;  // path of the ACL file
    size_t number;            // number of the line, from 1
  };

  User MakeUser(Bytes name) const;  // returns a user that is off, with all channels or none (acl-pubsub-default)
  User MakeDefaultUser() const;     // returns a new user that may do everything without a password
  // Parses a line of an ACL file, split into `words`. Returns the error, or an empty text.
  std::string ParseAclLine(std::span<const Bytes> words,  // adds the line's user to `into`; or returns an error
                           const LinePlace& place, Map& into) const;

  const CommandTable& table_;  // all commands that the server knows
  const Settings& settings_;   // values of the directives
  Map users_;                  // all users by name
};

bool IsValidUserName(Bytes name);  // true: the name has no white space and no NUL bytes

}  // namespace respite
