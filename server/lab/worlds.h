// Worlds: isolated servers behind one port. Each has its own data, users, directives, scripts, clients and clock, so
// that parallel tests need only one server. A test enters its world by the URL alone, as user `world.NAME`.
//
// This is an interface for commands. Code in server/process implements it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/version_mark.h"
#include "server/clients/waiting_requests.h"

namespace respite {

class NamedSnapshots;
struct Session;

class Worlds {  // interface to isolated servers behind one port (TEST WORLD)
 public:
  static constexpr size_t kMaxWorlds = 10'000;  // number of worlds that a server may have
  static constexpr size_t kMaxNameBytes = 256;  // maximum size of a world's name

  struct Order {                                     // options of a new world
    std::optional<int> port = std::nullopt;          // port of its own; 0: the system chooses one; nullopt: none
    const NamedSnapshots* snapshots = nullptr;       // the snapshots in which `snapshot` is found
    std::string snapshot = {};                       // name of the snapshot that has the initial data; empty: no data
    std::optional<Emulated> version = std::nullopt;  // nullopt: the version of the server that has the worlds
  };
  struct Summary {  // one line of TEST WORLD LIST
    std::string name;
    size_t clients;            // number of clients
    size_t keys;               // number of keys
    int port;                  // port of its own; 0 if it has none
    std::string_view version;  // emulated version; empty if none
  };

  virtual ~Worlds() = default;

  virtual bool Has(Bytes name) const = 0;
  // Returns an error if the world cannot be created. Requires: !Has(name).
  virtual std::optional<std::string> Create(Bytes name, const Order& order) = 0;  // error or nullopt
  // Disconnects the clients of the world and removes it after this turn. Requires: Has(name).
  virtual void Drop(Bytes name) = 0;
  virtual std::vector<Summary> List() const = 0;
  virtual size_t Count() const = 0;          // number of worlds
  virtual bool HaveClients() const = 0;      // any world has a client
  virtual int PortOf(Bytes name) const = 0;  // port of its own; 0: none

  struct Entry {                            // where a client moves, and the reply or request with which it begins there
    std::string world;                      // empty: the server that has the worlds
    std::string reply = "+OK\r\n";          // sent when the client has moved
    std::vector<std::string> request = {};  // if not empty, runs there and replaces `reply`
  };
  virtual bool MayMove(const Session& session) const = 0;  // this client could move to a world
  // Moves the client's connection in the next turn. Its running request must continue then (Call::ContinueInNextTurn),
  // and runs again only if the move has failed. Returns false if the client has no connection that could move.
  virtual bool Enter(const Session& session, Entry entry) = 0;  // moves the client's connection; false: it cannot
};

}  // namespace respite
