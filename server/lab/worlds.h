// Worlds: isolated servers behind one port. Each world has its own data, users, directives, scripts, clients and clock,
// so parallel tests need only one server. A test enters the world NAME by its URL alone: the client logs in as the user
// `world.NAME`.
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

class Worlds {  // interface to isolated servers in this process ("worlds", TEST WORLD)
 public:
  static constexpr size_t kMaxWorlds = 10'000;  // maximum number of isolated servers (worlds) of a server
  static constexpr size_t kMaxNameBytes = 256;  // maximum size of a world's name in bytes

  struct WorldOptions {                              // options of a new world (isolated server)
    std::optional<int> port = std::nullopt;          // separate port of the world; 0: the system chooses; nullopt: none
    const NamedSnapshots* snapshots = nullptr;       // has the snapshot `snapshot`; null: the world begins empty
    std::string snapshot = {};                       // name of the snapshot with the initial data
    std::optional<Emulated> version = std::nullopt;  // emulated version; nullopt: as the server with the worlds
  };
  struct Summary {  // one line of TEST WORLD LIST
    std::string name;
    size_t clients;            // number of clients that are connected to the isolated server
    size_t keys;               // number of keys
    int port;                  // port of its own; 0 if it has none
    std::string_view version;  // emulated version; empty if none
  };

  virtual ~Worlds() = default;

  virtual bool Has(Bytes name) const = 0;
  // Creates a world. Returns an error text, or nullopt. Requires: there is no world of this name.
  virtual std::optional<std::string> Create(Bytes name,  // creates a server; returns the error, or nullopt
                                            const WorldOptions& options) = 0;
  // Stops a world and disconnects its clients. Its name is free immediately; its server is destroyed in a later turn of
  // the event loop. Requires: Has(name).
  virtual void Drop(Bytes name) = 0;  // ends the isolated server with this name
  virtual std::vector<Summary> List() const = 0;
  virtual size_t Count() const = 0;          // number of worlds (isolated servers)
  virtual bool HaveClients() const = 0;      // whether any world (isolated server) has a client
  virtual int PortOf(Bytes name) const = 0;  // separate port of this isolated server; 0: none

  struct Entry {                            // how a client enters a world (isolated server)
    std::string world;                      // name of the isolated server; empty: the main server
    std::string reply = "+OK\r\n";          // reply that the client gets when it has moved
    std::vector<std::string> request = {};  // first request in the world, whose reply replaces `reply`; empty: none
  };
  virtual bool MayMove(const Session& session) const = 0;  // whether the client can move to a world (isolated server)
  // Moves the connection of a client to a world (an isolated server of this process) in the next turn. The command that
  // calls Enter must call Call::ContinueInNextTurn; it is resumed only if the move has failed. Returns false if the
  // client has no connection that could move.
  virtual bool Enter(const Session& session, Entry entry) = 0;  // moves a client to a world; false: impossible
};

}  // namespace respite
