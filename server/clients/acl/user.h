// User: the passwords of a user and the permissions of its sessions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/clients/acl/selector.h"
#include "server/config/settings.h"

namespace respite {

class User {  // an ACL user: passwords and permissions
 public:
  // Creates a user that is off, without passwords or permissions. Only `pubsub` may allow it something: to use every
  // channel.
  User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub);

  const std::string& name() const { return name_; }
  bool IsOn() const { return is_on_; }
  bool NeedsNoPassword() const { return no_password_; }  // the rule `nopass`
  bool IsUnlimited() const { return is_unlimited_; }     // it may do everything

  // Applies a rule of ACL SETUSER, or a whole selector in parentheses.
  const char* Apply(Bytes rule, AclPubsubDefault pubsub);  // one rule of ACL SETUSER; returns null or the error
  void SetPassword(Bytes password);  // sets requirepass: its only password; empty: none is required

  // Compares passwords in constant time, so that the time reveals nothing about the right one.
  bool HasPassword(Bytes password) const;       // false while the user is off
  AclVerdict Check(AclRequest& request) const;  // whether the user may run the request, or why not
  bool AllowsReadingAllKeys(const Command& command, std::span<const Bytes> arguments) const;  // may run it on any key
  bool AllowsChannel(Bytes name, ChannelUse use) const;  // publish or subscribe to this channel or pattern

  std::vector<std::string> Flags() const;                             // the flags in ACL GETUSER: "on", "nopass" …
  std::vector<std::string> PasswordHashes() const;                    // SHA-256 of each password, in hexadecimal
  std::span<const Selector> Selectors() const { return selectors_; }  // the root selector first
  // Returns all rules that define this user, in a form that Apply accepts: "on", "nopass", "sanitize-payload", "~*",
  // "&*", "+@all", "(~a resetchannels -@all +get)".
  std::vector<std::string> Rules() const;  // all rules that define this user
  std::string RulesText() const;           // separated by blanks, as ACL LIST shows them

 private:
  using Digest = std::array<uint8_t, 32>;  // SHA-256

  std::optional<const char*> ApplyToUser(Bytes rule, AclPubsubDefault pubsub);  // nullopt: the rule is for a selector
  const char* ApplyPassword(Bytes rule);  // applies ">secret", "#hash", "resetpass" …; returns null, or the error
  const char* AddSelector(Bytes rules);   // adds the selector "(~a +get)"; returns null, or the error
  const char* AddPassword(const Digest& digest);  // adds its hash; returns null, or the error: too many passwords
  void Reset(AclPubsubDefault pubsub);            // makes it a user that is off, without passwords or permissions
  void UpdateIsUnlimited() { is_unlimited_ = selectors_.front().IsUnlimited(); }  // after a change

  std::string name_;
  const CommandTable* table_;  // all commands of the server
  bool is_on_ = false;
  bool no_password_ = false;           // the rule `nopass`
  bool skips_payload_checks_ = false;  // Redis' flag; this server always checks payloads
  bool is_unlimited_ = false;          // it may do everything
  std::vector<Digest> passwords_;      // hashes of the passwords
  std::vector<Selector> selectors_;    // the root selector first
};

// The rules that MergeSelectorArguments returns. It joins the arguments of each selector, because ACL SETUSER accepts
// "(+get" "~key)" as two arguments.
struct MergedRules {                     // rules of ACL SETUSER; a selector is one rule
  std::vector<std::string> rules;        // for example "+get" and "(~key +set)"
  std::optional<std::string> unmatched;  // the argument whose parenthesis is never closed
};
MergedRules MergeSelectorArguments(std::span<const Bytes> arguments);  // joins arguments to selectors

}  // namespace respite
