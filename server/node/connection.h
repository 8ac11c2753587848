// Connection: the socket of a client, and its Session. A Connection reads when input arrives, passes the input to the
// Pump, and writes the replies at the end of the turn of the event loop. A Connection owns itself until it is closed.
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

  void Start();  // begins the TLS handshake; without TLS begins to serve the client

  void Flush(size_t most_bytes) override;  // writes up to `most_bytes` of the pending replies to the socket
  void Resume() override;                  // runs the waiting requests of the client in the next turn
  void Close() override;                   // closes the socket; the session ends in a later turn
  int FileDescriptor() const override { return stream_.FileDescriptor(); }  // the client's socket
  bool IsWaitingToWrite() const override { return wanted_.write; }          // some output waits for space in the socket
  bool IsHandshakeLate() const override;                                    // the TLS handshake has taken too long

  // MoveTo makes the connection a client of another server on the same loop, with a new session. The other server also
  // handles the requests that arrived after the current one. Requires: no command of this client runs, and the next
  // turn resumes the client.
  struct MovingClient {                      // what a moving client takes along to its new server
    std::string reply;                       // reply to the request that caused the move
    std::unique_ptr<PausedRequest> request;  // a request that runs first on the other server; null: none
    bool is_admitted;                        // true: the client needs no login on the other server
  };
  void MoveTo(NodeHost& other, MovingClient arrival);      // makes `other` serve the client
  void MoveToRestarted(NodeHost& restarted, Bytes reply);  // moves the client to the server that replaced its old one
  // A client cannot move if, for example, it is a replica, or if TEST FAULT delays some of its output.
  static Connection* FindMovable(const Session& session);   // the client's connection; null: the client cannot move
  const NodeHost& host() const { return *host_; }           // the server that serves the client now
  const Session& session() const { return *session_; }      // state of the client on its present server
  std::weak_ptr<Connection> Self() const { return self_; }  // expires when the connection closes, or soon after
  bool IsClosing() const { return session_->closing; }      // true: closed; no further input or output
  // Returns the server that accepted the connection. It may have been destroyed, so the pointer may only be compared.
  const NodeHost* AcceptingHost() const { return origin_ == nullptr ? host_ : origin_->host; }  // may dangle

  void OnReadable() override { OnReady({.read = true}); }    // called by the poller: the socket can be read
  void OnWritable() override { OnReady({.write = true}); }   // called by the poller: the socket can be written
  bool MayTakeLong() const override { return sends_much_; }  // reading may take much of a turn

 private:
  void OnReady(SocketPoller::Interest ready);      // the socket can be read or written
  void Want(SocketPoller::Interest wanted);        // waits for these events: input, or space for output
  void Register(SocketPoller::Interest interest);  // tells the poller which events to report
  void JoinHandshakes();                           // queues the connection for ContinueHandshake
  void ContinueHandshake();                        // does one step of the TLS handshake, which takes much CPU
  void StartServing();                             // starts to serve the client, unless protected mode refuses it
  void Receive();                                  // reads input and runs the requests in it
  void ReceiveInNextTurn();                        // posts Receive, so that other clients are served first
  void ResumeInNextTurn();                         // posts RunPump, so that other clients are served first
  void HandleDisconnect(Transfer::State state);    // the peer has disconnected (kEnded), or reading failed (kFailed)
  void CloseGradually();  // closes the client after the peer has disconnected; may take several turns
  void RunPump();         // runs the requests that have arrived and that the client may run now
  Session& BecomeClientOf(NodeHost& other);  // creates a session on `other`, and closes the old one
  // Called when a client has returned to the server that accepted it. Gives the client the user that it had when it
  // left. If that user was deleted or turned off, treats the client as new.
  void RestoreUserOnReturn(Session& session, const NodeHost& origin) const;  // gives it the user as when it left
  bool WriteSome(size_t most_bytes);  // writes once; false: the socket takes no more for now, or has failed

  // `user` is the user of the client on the accepting server when the client left that server.
  struct Origin {          // where a connection that has moved came from
    const NodeHost* host;  // the server that accepted the connection; only compared
    std::string user;      // the user of the client there
  };

  NodeHost* host_;                          // the server that serves the client
  std::unique_ptr<Origin> origin_;          // null: the connection has not moved
  Session* session_;                        // valid while self_ is set
  ByteStream stream_;                       // the socket, with or without TLS
  int64_t opened_ms_;                       // when the socket was accepted, in real elapsed milliseconds
  SocketPoller::Interest wanted_;           // events that the connection waits for
  SocketPoller::Interest reported_events_;  // events that the poller reports now
  bool receive_posted_ = false;             // a call of Receive is posted for the next turn
  bool peer_has_disconnected_ = false;      // the peer has disconnected
  bool sends_much_ = true;                  // the last read brought many bytes, or nothing was read yet
  std::shared_ptr<Connection> self_;        // set from Start to Close, because no other owner may exist
};

}  // namespace respite
