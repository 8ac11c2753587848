// RequestFilter: which requests and clients a test means: the words behind WHEN of TEST FAULT ADD, and those of TEST
// DROP, TEST JOURNAL, TEST EXPECT and TEST AWAIT. All that is given must hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/glob.h"
#include "server/catalogue/key_finder.h"
#include "server/execution/request_faults.h"

namespace respite {

// A glob. Plain text is compared at once, and a plain beginning first: most of many patterns fit nothing.
class TextPattern {
 public:
  explicit TextPattern(Bytes pattern, CaseMode mode = CaseMode::kSensitive);
  bool Matches(Bytes text) const { return text.starts_with(beginning_) && (is_plain_ ? EndsWith(text) : Fits(text)); }
  // What all texts that match begin with; perhaps nothing.
  Bytes Beginning() const { return beginning_; }

 private:
  bool EndsWith(Bytes text) const { return text.size() == beginning_.size(); }
  bool Fits(Bytes text) const { return glob_.Matches(text); }

  std::string beginning_;  // before the first special byte; empty if case is ignored
  bool is_plain_;
  Glob glob_;
};

// The first bytes of a text, as far as they fit into a word: says quickly that most texts do not begin so.
class TextStart {
 public:
  explicit TextStart(Bytes text);
  // False: no text with this start begins with all of `beginning`, of which this is the start.
  bool MayBegin(const TextStart& beginning) const { return ((bytes_ ^ beginning.bytes_) & beginning.mask_) == 0; }

 private:
  uint64_t bytes_ = 0;
  uint64_t mask_ = 0;  // of the bytes that there are
};

// What filters know of a client.
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

  // `in_db` is the database of the request; of a client that sends none, its own.
  bool Matches(const ClientView& client, int in_db) const;
};

struct RequestFilter {
  std::optional<TextPattern> command;  // of full names; a container stands for its subcommands
  uint32_t category = 0;               // an AclCategory bit; 0: any
  std::optional<TextPattern> key;      // one of the request's keys
  ClientFilter client;
  std::optional<bool> is_in_script;
  std::optional<bool> is_in_transaction;  // EXEC runs it; not given: it is met when the client sends it

  // What depends on the command alone.
  bool MayMatch(const Command& tried) const;
  bool MayMatchUnknown() const { return !command && category == 0 && !key; }
  // The rest. Requires: MayMatch, or MayMatchUnknown without a command.
  struct Facts {
    ClientView client;
    int db;
    const Command* command;  // null: the words name none
    std::span<const Bytes> words;
    RequestFaults::Place place;
    bool is_in_transaction;
    std::optional<KeyList> keys = {};                          // from FindKeys on
    std::vector<TextStart> key_starts = {TextStart(Bytes())};  // of these; that of no key if there is none

    static Facts Of(const RequestFaults::Request& request);
    void FindKeys();
  };
  bool Matches(Facts& facts) const;

 private:
  bool FitsPlace(const Facts& facts) const;
  bool FitsKey(Facts& facts) const;
};

// The end of another server instead of a client: its primary, a replica, a node that sends slots.
bool IsOfServer(const Session& session);

}  // namespace respite
