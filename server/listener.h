// Listener: the sockets on which clients arrive: TCP on each `bind` address, and a unix socket.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/event_loop.h"

namespace respite {

class Listener {
 public:
  explicit Listener(EventLoop& loop);
  ~Listener();

  // Opens what the settings ask for. Returns why that failed; warnings are logged. With `port auto` the system chooses
  // a free port, which is then found in settings().bound_port.
  std::optional<std::string> Open();
  // `port`, `bind`, `tcp-backlog`, `unixsocket` changed: opens the new sockets, then closes the old ones.
  std::optional<std::string> ReopenTcp();
  void Close();

 private:
  struct Socket;
  struct Sockets;

  std::optional<std::string> OpenTcp(std::vector<std::unique_ptr<Socket>>& opened);
  std::optional<std::string> OpenUnix();
  void Accept(Socket& socket);
  void Welcome(int descriptor);

  EventLoop& loop_;
  std::vector<std::unique_ptr<Socket>> tcp_;
  std::unique_ptr<Socket> unix_;
};

}  // namespace respite
