// Listener: the sockets on which clients connect: TCP on each `bind` address, with and without TLS, and a unix socket.
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

  // `recorder` records the connections; null: no recording. Both arguments must outlive the Listener and the
  // connections that it accepts.
  explicit Listener(NodeHost& host, Recorder* recorder = nullptr);
  ~Listener() override;

  // Opens the sockets that the settings name. Returns an error text on failure; warnings are logged. With `port auto`
  // the system chooses a free port the first time. The Listener keeps that port afterwards, and stores it in the
  // setting bound_port.
  std::optional<std::string> Open();  // returns the error
  // Closes the old sockets and then opens new ones, which may have the same addresses. Must be called after `port`,
  // `tls-port` or `bind` has changed.
  std::optional<std::string> Reopen(Protocol protocol);  // listens with the changed settings; returns the error
  bool HasTcp() const { return !tcp_.empty(); }          // listens on `port`
  bool HasTls() const { return !tls_.empty(); }          // listens on `tls-port`
  bool HasUnix() const { return unix_ != nullptr; }      // listens on `unixsocket`
  // Closes the sockets and removes the file of the unix socket, unless the file now belongs to another server.
  void Close();  // closes all sockets and removes the file of the unix socket

  // The functions of ListeningSockets.
  void StopListening() override;  // closes the listening sockets, but keeps the ports reserved
  void ListenAgain() override;    // undoes StopListening

 private:
  struct Socket;  // one listening socket
  using Sockets = std::vector<std::shared_ptr<Socket>>;

  Result<Sockets, std::string> OpenTcp(Protocol protocol, int port);  // listens on the `bind` addresses; or an error
  std::optional<std::string> OpenUnix();                              // listens on the unix socket; returns the error
  void RemoveUnixFile();       // removes the file, unless it now belongs to another server
  void ReservePort(int port);  // keeps other programs from using the port while not listening
  void WaitForClient(const std::shared_ptr<Socket>& socket);  // waits until a client connects to this socket
  void AcceptAll(const std::shared_ptr<Socket>& socket);    // accepts the waiting connections, up to the limit per turn
  void AcceptLater(const std::shared_ptr<Socket>& socket);  // tries again soon, since no descriptor was free
  void AdmitSocket(Descriptor accepted, Protocol protocol);  // makes an accepted socket a client, or refuses it

  NodeHost& host_;
  Recorder* const recorder_;  // records the connections; null: no recording
  std::string unix_path_;     // absolute path of the unix socket
  uint64_t unix_inode_ = 0;   // inode of the socket's file, which shows whether another server has replaced the file
  Sockets tcp_;
  Sockets tls_;
  std::shared_ptr<Socket> unix_;
  bool has_stopped_listening_ = false;    // StopListening is in effect
  std::vector<Descriptor> reservations_;  // sockets that reserve the ports while StopListening is in effect
};

}  // namespace respite
