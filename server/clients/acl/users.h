// Users: all users, including `default`, the user of clients before they log in. There is always a default user.
//
// Sessions keep pointers to users, so changes take effect immediately. The address of a User is stable until it is
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

class Users {
 public:
  // Creates the default user, which may do everything without a password. The table and the settings must outlive this
  // object.
  Users(const CommandTable& table, const Settings& settings);

  const User& Default() const { return *users_.at("default"); }
  // Returns null if there is no such user.
  const User* Find(Bytes name) const;
  // Visits all users in order of their names.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, user] : users_) visit(*user);
  }

  // Returns a user outside this list that may do everything, for loading the append-only file.
  User Unlimited() const { return FreshDefault(); }
  // Returns whether new clients must log in first.
  bool LoginRequired() const { return !Default().NeedsNoPassword() || !Default().IsOn(); }
  // Returns the user if its ACL rules say `on` and this is one of its passwords, otherwise null.
  const User* LogIn(Bytes name, Bytes password) const;

  // Creates or changes a user. Applies all rules, or none if one is invalid; the error names it. For an existing user,
  // calls `change` with the old and the new version before the change.
  struct BadRule {
    std::string rule;
    const char* reason;
  };
  using Change = std::function<void(const User& before, const User& after)>;
  Result<Done, BadRule> Set(Bytes name, std::span<const std::string> rules, const Change& change);
  // requirepass: sets the only password of the default user. If it is empty, no password is required.
  void SetDefaultPassword(Bytes password);
  // Requires: the user is not the default user, and no pointers to it remain.
  void Remove(const User& user);

  // Returns the lines of an ACL file without line ends: "user NAME RULES" for each user. Single blanks separate the
  // words. Only rules within a selector may be quoted.
  std::vector<std::string> Lines() const;
  // Returns the lines of a configuration file: "user NAME RULES" for each user. Words that contain quotes are quoted.
  std::vector<std::string> ConfigLines() const;
  // How loading an ACL file treats the existing users. The default user always stays.
  struct Replacement {
    bool keeps_users;  // keep users that the file also has; false removes all
    std::function<void(const User&)> removed;
    Change changed;
  };
  // Replaces all users by the users of an ACL file. If a line is invalid, changes nothing; the error names the lines.
  // Calls `removed` and `changed` before the replacement. A file without a default user creates one without a password,
  // because requirepass does not apply with an ACL file.
  Result<Done, std::string> Load(Bytes text, const std::string& path, const Replacement& replacement);

 private:
  using Map = std::map<std::string, std::unique_ptr<User>, std::less<>>;

  struct LinePlace {
    const std::string& path;
    size_t number;
  };

  User Fresh(Bytes name) const;
  User FreshDefault() const;
  std::string ReadLine(std::span<const Bytes> words, const LinePlace& place, Map& into) const;

  const CommandTable& table_;
  const Settings& settings_;
  Map users_;
};

bool IsUserName(Bytes name);

}  // namespace respite
