// Listener: the sockets on which clients arrive: TCP on each `bind` address, with and without TLS, and a unix socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "server/lab/faults/listening_sockets.h"
#include "server/node/node_host.h"

namespace respite {

class Recorder;

class Listener final : public ListeningSockets {
 public:
  enum class Protocol : uint8_t { kTcp, kTls };  // TLS is over TCP

  // `recorder` (null: none) writes down the connections. Both must outlive it and its connections.
  explicit Listener(NodeHost& host, Recorder* recorder = nullptr);
  ~Listener() override;

  // Opens the sockets of the settings. Returns why that failed; warnings are logged. With `port auto` the system
  // chooses a free port the first time, which is kept later; settings().bound_port is that port.
  std::optional<std::string> Open();
  // `port`, `tls-port` or `bind` changed: closes the old sockets (the new ones may overlap them), then opens the new
  // ones.
  std::optional<std::string> Reopen(Protocol protocol);
  bool HasTcp() const { return !tcp_.empty(); }
  bool HasTls() const { return !tls_.empty(); }
  bool HasUnix() const { return unix_ != nullptr; }
  // Also removes the file of the unix socket, unless it belongs to another server now.
  void Close();

  // ListeningSockets.
  void StopListening() override;
  void ListenAgain() override;

 private:
  struct Socket;
  using Sockets = std::vector<std::shared_ptr<Socket>>;

  // Opens sockets on all addresses, or returns why that failed.
  Result<Sockets, std::string> OpenTcp(Protocol protocol, int port);
  std::optional<std::string> OpenUnix();
  void RemoveUnixFile();
  void Reserve(int port);
  void Accept(const std::shared_ptr<Socket>& socket);
  void AcceptAll(const std::shared_ptr<Socket>& socket);
  void AcceptLater(const std::shared_ptr<Socket>& socket);
  void Welcome(Descriptor accepted, Protocol protocol);

  NodeHost& host_;
  Recorder* const recorder_;
  std::string unix_path_;  // absolute
  uint64_t unix_inode_ = 0;
  Sockets tcp_;
  Sockets tls_;
  std::shared_ptr<Socket> unix_;
  bool is_shut_ = false;                  // by StopListening
  std::vector<Descriptor> reservations_;  // of its ports meanwhile
};

}  // namespace respite
