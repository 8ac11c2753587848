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

class Listener final : public ListeningSockets {  // the sockets on which clients connect to one server
 public:
  enum class Protocol : uint8_t { kTcp, kTls };  // kTls: TLS over TCP

  // `recorder` records the connections; null: no recording. Both arguments must outlive the Listener and the
  // connections that it accepts.
  explicit Listener(NodeHost& host, Recorder* recorder = nullptr);
  ~Listener() override;

  // Opens the sockets that the settings name. Returns an error text on failure; warnings are logged. With `port auto`
  // the system chooses a free port the first time. The Listener keeps that port afterwards, and stores it in the
  // setting bound_port.
  std::optional<std::string> Open();  // opens the sockets that the settings name; returns the error; nullopt: none
  // Closes the old sockets and then opens new ones, which may have the same addresses. Must be called after `port`,
  // `tls-port` or `bind` has changed.
  std::optional<std::string> Reopen(Protocol protocol);  // closes, opens again; returns the error; nullopt: none
  bool HasTcp() const { return !tcp_.empty(); }          // true: listens on `port`
  bool HasTls() const { return !tls_.empty(); }          // true: listens on `tls-port`
  bool HasUnix() const { return unix_ != nullptr; }      // true: listens on `unixsocket`
  // Closes the sockets and removes the file of the unix socket, unless the file now belongs to another server.
  void Close();  // closes all listening sockets, and removes the file of the Unix socket

  // The functions of ListeningSockets.
  void StopListening() override;  // closes the sockets as Close does, but keeps their ports from other programs
  void ListenAgain() override;    // opens the sockets again that StopListening has closed

 private:
  struct Socket;  // one listening socket and its address
  using Sockets = std::vector<std::shared_ptr<Socket>>;

  Result<Sockets, std::string> OpenTcp(Protocol protocol, int port);  // opens a socket for each `bind` address
  std::optional<std::string> OpenUnix();                              // opens the Unix socket; returns the error
  void RemoveUnixFile();       // removes the Unix socket's file, unless another server replaced it
  void ReservePort(int port);  // keeps other programs from using the port until ListenAgain
  void WaitForClient(const std::shared_ptr<Socket>& socket);  // calls AcceptWaitingClients when a client connects
  void AcceptWaitingClients(const std::shared_ptr<Socket>& socket);  // at most max-new-(tls-)connections-per-cycle
  void AcceptLater(const std::shared_ptr<Socket>& socket);   // pauses accepting for 100 ms after an error of accept(2)
  void AdmitSocket(Descriptor accepted, Protocol protocol);  // makes the socket a client's connection, or refuses it

  NodeHost& host_;                        // the server that gets the clients
  Recorder* const recorder_;              // records the traffic of clients; null: no recording
  std::string unix_path_;                 // absolute path of the Unix socket; empty: none
  uint64_t unix_inode_ = 0;               // inode of the Unix socket's file, to notice its replacement
  Sockets tcp_;                           // sockets on `port`, one for each address
  Sockets tls_;                           // sockets on `tls-port`, one for each address
  std::shared_ptr<Socket> unix_;          // the Unix socket; null: none
  bool has_stopped_listening_ = false;    // true: after StopListening, until ListenAgain or Close
  std::vector<Descriptor> reservations_;  // keep the ports from other programs while has_stopped_listening_
};

}  // namespace respite
