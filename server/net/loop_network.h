// LoopNetwork: connections to and from other servers over TCP, with or without TLS, and pipes from child processes, on
// an event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/net/event_loop.h"
#include "server/net/link.h"
#include "server/net/link_conditions.h"
#include "server/net/local_node_routes.h"

namespace respite {

class Tls;
class LinkConnection;
struct Settings;

class LoopNetwork final : public Network {  // makes and accepts TCP connections to other servers, on an event loop
 public:
  // `participant` is the server that owns the links; it gets EndTurn after their events. All arguments must outlive the
  // links.
  LoopNetwork(EventLoop& loop, EventLoop::Participant& participant, const Settings& settings, const Tls& tls)
      : loop_(loop), participant_(participant), settings_(settings), tls_(tls) {}

  std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) override;  // starts a new link
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions& place,     // opens a port
                                                         Acceptor& acceptor) override;
  std::unique_ptr<Watch> WatchPipe(int descriptor,  // calls `handler` whenever the descriptor is readable
                                   std::function<void()> handler) override;

  // A function that returns the simulated network conditions for links to a target.
  using ConditionsFor = std::function<LinkConditions(const Link::Target&)>;
  // Sets the simulated network conditions of outgoing links, both existing and later ones. Null: simulates nothing.
  // Cost: O(links).
  void SetConditions(ConditionsFor conditions_at);  // simulates a bad network for outgoing links, or none (null)
  // Sets the routes for links that are made from now on; existing links stay as they are.
  void SetRoutes(LocalNodeRoutes routes) { routes_ = std::move(routes); }  // sets the routes of links made from now on

 private:
  EventLoop& loop_;                        // serves the links
  EventLoop::Participant& participant_;    // the server that owns the links; gets EndTurn after their events
  const Settings& settings_;               // the directives for sockets and TLS, such as tcp-keepalive
  const Tls& tls_;                         // the keys for encrypted links
  ConditionsFor conditions_for_;           // tells which conditions to simulate for a link; null: none
  std::optional<LocalNodeRoutes> routes_;  // replaces announced addresses of local nodes by their real addresses
  std::vector<std::weak_ptr<LinkConnection>> outgoing_connections_;  // made by Connect; some may have ended
};

}  // namespace respite
