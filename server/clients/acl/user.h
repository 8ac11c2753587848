// User: an ACL user: its name, passwords and permissions.
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
  // Creates a user that is off, without passwords or permissions. `pubsub` decides whether the user may use all
  // channels or none.
  User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub);

  const std::string& name() const { return name_; }
  bool IsOn() const { return is_on_; }
  bool NeedsNoPassword() const { return no_password_; }  // the rule `nopass`
  bool IsUnlimited() const { return is_unlimited_; }     // every command, key and channel is allowed

  // Applies a rule of ACL SETUSER, or a whole selector in parentheses.
  const char* Apply(Bytes rule, AclPubsubDefault pubsub);  // one rule of ACL SETUSER; returns null or the error
  void SetPassword(Bytes password);  // requirepass: makes it the only password; empty: no password is needed

  // Returns whether the password is right; with `nopass` any password is. Compares in constant time, so that the time
  // reveals nothing about the right password.
  bool HasPassword(Bytes password) const;       // the password is right, and the user is on
  AclVerdict Check(AclRequest& request) const;  // whether the user may run the request, or why not
  bool AllowsReadingAllKeys(const Command& command, std::span<const Bytes> arguments) const;  // may run it on any key
  bool AllowsChannel(Bytes name, ChannelUse use) const;  // the rules allow this channel or pattern

  std::vector<std::string> Flags() const;                             // the flags in ACL GETUSER: "on", "nopass" …
  std::vector<std::string> PasswordHashes() const;                    // SHA-256 of each password, in hexadecimal
  std::span<const Selector> Selectors() const { return selectors_; }  // the root selector first
  // Returns all rules that define this user, in a form that Apply accepts: "on", "nopass", "sanitize-payload", "~*",
  // "&*", "+@all", "(~a resetchannels -@all +get)".
  std::vector<std::string> Rules() const;  // all rules that define this user
  std::string RulesText() const;           // the rules separated by blanks, as in ACL LIST

 private:
  using Digest = std::array<uint8_t, 32>;  // SHA-256

  // Applies a rule about the user as a whole, such as "on", ">password" or a selector in parentheses. Returns null or
  // the error, or nullopt if the rule is for the root selector, such as "+get".
  std::optional<const char*> ApplyToUser(Bytes rule, AclPubsubDefault pubsub);  // "on" …; nullopt: it is for a selector
  const char* ApplyPassword(Bytes rule);  // applies ">secret", "#hash", "resetpass" …; returns null, or the error
  const char* AddSelector(Bytes rules);   // adds the selector "(~a +get)"; returns null, or the error
  const char* AddPassword(const Digest& digest);  // adds the hash of a password; returns null, or: too many passwords
  void Reset(AclPubsubDefault pubsub);            // makes it a user that is off, without passwords or permissions
  void UpdateIsUnlimited() { is_unlimited_ = selectors_.front().IsUnlimited(); }  // after each change of the rules

  std::string name_;
  const CommandTable* table_;  // all commands of the server
  bool is_on_ = false;
  bool no_password_ = false;           // the rule `nopass`
  bool skips_payload_checks_ = false;  // the flag skip-sanitize-payload; without effect in this server
  bool is_unlimited_ = false;          // every command, key and channel is allowed
  std::vector<Digest> passwords_;      // hashes of the passwords
  std::vector<Selector> selectors_;    // the root selector first
};

// The result of MergeSelectorArguments, which joins the arguments of each selector to one rule. ACL SETUSER accepts a
// selector in several arguments, such as "(+get" "~key)".
struct MergedRules {                     // arguments of ACL SETUSER, those of each selector joined to one
  std::vector<std::string> rules;        // for example "+get" and "(~key +set)"
  std::optional<std::string> unmatched;  // an argument with a parenthesis that is never closed; nullopt: none
};
MergedRules MergeSelectorArguments(std::span<const Bytes> arguments);  // joins "(+get" and "~key)" to one rule

}  // namespace respite
