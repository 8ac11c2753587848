// LoopNetwork: links over TCP, with or without TLS, and pipes of children, on an event loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

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

  // Links that are dialed to such targets carry nothing, in both directions, and stay open, as if packets were lost.
  // Replaces the rule of before; links that it does not cut go on. Null: none is cut. Cost: O(links).
  using IsCut = std::function<bool(const Link::Target&)>;
  void Cut(IsCut is_cut);

  // A connection that was dialed.
  class Dialed {
   public:
    virtual ~Dialed() = default;
    virtual const Link::Target& target() const = 0;
    virtual void SetCut(bool is_cut) = 0;
  };

 private:
  EventLoop& loop_;
  EventLoop::Resident& resident_;
  const Settings& settings_;
  const Tls& tls_;
  IsCut is_cut_;
  std::vector<std::weak_ptr<Dialed>> dialed_;  // some have ended
};

}  // namespace respite
