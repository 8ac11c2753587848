// LoopNetwork: links over TCP, with or without TLS, and pipes of children, on an event loop.
#pragma once

#include <memory>

#include "server/net/event_loop.h"
#include "server/net/link.h"

namespace respite {

class Tls;
struct Settings;

class LoopNetwork final : public Network {
 public:
  // `resident` is the server to whom something happens when something happens to a link. All must outlive the links.
  LoopNetwork(EventLoop& loop, EventLoop::Resident& resident, const Settings& settings, const Tls& tls)
      : loop_(loop), resident_(resident), settings_(settings), tls_(tls) {}

  std::unique_ptr<Link> Dial(const Link::Target& target, Link::User& user) override;
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenAt& place, Acceptor& acceptor) override;
  std::unique_ptr<Watch> WatchPipe(int descriptor, std::function<void()> handler) override;

 private:
  EventLoop& loop_;
  EventLoop::Resident& resident_;
  const Settings& settings_;
  const Tls& tls_;
};

}  // namespace respite
