// LintCheck: finds mistakes of a few related rules in the requests of a server.
//
// It sees each request twice: before it runs, when what it is about to do can still be judged (and refused), and when
// it has succeeded. In between it hears what happens to keys. Findings go into a list of remarks; those of rules that
// are off are dropped there.
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

namespace respite {

class Clients;
class Clock;
class PubSub;
struct Dataset;
struct ServerStats;
struct Settings;

// A client as remarks name it.
using LintClient = std::shared_ptr<const RequestOwner>;

// A key of one of the databases, to look for in tables.
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
  KeyList keys;  // but for those that are longer than kLongestKey
  Place place;
  uint64_t number;         // of the requests that this client has sent
  size_t reply_bytes = 0;  // behind it, with kSent

  bool Is(Bytes full_name) const { return Bytes(command.full_name) == full_name; }
  bool IsOneOf(std::span<const Bytes> full_names) const;
  // EVAL, FCALL and their kin.
  bool RunsScript() const { return command.Is(kNoMandatoryKeys); }
  KeyView View(const KeyRef& key) const { return {db, words[key.index]}; }
  KeyName Key(const KeyRef& key) const { return KeyName(View(key)); }
  // A word behind the first ones, in any case.
  bool HasOption(size_t from, Bytes option) const;
};

struct LintRemark {
  LintRule rule;
  std::string why;
  std::string key = {};    // that it is about, if it is about one
  LintClient client = {};  // null: that of the request
};
using LintRemarks = std::vector<LintRemark>;

class LintCheck {
 public:
  struct Parts {
    const Clock& clock;
    const Dataset& data;
    const Clients& clients;
    const PubSub& pubsub;
    const ServerStats& stats;
    const Settings& settings;
    const LintLimits& limits;
  };

  // The most clients that a check keeps something about.
  static constexpr size_t kMaxClients = 10'000;
  // A table of clients may grow to this, and two per connected client, before the clients that have left are removed.
  static constexpr size_t kMaxGoneClients = 1000;

  virtual ~LintCheck() = default;
  // It is about to run; or, with kQueued, to be queued.
  virtual void Before(const LintRequest& /*request*/, LintRemarks& /*remarks*/) {}
  // It has succeeded.
  virtual void After(const LintRequest& /*request*/, LintRemarks& /*remarks*/) {}
  // A request of this client has failed, or was refused.
  virtual void Failed(const Session& /*client*/) {}
  // The request that runs does this to a key; or its time is over, which happens at any time.
  virtual void OnKeyEvent(const KeyView& /*key*/, const KeyEvent& /*event*/) {}
  // What was known about a key, or about all keys of a database, is no more: the test itself has replaced them.
  virtual void Forget(const KeyView& /*key*/) {}
  virtual void ForgetAll(int /*db*/) {}
  // What clients have left behind that are gone.
  virtual void Conclude(LintRemarks& /*remarks*/) {}
};

// "client worker-1", or "client id=7" if it has no name.
std::string Shown(const LintClient& client);

// A key, or another word that a client has sent, for a sentence: the beginning, if it is long.
std::string ShownWord(Bytes word);

// Null: it is absent, or has expired. Cost: O(1).
const Entry* Present(const LintCheck::Parts& parts, const KeyView& key);
// Whether EXEC would look at a key.
bool Watches(const Session& client);

// A check does not grow with the load: when the table is full, it begins anew.
template <class Table>
void MakeRoomIn(Table& table, size_t most) {
  if (table.size() >= most) table.clear();
}

}  // namespace respite
