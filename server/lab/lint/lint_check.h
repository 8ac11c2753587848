// LintCheck: an interface for checks of TEST LINT. Each check finds violations of a few related rules in the requests
// of a server.
//
// A check receives each request of a client before the request runs, when the request can still be refused, and again
// after the request has succeeded. In between, the check receives the keyspace events that the request causes. The
// check adds each violation as a remark to a list. The caller drops the remarks of rules that are off.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/key_event.h"
#include "server/catalogue/key_finder.h"
#include "server/clients/key_queues.h"
#include "server/execution/request_faults.h"
#include "server/lab/lint/lint_rules.h"
#include "server/lab/request_owner.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
class PubSub;
struct Dataset;

// The client that a request, a remark or a finding of TEST LINT is about. Its name and address are those at the time of
// the request.
using LintClient = std::shared_ptr<const RequestOwner>;

struct KeyView {  // a key and its database, without a copy of the name, for look-ups
  KeyView(int in_db, Bytes name) : db(in_db), key(name) {}
  KeyView(const KeyName& name) : db(name.db), key(name.key) {}  // NOLINT: implicit on purpose
  explicit operator KeyName() const { return {db, std::string(key)}; }

  int db;
  Bytes key;
};

struct KeyOrder {  // order of keys, which also finds a KeyName by a KeyView
  using is_transparent = void;
  bool operator()(const KeyView& one, const KeyView& other) const {
    return one.db != other.db ? one.db < other.db : one.key < other.key;
  }
};
using KeySet = std::set<KeyName, KeyOrder>;
template <class Value>
using KeyMap = std::map<KeyName, Value, KeyOrder>;

struct LintRequest {  // a request, in the form that the checks of TEST LINT get
  using Place = RequestFaults::Place;
  static constexpr size_t kMaxKeyBytes = 1024;  // longer keys are left out of `keys`

  const Session& client;  // the client that sent the request
  LintClient owner;       // the client, with its name and address
  int db;
  const Command& command;        // the command of the request
  std::span<const Bytes> words;  // arguments, including the command name
  KeyList keys;                  // keys of the request, without keys longer than kMaxKeyBytes
  Place place;                   // whether the request was sent, queued, or run by EXEC or a script
  uint64_t number;               // number of this request among the client's requests
  size_t reply_bytes = 0;        // size of the reply in bytes; 0 before the call, and in a script

  bool Is(Bytes full_name) const { return Bytes(command.full_name) == full_name; }
  bool IsOneOf(std::span<const Bytes> full_names) const;            // the command's full name is one of these
  bool RunsScript() const { return command.Is(kNoMandatoryKeys); }  // EVAL, FCALL and their variants
  KeyView View(const KeyRef& key) const { return {db, words[key.index]}; }
  KeyName Key(const KeyRef& key) const { return KeyName(View(key)); }
  bool HasOption(size_t from, Bytes option) const;  // an argument from index `from` on is `option`, ignoring case
};

struct LintRemark {  // says which rule of TEST LINT a request or a client has violated, and why
  LintRule rule;
  std::string why;
  std::string key = {};    // key that the remark is about, if any
  LintClient client = {};  // the client that the remark is about; null: the sender of the request
};
using LintRemarks = std::vector<LintRemark>;

class LintCheck {  // interface of TEST LINT: detects violations of a few related rules
 public:
  struct Parts {  // other parts of the server that the checks use
    const Env& env;
    const Dataset& data;
    const Clients& clients;    // all sessions
    const PubSub& pubsub;      // subscriptions of clients
    const LintLimits& limits;  // numbers and patterns that rules use
  };

  static constexpr size_t kMaxClients = 10'000;  // maximum number of clients that a check remembers
  // About how many disconnected clients a check may remember. A check may have a table with a row for each client.
  // Before it adds a row to a table with kMaxGoneClients + 2 * (number of connected clients) rows, it removes the rows
  // of disconnected clients.
  static constexpr size_t kMaxGoneClients = 1000;  // about how many disconnected clients a check may keep

  virtual ~LintCheck() = default;
  virtual void CheckBeforeCall(const LintRequest& /*request*/, LintRemarks& /*remarks*/) {}  // before the request runs
  virtual void CheckAfterSuccess(const LintRequest& /*request*/, LintRemarks& /*remarks*/) {}  // the request succeeded
  virtual void NoteFailedRequest(const Session& /*client*/) {}  // a request of this client has failed or was refused
  // Called when the running request changes a key. Also called when a key expires or is evicted, even between two
  // requests.
  virtual void OnKeyEvent(const KeyView& /*key*/, const KeyEvent& /*event*/) {}  // a key was changed, or has expired
  // Forget drops what the check knows about a key, because TEST or another server has changed the key. ForgetAll does
  // this for all keys of a database, for example because of FLUSHALL or SWAPDB.
  virtual void Forget(const KeyView& /*key*/) {}  // drops what the check knows about this key
  virtual void ForgetAll(int /*db*/) {}           // drops what the check knows about the keys of this database
  virtual void ReportGoneClients(LintRemarks& /*remarks*/) {}  // adds the remarks about clients that have disconnected
};

std::string NameForRemark(const LintClient& client);  // for remarks: "client worker-1", or "client id=7" if unnamed

std::string QuotedForRemark(Bytes word);  // quotes an argument for the text of a remark, and shortens a long one

const Entry* FindUnexpired(const LintCheck::Parts& parts, const KeyView& key);  // entry of an unexpired key, or null
bool HasWatchedKeys(const Session& client);  // whether the client watches a key (WATCH)

// Removes all rows of a table if it has at least `max_size` rows, so that the memory of a check is limited.
template <class Table>
void ClearIfFull(Table& table, size_t max_size) {  // removes all rows if there are `max_size` or more
  if (table.size() >= max_size) table.clear();
}

}  // namespace respite
