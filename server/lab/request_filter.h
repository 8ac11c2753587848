// RequestFilter: selects requests and clients by the arguments after WHEN of TEST FAULT ADD, and by those of TEST DROP,
// TEST JOURNAL, TEST EXPECT and TEST AWAIT. All given conditions must hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/glob.h"
#include "server/catalogue/key_finder.h"
#include "server/execution/request_faults.h"

namespace respite {

// A glob pattern. Plain text is compared directly. Otherwise a plain prefix is compared first, because most texts do
// not match.
class TextPattern {
 public:
  explicit TextPattern(Bytes pattern, CaseMode mode = CaseMode::kSensitive);
  bool Matches(Bytes text) const { return text.starts_with(beginning_) && (is_plain_ ? EndsWith(text) : Fits(text)); }
  // Returns the common prefix of all matching texts, which may be empty.
  Bytes Beginning() const { return beginning_; }

 private:
  bool EndsWith(Bytes text) const { return text.size() == beginning_.size(); }
  bool Fits(Bytes text) const { return glob_.Matches(text); }

  std::string beginning_;  // text before the first special byte; empty if case is ignored
  bool is_plain_;
  Glob glob_;
};

// The first bytes of a text, packed into one machine word. Rejects most texts with another prefix quickly.
class TextStart {
 public:
  explicit TextStart(Bytes text);
  // Returns false if no text with this start can begin with the text that `beginning` was made from.
  bool MayBegin(const TextStart& beginning) const { return ((bytes_ ^ beginning.bytes_) & beginning.mask_) == 0; }

 private:
  uint64_t bytes_ = 0;
  uint64_t mask_ = 0;  // covers the bytes that exist
};

// The properties of a client that filters use.
struct ClientView {
  uint64_t id;
  Bytes name;
  Bytes user;
  Bytes address;
  Bytes library;

  static ClientView Of(const Session& client);
};

struct ClientFilter {
  std::optional<TextPattern> name;
  std::optional<uint64_t> id;
  std::optional<TextPattern> user;
  std::optional<TextPattern> address;
  std::optional<TextPattern> library;
  std::optional<int> db;

  // `in_db` is the database of the request, or the client's own database if there is no request.
  bool Matches(const ClientView& client, int in_db) const;
};

struct RequestFilter {
  std::optional<TextPattern> command;  // full names; a container matches all its subcommands
  uint32_t category = 0;               // an AclCategory bit; 0: any category
  std::optional<TextPattern> key;      // one of the request's keys
  ClientFilter client;
  std::optional<bool> is_in_script;
  std::optional<bool> is_in_transaction;  // true: run by EXEC; nullopt: matches when the client sends it

  // Checks the conditions that depend only on the command.
  bool MayMatch(const Command& tried) const;
  bool MayMatchUnknown() const { return !command && category == 0 && !key; }
  // Input for the other conditions. Matches requires MayMatch, or MayMatchUnknown without a command.
  struct Facts {
    ClientView client;
    int db;
    const Command* command;  // null if the command is unknown
    std::span<const Bytes> words;
    RequestFaults::Place place;
    bool is_in_transaction;
    std::optional<KeyList> keys = {};                          // set by FindKeys
    std::vector<TextStart> key_starts = {TextStart(Bytes())};  // starts of `keys`; one empty start if there is no key

    static Facts Of(const RequestFaults::Request& request);
    void FindKeys();
  };
  bool Matches(Facts& facts) const;

 private:
  bool FitsPlace(const Facts& facts) const;
  bool FitsKey(Facts& facts) const;
};

// Returns whether the session is a link to another server: the primary, a replica, or a node that migrates slots.
bool IsOfServer(const Session& session);

}  // namespace respite
