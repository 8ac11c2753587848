// TestNode: a server in this process with its own port, on an event loop that others may share.
#pragma once

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "server/config/config.h"
#include "server/net/event_loop.h"
#include "server/node/listener.h"
#include "server/node/node.h"
#include "server/node/node_host.h"
#include "tests/support/faulty_files.h"
#include "tests/support/in_process_forker.h"

namespace respite {

class TestNode {
 public:
  // `directives` are lines of redis.conf. Listens on a free port of the loopback interface.
  TestNode(EventLoop& loop, const Clock& clock, const std::vector<std::string>& directives = {})
      : log_(clock), config_(ConfigOf(directives)) {
    log_.SetLevel(LogLevel::kNothing);
    server_ = std::make_unique<Node>(
        Node::Parts{*config_, clock, loop.real_clock(), log_, HashKey::FromKernel(), SystemSeed(), files_, forker_});
    host_ = std::make_unique<NodeHost>(loop, *server_);
    listener_ = std::make_unique<Listener>(*host_);
    if (auto reason = listener_->Open()) throw std::runtime_error(*reason);
    host_->Start();
  }

  Node& operator*() { return *server_; }
  Node* operator->() { return server_.get(); }
  NodeHost& host() { return *host_; }
  int port() const { return config_->settings().bound_port; }

 private:
  static std::unique_ptr<Config> ConfigOf(const std::vector<std::string>& directives) {
    CommandLine line;
    line.options = "bind 127.0.0.1\nport auto\nlocale-collate C\nsave \"\"\n";
    for (const std::string& directive : directives) line.options += directive + "\n";
    std::istringstream nothing;
    auto config = Config::Load(line, nothing);
    if (!config.ok()) throw std::runtime_error("bad directives for a test node");
    return std::move(config.value());
  }

  Logger log_;
  std::unique_ptr<Config> config_;
  FaultyFiles files_;
  InProcessForker forker_;
  std::unique_ptr<Node> server_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace respite
