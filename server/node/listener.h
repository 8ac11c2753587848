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

class Listener final : public ListeningSockets {  // the sockets on which clients connect
 public:
  enum class Protocol : uint8_t { kTcp, kTls };  // kTls: TLS over TCP

  // `recorder` (may be null) records the connections. Both must outlive the Listener and its connections.
  explicit Listener(NodeHost& host, Recorder* recorder = nullptr);
  ~Listener() override;

  // Opens the sockets that the settings name. Returns an error text on failure; warnings are logged. With `port auto`
  // the system chooses a free port the first time. That port is kept afterwards; settings().bound_port returns it.
  std::optional<std::string> Open();
  // Closes the old sockets and then opens the new ones, which may overlap them. Called after `port`, `tls-port` or
  // `bind` has changed.
  std::optional<std::string> Reopen(Protocol protocol);
  bool HasTcp() const { return !tcp_.empty(); }      // listens on `port`
  bool HasTls() const { return !tls_.empty(); }      // listens on `tls-port`
  bool HasUnix() const { return unix_ != nullptr; }  // listens on `unixsocket`
  // Closes the sockets. Also removes the file of the unix socket, unless it now belongs to another server.
  void Close();

  // ListeningSockets.
  void StopListening() override;  // refuses new connections, but keeps the ports reserved
  void ListenAgain() override;    // undoes StopListening

 private:
  struct Socket;  // one listening socket
  using Sockets = std::vector<std::shared_ptr<Socket>>;

  // Opens sockets on all addresses, or returns an error text.
  Result<Sockets, std::string> OpenTcp(Protocol protocol, int port);
  std::optional<std::string> OpenUnix();  // returns an error text on failure
  void RemoveUnixFile();                  // unless it now belongs to another server
  void Reserve(int port);                 // keeps other programs from using the port while StopListening is in effect
  void Accept(const std::shared_ptr<Socket>& socket);       // waits for the next connection
  void AcceptAll(const std::shared_ptr<Socket>& socket);    // accepts the waiting connections, up to the limit per turn
  void AcceptLater(const std::shared_ptr<Socket>& socket);  // waits a moment, because no descriptor was free
  void Welcome(Descriptor accepted, Protocol protocol);     // makes an accepted socket a client, or refuses it

  NodeHost& host_;
  Recorder* const recorder_;  // records the connections; may be null
  std::string unix_path_;     // absolute
  uint64_t unix_inode_ = 0;   // of the socket file, to recognise that another server has replaced it
  Sockets tcp_;
  Sockets tls_;
  std::shared_ptr<Socket> unix_;
  bool has_stopped_listening_ = false;    // by StopListening
  std::vector<Descriptor> reservations_;  // keep its ports reserved while has_stopped_listening_
};

}  // namespace respite
