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

class Connection final : public Transport,  // the socket of one client, and its session
                         public SocketPoller::Watcher,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(NodeHost& host, Session& session, ByteStream stream);
  ~Connection() override;

  void Start();  // begins to serve the client, after a TLS handshake if needed

  void Flush(size_t most_bytes) override;  // writes at most about `most_bytes` of the output; may close the client
  void Resume() override;                  // runs those of the client's waiting requests that may run now
  void Close() override;                   // stops serving the client; the socket is closed and the session freed soon
  int FileDescriptor() const override { return stream_.FileDescriptor(); }  // number of the socket
  bool IsWaitingToWrite() const override { return wanted_.writable; }  // true: output waits for space in the socket
  bool IsHandshakeLate() const override;                               // true: the TLS handshake has taken over 30 s

  struct MovingClient {  // what a client takes along to another server of this process (a TEST world)
    std::string reply;   // reply to the request that made the client move
    std::unique_ptr<PausedRequest> request;  // request to run first on the new server; null: none
    bool is_admitted;  // true: the client needs no login on the new server; false: it may need one
  };
  // Makes the connection a client of another server on the same loop, with a new session. The other server also handles
  // the requests that arrived after the current one. Requires: no command of this client runs, and the client's input
  // is resumed in the next turn.
  void MoveTo(NodeHost& other, MovingClient arrival);      // from now on `other` serves the client
  void MoveToRestarted(NodeHost& restarted, Bytes reply);  // after TEST CRASH: moves to the new server, sends `reply`
  // A client cannot move if, for example, it is a replica, or if TEST FAULT delays some of its output.
  static Connection* FindMovable(const Session& session);   // the session's connection; null: the client cannot move
  const NodeHost& host() const { return *host_; }           // the server that serves the client
  const Session& session() const { return *session_; }      // the client's state on that server
  std::weak_ptr<Connection> Self() const { return self_; }  // lets tasks see whether the connection still exists
  bool IsClosing() const { return session_->closing; }  // true: the client gets no more output, its input is ignored
  // Returns the server that accepted the connection, or after MoveToRestarted the server that replaced the old one. The
  // result may only be compared, because the server may have been destroyed.
  const NodeHost* AcceptingHost() const {  // the server that accepted the client; never dereference, may be destroyed
    return home_ == nullptr ? host_ : home_->host;
  }

  void OnReadable() override { OnReady({.readable = true}); }  // called when the socket has input
  void OnWritable() override { OnReady({.writable = true}); }  // called when the socket has space
  bool MayTakeLong() const override { return sends_much_; }    // true: OnReadable may take much of a turn

 private:
  void OnReady(SocketPoller::Events ready);      // reads, queues the output for the turn's end, or does the handshake
  void Want(SocketPoller::Events wanted);        // sets the events to wait for: input, or space for output
  void Register(SocketPoller::Events events);    // sets which events the poller reports; closes the client on failure
  void QueueHandshakeStep();                     // queues the connection for its next step of the handshake
  void ContinueHandshake();                      // does one step of the TLS handshake, which takes much CPU
  void StartServing();                           // begins to read requests, unless protected mode refuses the client
  void Receive();                                // reads input and runs the requests in it
  void ReceiveInNextTurn();                      // calls Receive in the next turn; other clients run first
  void ResumeInNextTurn();                       // calls RunPump in the next turn; other clients run first
  void HandleDisconnect(Transfer::State state);  // kEnded: closes the client after its replies; kFailed: closes it
  void UnsubscribeThenClose();                   // removes the subscriptions, perhaps over several turns, then closes
  void RunPump(size_t received);                 // runs the requests that may run now; `received`: bytes just read
  Session& BecomeClientOf(NodeHost& other);      // makes a session on `other` with the unread input, closes the old one
  // Gives a client that has returned to the server that accepted it (`home`) the user that it had when it left. Treats
  // the client as new if that user was deleted or turned off.
  void RestoreUserOnReturn(Session& session,  // gives a client that is back at `home` its former user
                           const NodeHost& home) const;
  bool WriteSome(size_t preferred_bytes);  // writes about this many bytes once; false: socket full, or client closed

  struct Home {            // the server that accepted the client, and the client's user there
    const NodeHost* host;  // the server that accepted the client; may be gone, so only compared
    std::string user;      // name of the client's user on *host when the client left it
  };

  NodeHost* host_;                          // the server that serves the client
  std::unique_ptr<Home> home_;              // null: has not left the accepting server, or that server was restarted
  Session* session_;                        // state of the client on *host_; valid while self_ is set
  ByteStream stream_;                       // the socket, with or without TLS
  int64_t opened_ms_;                       // when the socket was accepted (real time)
  uint64_t long_task_;                      // the long task of *host_ during which the client connected; 0: none
  SocketPoller::Events wanted_;             // events that the connection waits for
  SocketPoller::Events reported_events_;    // events that the poller was told to report
  bool receive_posted_ = false;             // true: Receive will be called in the next turn
  bool is_unsubscribing_to_close_ = false;  // true: UnsubscribeThenClose has begun; runs no requests, drops output
  bool sends_much_ = true;                  // true: the last read got at least 32 KB, or there was none yet
  std::shared_ptr<Connection> self_;        // keeps this object alive from Start to Close
};

}  // namespace respite
