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

class Connection final : public Transport,  // the socket of one client
                         public SocketPoller::Watcher,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(NodeHost& host, Session& session, ByteStream stream);
  ~Connection() override;

  void Start();  // begins the TLS handshake, or to serve the client

  void Flush(size_t most_bytes) override;  // writes pending replies to the socket
  void Resume() override;                  // runs the client's waiting requests in the next turn
  void Close() override;                   // closes the socket
  int FileDescriptor() const override { return stream_.FileDescriptor(); }
  bool IsWaitingToWrite() const override { return wanted_.write; }  // output waits until the socket takes more
  bool IsHandshakeLate() const override;                            // the TLS handshake has taken too long

  // Makes the connection a client of another server on the same loop, with a new session. The other server also handles
  // the requests that arrived after the current one. Requires: no command of this client runs, and the next turn
  // resumes it.
  struct MovingClient {                      // what a client brings to the server that it moves to
    std::string reply;                       // reply to the request that caused the move
    std::unique_ptr<PausedRequest> request;  // runs first on the other server; may be null
    bool is_admitted;                        // needs no login on the other server
  };
  void MoveTo(NodeHost& other, MovingClient arrival);
  void MoveToRestarted(NodeHost& restarted, Bytes reply);  // moves the client to the server that has replaced its own
  // Returns the connection of this client. Returns null if it cannot move to another server, for example because it is
  // a replica, or because TEST FAULT delays some of its output.
  static Connection* FindMovable(const Session& session);  // its connection; null: it cannot move to another server
  // Returns the server that the client is connected to.
  const NodeHost& host() const { return *host_; }
  const Session& session() const { return *session_; }
  // Returns a pointer that expires when the connection closes, or soon after.
  std::weak_ptr<Connection> Self() const { return self_; }
  bool IsClosing() const { return session_->closing; }
  // Returns the server that accepted the connection. It may have been destroyed.
  const NodeHost* AcceptingHost() const { return origin_ == nullptr ? host_ : origin_->host; }  // only to compare

  void OnReadable() override { OnReady({.read = true}); }
  void OnWritable() override { OnReady({.write = true}); }
  bool MayTakeLong() const override { return sends_much_; }  // reading from it may take a large part of a turn

 private:
  void OnReady(SocketPoller::Interest ready);  // the socket can be read or written
  // Sets the events to wait for: input, and room for unsent output.
  void Want(SocketPoller::Interest wanted);
  void Register(SocketPoller::Interest interest);  // tells the poller which events to report
  void JoinHandshakes();                           // queues the next step of the TLS handshake, which takes much CPU
  void ContinueHandshake();                        // does one step of the TLS handshake
  void Admit();                                    // starts to serve the client, unless protected mode refuses it
  void Receive();                                  // reads input and runs the requests in it
  void ReceiveInNextTurn();                        // posts Receive, so that other clients are served first
  void ResumeInNextTurn();                         // posts RunPump, so that other clients are served first
  void HandleEndOfInput(Transfer::State state);    // the peer has disconnected (kEnded), or reading failed (kFailed)
  void CloseGradually();  // closes the client after the peer has disconnected; may take several turns
  void RunPump();         // runs the requests that have arrived
  Session& BecomeClientOf(NodeHost& other);  // gives it a session on another server, and closes the old one
  // Restores the user that the client had when it left its first server. If that user is gone or off, the client is
  // treated as new.
  void RestoreUserOnReturn(Session& session, const NodeHost& origin) const;  // the user of its first server
  bool WriteSome(size_t most_bytes);  // writes once; false: the socket takes no more for now

  // Set for a connection that has moved from another server: the server that accepted it, and the user that it had when
  // it left that server.
  struct Origin {          // where a connection that has moved came from
    const NodeHost* host;  // the server that accepted it; only compared
    std::string user;
  };

  NodeHost* host_;
  std::unique_ptr<Origin> origin_;     // null if it has not moved
  Session* session_;                   // valid while self_ is set
  ByteStream stream_;                  // the socket, with or without TLS
  int64_t opened_ms_;                  // when the socket was accepted, in Pace time
  SocketPoller::Interest wanted_;      // events that the connection waits for
  SocketPoller::Interest registered_;  // events that the poller reports
  bool receive_posted_ = false;        // Receive will run in the next turn
  bool is_departing_ = false;          // the peer has disconnected
  bool sends_much_ = true;             // the last read brought many bytes, or nothing was read yet
  std::shared_ptr<Connection> self_;   // set from Start to Close, because no other owner may exist
};

}  // namespace respite
