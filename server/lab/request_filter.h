// RequestFilter: selects requests that meet all given conditions. The conditions are arguments of TEST FAULT ADD (after
// WHEN), TEST DROP, TEST JOURNAL, TEST EXPECT and TEST AWAIT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/glob.h"
#include "server/catalogue/key_finder.h"
#include "server/execution/request_faults.h"

namespace respite {

class TextPattern {  // a glob pattern, matched fast if it is plain text or a plain prefix
 public:
  explicit TextPattern(Bytes pattern, CaseMode mode = CaseMode::kSensitive);
  bool Matches(Bytes text) const {  // whether the whole text matches the pattern
    return text.starts_with(beginning_) && (is_plain_ ? EqualsBeginning(text) : Fits(text));
  }
  Bytes Beginning() const { return beginning_; }  // text with which each matching text begins; may be empty

 private:
  // Requires: `text` starts with beginning_.
  bool EqualsBeginning(Bytes text) const { return text.size() == beginning_.size(); }  // true: `text` is beginning_
  bool Fits(Bytes text) const { return glob_.Matches(text); }

  std::string beginning_;  // the pattern up to its first special character; empty if case is ignored
  bool is_plain_;          // true: the pattern has no special characters, and case matters
  Glob glob_;
};

class TextStart {  // the first eight bytes of a text in one machine word, to compare beginnings fast
 public:
  explicit TextStart(Bytes text);
  // Returns false if this text does not begin with `beginning`. Compares only the first eight bytes, which is fast.
  // After the result true, the caller must compare the whole texts.
  bool MayBeginWith(const TextStart& beginning) const {  // false: it does not; true: it may (compares eight bytes)
    return ((bytes_ ^ beginning.bytes_) & beginning.mask_) == 0;
  }

 private:
  uint64_t bytes_ = 0;  // the first eight bytes of the text; zeros if it is shorter
  uint64_t mask_ = 0;   // has all bits set for the bytes that exist
};

struct ClientView {  // ID, name, user, address and library of a client, for filters
  uint64_t id;
  Bytes name;
  Bytes user;
  Bytes address;  // IP address and port: "127.0.0.1:50123"
  Bytes library;  // name of the client library (lib-name of CLIENT SETINFO)

  static ClientView Of(const Session& client);
};

struct ClientFilter {  // conditions for clients (TEST FAULT, TEST JOURNAL …); all given ones must hold
  std::optional<TextPattern> name;
  std::optional<uint64_t> id;
  std::optional<TextPattern> user;
  std::optional<TextPattern> address;  // pattern for IP address and port: "127.0.0.1:50123"
  std::optional<TextPattern> library;  // pattern for the client library (lib-name of CLIENT SETINFO)
  std::optional<int> db;

  // Returns whether the client and its request fulfil all conditions of the filter. `in_db` is the database of the
  // request, or the client's selected database if there is no request.
  bool Matches(const ClientView& client, int in_db) const;  // whether all given conditions hold
};

struct RequestFilter {  // conditions for requests (TEST FAULT, TEST JOURNAL …); all given ones must hold
  std::optional<TextPattern> command;  // pattern for full names of commands; a container matches its subcommands
  uint32_t category = 0;               // the command must be in this AclCategory (one bit); 0: any category
  std::optional<TextPattern> key;      // pattern that one of the request's keys must match
  ClientFilter client;                 // conditions for the client
  std::optional<bool> is_in_script;    // SCRIPT YES or NO: run by a script, or not; nullopt: not given
  // The condition TRANSACTION. With YES, a request matches only while EXEC runs it, directly or in a script. With NO,
  // only requests outside transactions match. If the condition is not given (nullopt), a fault rule matches a request
  // after MULTI once, when it is queued, and not again when EXEC runs it.
  std::optional<bool> is_in_transaction;  // TRANSACTION YES or NO; nullopt: not given

  bool MayMatch(const Command& tried) const;  // false: no request of this command can match
  bool MayMatchUnknown() const { return !command && category == 0 && !key; }  // true: an unknown command may match
  // The facts about one request that Matches needs. Requires: MayMatch was true for the request's command, or
  // MayMatchUnknown for an unknown command.
  struct Facts {                       // what Matches needs to know of one request
    ClientView client;                 // the client that sent the request
    int db;                            // database of the request
    const Command* command;            // null if the command is unknown
    std::span<const Bytes> words;      // arguments, including the command name
    RequestFaults::Place place;        // whether the request was sent, queued, or runs in EXEC or a script
    bool is_in_transaction;            // true: MULTI queues the request, or EXEC runs it or its script
    std::optional<KeyList> keys = {};  // the keys among `words`; nullopt before FindKeys
    // Before FindKeys, and for a request without keys, the only element is an empty text.
    std::vector<TextStart> key_starts = {TextStart(Bytes())};  // the first eight bytes of each key

    static Facts Of(const RequestFaults::Attempt& request);
    void FindKeys();  // finds the keys among `words`, unless done before; sets `keys`, `key_starts`
  };
  bool Matches(Facts& facts) const;  // whether all given conditions hold; may call FindKeys

 private:
  bool FitsPlace(const Facts& facts) const;  // whether the request fits the conditions SCRIPT and TRANSACTION
  bool FitsKey(Facts& facts) const;          // whether the condition KEY holds
};

bool IsServerLink(const Session& session);  // whether the client is the primary, a replica, or a node that sends slots

}  // namespace respite
