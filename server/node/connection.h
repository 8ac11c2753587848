// Connection: a socket and its Session. Reads when there is something to read, feeds the Pump, writes at the end of the
// Turn. It keeps itself alive until it is closed.
#pragma once

#include <memory>
#include <string>

#include "server/clients/paused_request.h"
#include "server/clients/session.h"
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

  // From now on it is a client of another server on the same loop, a new one to it. Requests that have arrived behind
  // the running one are served there. Requires: no command of this client runs, and the next Turn resumes it.
  struct Arrival {
    std::string reply;                       // to the request that led there
    std::unique_ptr<PausedRequest> request;  // runs there first; null: none
    bool is_admitted;                        // needs no login there
  };
  void MoveTo(NodeHost& other, Arrival arrival);
  // The same for the server that has taken the place of its own, to which it is a stranger.
  void Rejoin(NodeHost& restarted, Bytes reply);
  // The connection of this client. Null: it has none that could move to another server, because it is a replica, say,
  // or because TEST FAULT holds back what it has to hear first.
  static Connection* Movable(const Session& session);
  // Whose client it is.
  const NodeHost& host() const { return *host_; }
  const Session& session() const { return *session_; }
  // Expires when it closes, or soon after that.
  std::weak_ptr<Connection> Self() const { return self_; }
  bool IsClosing() const { return session_->closing; }
  // Whose client it was at first; only to be compared, since that server may be gone.
  const NodeHost* FirstHost() const { return origin_ == nullptr ? host_ : origin_->host; }

  void OnReadable() override { OnReady({.read = true}); }
  void OnWritable() override { OnReady({.write = true}); }
  bool TakesLong() const override { return sends_much_; }

 private:
  void OnReady(SocketPoller::Interest ready);
  // Sets what to wait for: input, and room for output that did not fit.
  void Want(SocketPoller::Interest wanted);
  void Register(SocketPoller::Interest interest);
  void JoinHandshakes();
  void ContinueHandshake();
  // Serves the peer from now on, unless protected mode refuses it.
  void Admit();
  void Receive();
  void ReceiveInNextTurn();
  void ResumeInNextTurn();
  // kEnded or kFailed.
  void EndOfInput(Transfer::State state);
  // The peer is gone.
  void Depart();
  void RunPump();
  // Makes it a client of another server, without a login. Its session of before is closed.
  Session& BecomeClientOf(NodeHost& other);
  // It is the user there that it was when it left, or as one that has just connected if that user is gone.
  void ComeBack(Session& session, const NodeHost& origin) const;
  // One write; false when the socket takes no more for now.
  bool WriteSome(size_t most_bytes);

  // Where a connection that has moved was accepted, and who it was when it left.
  struct Origin {
    const NodeHost* host;
    std::string user;
  };

  NodeHost* host_;
  std::unique_ptr<Origin> origin_;  // null: it has not moved
  Session* session_;                // valid while self_ is set
  ByteStream stream_;
  int64_t opened_ms_;  // of the Pace
  SocketPoller::Interest wanted_;
  SocketPoller::Interest registered_;
  bool receive_posted_ = false;
  bool is_departing_ = false;
  bool sends_much_ = true;            // the last read brought much, or nothing was read yet
  std::shared_ptr<Connection> self_;  // set from Start to Close, since nobody else may own the connection
};

}  // namespace respite
