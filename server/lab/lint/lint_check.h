// LintCheck: detects violations of a few related rules in the requests of a server.
//
// A check receives each request twice: before it runs, when it can still be refused, and after it has succeeded. In
// between it receives the key events. It adds its findings to a list of remarks. The caller drops the remarks of rules
// that are off.
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

// A client as remarks name it.
using LintClient = std::shared_ptr<const RequestOwner>;

// A key of one database, for lookups in tables.
struct KeyView {
  KeyView(int in_db, Bytes name) : db(in_db), key(name) {}
  KeyView(const KeyName& name) : db(name.db), key(name.key) {}  // NOLINT: implicit on purpose
  explicit operator KeyName() const { return {db, std::string(key)}; }

  int db;
  Bytes key;
};

struct KeyOrder {
  using is_transparent = void;
  bool operator()(const KeyView& one, const KeyView& other) const {
    return one.db != other.db ? one.db < other.db : one.key < other.key;
  }
};
using KeySet = std::set<KeyName, KeyOrder>;
template <class Value>
using KeyMap = std::map<KeyName, Value, KeyOrder>;

struct LintRequest {
  using Place = RequestFaults::Place;
  static constexpr size_t kLongestKey = 1024;

  const Session& client;
  LintClient owner;
  int db;
  const Command& command;
  std::span<const Bytes> words;
  KeyList keys;  // without keys longer than kLongestKey
  Place place;
  uint64_t number;         // counts the requests of this client
  size_t reply_bytes = 0;  // bytes of the reply, after a kSent request

  bool Is(Bytes full_name) const { return Bytes(command.full_name) == full_name; }
  bool IsOneOf(std::span<const Bytes> full_names) const;
  // Returns true for EVAL, FCALL and their variants.
  bool RunsScript() const { return command.Is(kNoMandatoryKeys); }
  KeyView View(const KeyRef& key) const { return {db, words[key.index]}; }
  KeyName Key(const KeyRef& key) const { return KeyName(View(key)); }
  // Returns whether an argument from index `from` on equals `option`, in any case.
  bool HasOption(size_t from, Bytes option) const;
};

struct LintRemark {
  LintRule rule;
  std::string why;
  std::string key = {};    // key that the remark is about, if any
  LintClient client = {};  // null: the client of the request
};
using LintRemarks = std::vector<LintRemark>;

class LintCheck {
 public:
  struct Parts {
    const Env& env;
    const Dataset& data;
    const Clients& clients;
    const PubSub& pubsub;
    const LintLimits& limits;
  };

  // Maximum number of clients that a check tracks.
  static constexpr size_t kMaxClients = 10'000;
  // Allowance for disconnected clients: they are removed when a table exceeds this plus two entries per connected
  // client.
  static constexpr size_t kMaxGoneClients = 1000;

  virtual ~LintCheck() = default;
  // Called before a request runs; with kQueued, before it is queued.
  virtual void Before(const LintRequest& /*request*/, LintRemarks& /*remarks*/) {}
  // Called after a request has succeeded.
  virtual void After(const LintRequest& /*request*/, LintRemarks& /*remarks*/) {}
  // Called after a request of this client has failed or was refused.
  virtual void Failed(const Session& /*client*/) {}
  // Called when the running request changes a key. Also called when a key expires, which can be at any time.
  virtual void OnKeyEvent(const KeyView& /*key*/, const KeyEvent& /*event*/) {}
  // Discards the knowledge about a key, or about all keys of a database, because TEST itself has replaced them.
  virtual void Forget(const KeyView& /*key*/) {}
  virtual void ForgetAll(int /*db*/) {}
  // Adds the remarks about clients that have disconnected.
  virtual void Conclude(LintRemarks& /*remarks*/) {}
};

// "client worker-1", or "client id=7" if it has no name.
std::string Shown(const LintClient& client);

// Returns a key or another argument for a sentence, shortened if it is long.
std::string ShownWord(Bytes word);

// Returns null if the key is absent or has expired. Cost: O(1).
const Entry* Present(const LintCheck::Parts& parts, const KeyView& key);
// Returns whether the client watches a key.
bool Watches(const Session& client);

// Clears a full table, so that the memory of a check does not grow with the load.
template <class Table>
void MakeRoomIn(Table& table, size_t most) {
  if (table.size() >= most) table.clear();
}

}  // namespace respite
