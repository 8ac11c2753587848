// LoopNetwork: links over TCP, with or without TLS, and pipes of children, on an event loop.
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

class LoopNetwork final : public Network {
 public:
  // `hosted` is the server that gets the events of the links. All arguments must outlive the links.
  LoopNetwork(EventLoop& loop, EventLoop::Participant& hosted, const Settings& settings, const Tls& tls)
      : loop_(loop), resident_(hosted), settings_(settings), tls_(tls) {}

  std::unique_ptr<Link> Dial(const Link::Target& target, Link::User& user) override;
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenAt& place, Acceptor& acceptor) override;
  std::unique_ptr<Watch> WatchPipe(int descriptor, std::function<void()> handler) override;

  // Sets the conditions of dialed links, present and future. Null: no conditions. Cost: O(links).
  using WeatherAt = std::function<LinkConditions(const Link::Target&)>;
  void SetConditions(WeatherAt conditions_at);
  // Sets the routes for links that are dialed from now on.
  void SetRoutes(LocalNodeRoutes routes) { routes_ = std::move(routes); }

 private:
  EventLoop& loop_;
  EventLoop::Participant& resident_;
  const Settings& settings_;
  const Tls& tls_;
  WeatherAt conditions_at_;
  std::optional<LocalNodeRoutes> routes_;
  std::vector<std::weak_ptr<LinkConnection>> dialed_;  // some may have ended
};

}  // namespace respite
