// Connection: a socket and its Session. Reads when there is something to read, feeds the Pump, writes at the end of the
// Turn. It keeps itself alive until it is closed.
#pragma once

#include <memory>

#include "server/event_loop.h"
#include "server/session.h"
#include "server/socket_address.h"
#include "server/socket_poller.h"

namespace respite {

class Connection final : public Transport,
                         public SocketPoller::Watcher,
                         public std::enable_shared_from_this<Connection> {
 public:
  // Takes over a connected, non-blocking socket.
  Connection(EventLoop& loop, Session& session, int descriptor);
  ~Connection() override;

  void Start();

  void Flush() override;
  void Resume() override;
  void Close() override;
  int FileDescriptor() const override;
  bool AwaitsRoom() const override { return interest_.write; }

  void OnReadable() override;
  void OnWritable() override;

 private:
  void Want(SocketPoller::Interest interest);
  // `error` is an errno; 0: the peer sends no more.
  void EndOfInput(int error);
  void RunPump();
  // One write; false when the socket takes no more for now.
  bool WriteSome();

  EventLoop& loop_;
  Session& session_;
  Descriptor socket_;
  SocketPoller::Interest interest_;
  std::shared_ptr<Connection> self_;  // from Start to Close: whoever flushes may be the only one who knows us
};

}  // namespace respite
