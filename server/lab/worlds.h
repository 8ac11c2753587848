// Worlds: isolated servers behind the port of one. Each has its own data, users, directives, scripts, clients and
// clock, so that parallel tests need one server, and each gets in by its URL alone: as user `world.NAME`.
//
// This is what commands ask of them. Whoever makes servers (the process) has them, and is above this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/emulated.h"
#include "server/clients/paused_request.h"

namespace respite {

class NamedSnapshots;
struct Session;

class Worlds {
 public:
  static constexpr size_t kMost = 10'000;
  static constexpr size_t kLongestName = 256;

  struct Order {
    std::optional<int> port = std::nullopt;  // of its own; 0: the system chooses one
    const NamedSnapshots* snapshots = nullptr;
    std::string snapshot = {};                       // of those: its data to begin with
    std::optional<Emulated> version = std::nullopt;  // nothing: that of the server which has the worlds
  };
  struct Summary {
    std::string name;
    size_t clients;
    size_t keys;
    int port;                  // 0: none
    std::string_view version;  // that it emulates; empty: none
  };

  virtual ~Worlds() = default;

  virtual bool Has(Bytes name) const = 0;
  // Returns why it cannot be made. Requires: !Has(name).
  virtual std::optional<std::string> Create(Bytes name, const Order& order) = 0;
  // Its clients lose their connections. Takes effect after this Turn. Requires: Has(name).
  virtual void Drop(Bytes name) = 0;
  virtual std::vector<Summary> List() const = 0;
  virtual size_t Count() const = 0;
  virtual bool HaveClients() const = 0;
  virtual int PortOf(Bytes name) const = 0;

  // Where a client goes, and what happens there first.
  struct Entry {
    std::string world;  // empty: the server that has the worlds
    std::string reply = "+OK\r\n";
    std::vector<std::string> request = {};  // runs there instead of a reply, if not empty
  };
  // Whether this client could go to a world.
  virtual bool MayMove(const Session& session) const = 0;
  // Moves the connection of a client in the next Turn; its running request must go on then (Call::ContinueInNextTurn),
  // and runs again only if this has failed. False: this client has no connection that could move.
  virtual bool Enter(const Session& session, Entry entry) = 0;
};

}  // namespace respite
