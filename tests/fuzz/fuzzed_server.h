// FuzzedServer: a whole server inside a fuzz target, without sockets. Its clock is not the real one: each reading
// advances it a little.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "server/config/config.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/execution/pump.h"
#include "server/execution/services.h"
#include "server/node/node.h"
#include "tests/fuzz/sound_value.h"
#include "tests/support/faulty_files.h"
#include "tests/support/in_process_forker.h"

namespace respite {

class FuzzedServer : public Host {
 public:
  // `directives` are lines of redis.conf.
  explicit FuzzedServer(const std::string& directives) : config_(ConfigOf(directives)) {
    log_.SetLevel(LogLevel::kNothing);
    server_.services().env.debug.skip_payload_checksum = true;
    server_.runtime().host.Attach(this);
    clock_.AdvanceWithEachReading(1);
  }

  Node& server() { return server_; }

  // Removes commands that would affect more than the process, or that block it.
  void DisableDangerousCommands() {
    for (const char* name : {"config", "shutdown", "debug", "migrate", "module", "save", "bgsave", "bgrewriteaof"})
      server_.services().env.commands.Rename(name, "");
  }

  // Ends a turn of the event loop, and runs the tasks that were posted in it.
  void EndTurn() {
    clock_.AdvanceMs(10);
    server_.housekeeping().EndTurn();
    for (int i = 0; i < 10 && !posted_.empty(); ++i) {
      for (auto& task : std::exchange(posted_, {})) task();
      server_.housekeeping().EndTurn();
    }
  }
  // Lets `elapsed_ms` pass, and runs the timers.
  void Tick(int64_t elapsed_ms) {
    clock_.AdvanceMs(elapsed_ms);
    server_.housekeeping().Tick();
    EndTurn();
  }

  // Feeds `bytes` to the session as if its socket had received them.
  static void Receive(Session& session, Bytes& bytes, std::vector<char>& scratch) {
    const std::span<char> target = session.in.ReadTarget(scratch);
    const size_t count = std::min(target.size(), bytes.size());
    std::copy_n(bytes.begin(), count, target.begin());
    bytes.remove_prefix(count);
    session.in.Received(count);
  }
  // Runs one request as a separate client. Aborts if the reply is no simple string.
  void Run(Bytes request) {
    Session& session = server_.services().clients.registry.Create(clock_.MonotonicMs());
    std::vector<char> scratch(64 * 1024);
    while (!request.empty()) Receive(session, request, scratch);
    pump_.Run(session);
    if (!session.out.Text().starts_with('+')) std::abort();
    server_.services().clients.registry.Close(session);
    server_.services().clients.registry.Remove(session);
    EndTurn();
  }

  // Aborts if a table or a value is inconsistent. Cost: O(data).
  void Check() {
    for (int i = 0; i < server_.services().data.dataset.keyspace.Count(); ++i) {
      const Database& data = server_.services().data.dataset.keyspace[i];
      if (!data.Entries().IsConsistent() || !data.EntriesWithDeadline().IsConsistent()) std::abort();
      data.ForEach([&](const Entry* entry) {
        if (!IsSound(*entry, server_.services().env.settings)) std::abort();
      });
    }
  }
  // Also waits for the thread that frees former keys, because a leak detector cannot see the memory that this thread
  // holds.
  void ExpectNoKeys() {
    while (server_.services().data.lazy_free_thread.PendingBytes() != 0) std::this_thread::yield();
    for (int i = 0; i < server_.services().data.dataset.keyspace.Count(); ++i) {
      if (server_.services().data.dataset.keyspace[i].Size() != 0) std::abort();
    }
  }

  // Host
  void Stop(int /*exit_code*/) override {}
  void Post(std::function<void()> task) override { posted_.push_back(std::move(task)); }
  void WakeAt(int64_t /*monotonic_ms*/) override {}
  void StartTurnAt(int64_t /*real_us*/) override {}
  // Lets loading continue, and ends a long script.
  bool ServeDuringLongTask() override { return server_.services().env.phase.IsLoading(); }

 protected:
  ManualClock clock_;
  FaultyFiles files_;

 private:
  static std::unique_ptr<Config> ConfigOf(const std::string& directives) {
    CommandLine line;
    line.options = "proto-max-bulk-len 1048576\nbusy-reply-threshold 10\nsave \"\"\n" + directives;
    std::istringstream nothing;
    return std::move(Config::Load(line, nothing).value());
  }

  Logger log_{clock_};
  std::unique_ptr<Config> config_;
  InProcessForker forker_;
  Node server_{{*config_, clock_, clock_, log_, HashKey{1}, 1, files_, forker_}};

 protected:
  Pump pump_{server_.services()};

 private:
  std::vector<std::function<void()>> posted_;
};

// The only client of a FuzzedServer.
class FuzzedClient : public FuzzedServer, public Transport {
 public:
  using FuzzedServer::FuzzedServer;

  void Connect() {
    session_ = &server().services().clients.registry.Create(clock_.MonotonicMs());
    session_->transport = this;
  }
  // Sends `piece`, and runs the resulting requests. Does nothing after the server has closed the connection.
  void Feed(Bytes piece) {
    while (!piece.empty() && session_ != nullptr) {
      Receive(*session_, piece, scratch_);
      while (session_ != nullptr && pump_.Run(*session_) == Pump::Outcome::kMore) {
      }
      EndTurn();
    }
    Tick(0);
  }
  void Disconnect() {
    if (session_ != nullptr) server().services().clients.registry.Close(*session_);
    EndTurn();
  }

  // Transport
  void Flush(size_t /*most_bytes*/) override {
    OnOutput(session_->out.Text());
    session_->out.Consume(session_->out.Size());
    if (session_->close_after_reply) server().services().clients.registry.Close(*session_);
  }
  void Resume() override {
    if (session_ != nullptr) pump_.Run(*session_);
  }
  void Close() override {
    Session* gone = std::exchange(session_, nullptr);
    Post([this, gone] { server().services().clients.registry.Remove(*gone); });
  }
  int FileDescriptor() const override { return -1; }

 private:
  // Called with each output of the server.
  virtual void OnOutput(const std::string& /*output*/) {}

  std::vector<char> scratch_ = std::vector<char>(64 * 1024);
  Session* session_ = nullptr;
};

}  // namespace respite
