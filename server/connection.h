// Connection: a socket and its Session. Reads when there is something to read, feeds the Pump, writes at the end of the
// Turn. It keeps itself alive until it is closed.
#pragma once

#include <memory>
#include <system_error>

#include "server/event_loop.h"
#include "server/session.h"

namespace respite {

class Connection final : public Transport, public std::enable_shared_from_this<Connection> {
 public:
  // Takes over a connected, non-blocking socket.
  Connection(EventLoop& loop, Session& session, int descriptor);
  ~Connection() override;

  void Start();

  void Flush() override;
  void Resume() override;
  void Close() override;
  int FileDescriptor() const override;
  bool AwaitsRoom() const override { return awaiting_room_; }

 private:
  struct Socket;

  void AwaitInput();
  void AwaitRoom();
  void Read();
  void EndOfInput(const std::error_code& error);
  void RunPump();
  // One write; false when the socket takes no more for now.
  bool WriteSome();

  EventLoop& loop_;
  Session& session_;
  std::unique_ptr<Socket> socket_;
  std::shared_ptr<Connection> self_;  // from Start to Close: whoever flushes may be the only one who knows us
  bool awaiting_input_ = false;
  bool awaiting_room_ = false;
};

}  // namespace respite
