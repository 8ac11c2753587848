// Worlds: isolated servers behind one port. Each has its own data, users, directives, scripts, clients and clock, so
// that parallel tests need only one server. A test enters its world by the URL alone, as user `world.NAME`.
//
// This is the interface for commands. The process implements it, and is above this room.
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

class Worlds {  // isolated servers behind one port (TEST WORLD); the process implements it
 public:
  static constexpr size_t kMaxWorlds = 10'000;  // worlds
  static constexpr size_t kMaxNameBytes = 256;

  struct Order {                                     // options of a new world
    std::optional<int> port = std::nullopt;          // port of its own; 0: the system chooses one
    const NamedSnapshots* snapshots = nullptr;       // the store that has `snapshot`
    std::string snapshot = {};                       // name in `snapshots` of the initial data
    std::optional<Emulated> version = std::nullopt;  // nullopt: the version of the server that has the worlds
  };
  struct Summary {  // one line of TEST WORLD LIST
    std::string name;
    size_t clients;
    size_t keys;
    int port;                  // 0 if it has none
    std::string_view version;  // emulated version; empty if none
  };

  virtual ~Worlds() = default;

  virtual bool Has(Bytes name) const = 0;
  // Returns an error if the world cannot be created. Requires: !Has(name).
  virtual std::optional<std::string> Create(Bytes name, const Order& order) = 0;
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
