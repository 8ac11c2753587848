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
  // Creates a user that is off, without passwords or permissions. `pubsub`: whether it may use every channel.
  User(Bytes name, const CommandTable& table, AclPubsubDefault pubsub);

  const std::string& name() const { return name_; }
  bool IsOn() const { return is_on_; }
  bool NeedsNoPassword() const { return no_password_; }  // the rule `nopass`
  // Cost: one load.
  bool IsUnlimited() const { return is_unlimited_; }  // it may do everything

  // Applies a rule of ACL SETUSER, or a whole selector in parentheses.
  const char* Apply(Bytes rule, AclPubsubDefault pubsub);  // returns null, or the error
  void SetPassword(Bytes password);                        // requirepass: its only password; empty: none is required

  // Compares in constant time, so that the time reveals nothing about the right password.
  bool HasPassword(Bytes password) const;  // false while the user is off
  AclVerdict Check(AclRequest& request) const;
  bool AllowsReadingAllKeys(const Command& command, std::span<const Bytes> arguments) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;

  std::vector<std::string> Flags() const;                             // for ACL GETUSER: "on", "nopass" …
  std::vector<std::string> PasswordHashes() const;                    // SHA-256 in hexadecimal
  std::span<const Selector> Selectors() const { return selectors_; }  // the root selector first
  // Returns all rules that define this user, in a form that Apply accepts: "on", "nopass", "sanitize-payload", "~*",
  // "&*", "+@all", "(~a resetchannels -@all +get)".
  std::vector<std::string> Rules() const;
  std::string RulesText() const;  // separated by blanks, as ACL LIST shows them

 private:
  using Digest = std::array<uint8_t, 32>;  // SHA-256

  std::optional<const char*> ApplyToUser(Bytes rule, AclPubsubDefault pubsub);  // nullopt: a rule for selectors
  const char* ApplyPassword(Bytes rule);          // ">secret", "#hash", "resetpass" …; returns null, or the error
  const char* AddSelector(Bytes rules);           // "(~a +get)"; returns null, or the error
  const char* AddPassword(const Digest& digest);  // returns null, or the error
  void Reset(AclPubsubDefault pubsub);            // to a user that is off, without passwords or permissions
  void UpdateIsUnlimited() { is_unlimited_ = selectors_.front().IsUnlimited(); }  // after a change of the rules

  std::string name_;
  const CommandTable* table_;  // of all commands
  bool is_on_ = false;
  bool no_password_ = false;           // the rule `nopass`
  bool skips_payload_checks_ = false;  // Redis' flag; this server always checks payloads
  bool is_unlimited_ = false;          // it may do everything
  std::vector<Digest> passwords_;      // hashes
  std::vector<Selector> selectors_;    // the root selector first
};

// Joins the arguments that belong to one selector: ACL SETUSER accepts "(+get" "~key)".
struct MergedRules {                     // rules of ACL SETUSER; a selector is one rule
  std::vector<std::string> rules;        // "+get", "(~key +set)"
  std::optional<std::string> unmatched;  // the argument whose parenthesis is never closed
};
MergedRules MergeSelectorArguments(std::span<const Bytes> arguments);

}  // namespace respite
