// EventLoop: runs a Server on one Asio io_context. A Turn is: wait for events, handle those that are ready, end the
// Turn (journal, then replies).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/pump.h"
#include "server/server.h"
#include "server/socket_poller.h"
#include "server/work_line.h"

namespace asio {
class io_context;
}

namespace respite {

class EventLoop final : public Host {
 public:
  explicit EventLoop(Server& server);
  ~EventLoop() override;

  // Runs until Stop. Returns the exit code.
  int Run();
  void Stop(int exit_code) override;
  void Post(std::function<void()> task) override;
  void WakeAt(int64_t monotonic_ms) override;
  bool ServeBesides() override;

  // Calls `handler` once, in a Turn, when this descriptor (not ours to close) has something to read.
  void OnReadable(int descriptor, std::function<void()> handler);

  // Calls `handler` whenever the timer rings, also in the middle of a Turn (ServeBesides).
  void OnTick(std::function<void()> handler) { tick_ = std::move(handler); }

  asio::io_context& Context();
  Server& server() { return server_; }
  Pump& pump() { return *pump_; }
  SocketPoller& poller() { return poller_; }
  // Steps of TLS handshakes.
  WorkLine& handshakes() { return handshakes_; }
  // Sockets to be closed. Their sessions are gone already.
  WorkLine& closings() { return closings_; }
  // Where a connection reads when nothing of its input is pending. One for all: it is empty between two handlers.
  std::span<char> Scratch() { return scratch_; }

 private:
  struct Asio;

  void ServeLines();
  void ScheduleCron();
  void EndTurn();
  void StartTasks();

  Server& server_;
  std::unique_ptr<Pump> pump_;
  std::unique_ptr<Asio> asio_;
  SocketPoller poller_;
  WorkLine handshakes_;
  WorkLine closings_;
  std::vector<std::function<void()>> posted_;  // for the next Turn; may own connections, so it goes before asio_
  std::vector<char> scratch_;
  std::function<void()> tick_;
  // What ServeBesides has in place of these two; made with its first use.
  std::unique_ptr<Pump> other_pump_;
  std::vector<char> other_scratch_;
  bool running_ = false;
  bool stopped_ = false;
  bool missed_beat_ = false;  // the timer rang in the middle of a Turn
  int exit_code_ = 0;
};

}  // namespace respite
