// Connection: a socket and its Session. It reads when input arrives, feeds the Pump, and writes at the end of the turn.
// It owns itself until it is closed.
#pragma once

#include <memory>
#include <string>

#include "server/clients/session.h"
#include "server/clients/waiting_requests.h"
#include "server/net/byte_stream.h"
#include "server/net/socket_poller.h"
#include "server/node/node_host.h"

namespace respite {

class Connection final : public Transport,
                         public SocketPoller::Watcher,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(NodeHost& host, Session& session, ByteStream stream);
  ~Connection() override;

  void Start();

  void Flush(size_t most_bytes) override;
  void Resume() override;
  void Close() override;
  int FileDescriptor() const override { return stream_.FileDescriptor(); }
  bool AwaitsRoom() const override { return wanted_.write; }
  bool IsHandshakeLate() const override;

  // Makes the connection a client of another server on the same loop, with a new session. The other server also handles
  // the requests that arrived after the current one. Requires: no command of this client runs, and the next turn
  // resumes it.
  struct Arrival {
    std::string reply;                       // reply to the request that caused the move
    std::unique_ptr<PausedRequest> request;  // runs first on the other server; may be null
    bool is_admitted;                        // needs no login on the other server
  };
  void MoveTo(NodeHost& other, Arrival arrival);
  // Makes the connection a client of the server that has replaced its own. It may have to log in again.
  void Rejoin(NodeHost& restarted, Bytes reply);
  // Returns the connection of this client. Returns null if it cannot move to another server, for example because it is
  // a replica, or because TEST FAULT delays some of its output.
  static Connection* Movable(const Session& session);
  // Returns the server that the client is connected to.
  const NodeHost& host() const { return *host_; }
  const Session& session() const { return *session_; }
  // Returns a pointer that expires when the connection closes, or soon after.
  std::weak_ptr<Connection> Self() const { return self_; }
  bool IsClosing() const { return session_->closing; }
  // Returns the server that accepted the connection. It may have been destroyed, so the pointer may only be compared.
  const NodeHost* FirstHost() const { return origin_ == nullptr ? host_ : origin_->host; }

  void OnReadable() override { OnReady({.read = true}); }
  void OnWritable() override { OnReady({.write = true}); }
  bool TakesLong() const override { return sends_much_; }

 private:
  void OnReady(SocketPoller::Interest ready);
  // Sets the events to wait for: input, and room for unsent output.
  void Want(SocketPoller::Interest wanted);
  void Register(SocketPoller::Interest interest);
  void JoinHandshakes();
  void ContinueHandshake();
  // Starts to serve the peer, unless protected mode refuses it.
  void Admit();
  void Receive();
  void ReceiveInNextTurn();
  void ResumeInNextTurn();
  // `state` is kEnded or kFailed.
  void EndOfInput(Transfer::State state);
  // Closes the client after the peer has disconnected.
  void Depart();
  void RunPump();
  // Gives the connection a session on another server, without a login, and closes its old session.
  Session& BecomeClientOf(NodeHost& other);
  // Restores the user that the client had when it left its first server. If that user is gone or off, the client is
  // treated as new.
  void ComeBack(Session& session, const NodeHost& origin) const;
  // Writes once. Returns false if the socket takes no more for now.
  bool WriteSome(size_t most_bytes);

  // For a connection that has moved: the server that accepted it, and its user when it left
  struct Origin {
    const NodeHost* host;
    std::string user;
  };

  NodeHost* host_;
  std::unique_ptr<Origin> origin_;  // null if it has not moved
  Session* session_;                // valid while self_ is set
  ByteStream stream_;
  int64_t opened_ms_;  // in Pace time
  SocketPoller::Interest wanted_;
  SocketPoller::Interest registered_;
  bool receive_posted_ = false;
  bool is_departing_ = false;
  bool sends_much_ = true;            // the last read brought many bytes, or nothing was read yet
  std::shared_ptr<Connection> self_;  // set from Start to Close, because no other owner may exist
};

}  // namespace respite
