// Sends any bytes to a whole server. It must survive, reply in well-formed RESP and keep its tables and values
// consistent. The first byte selects small encoding limits.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "protocol/reply_tree.h"
#include "server/execution/pump.h"
#include "server/node/node.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/sound_value.h"
#include "tests/support/faulty_files.h"
#include "tests/support/in_process_forker.h"

namespace respite {
namespace {

enum class Limits : uint8_t { kUsual, kTight };

class Sink final : public Transport, public Host {
 public:
  explicit Sink(Limits limits) : config_(SmallConfig(limits)) {
    log_.SetLevel(LogLevel::kNothing);
    // Disables commands that would affect more than the process, or block.
    for (const char* name : {"config", "shutdown", "debug", "migrate", "module", "save", "bgsave", "bgrewriteaof"})
      server_.commands().Rename(name, "");
    server_.debug().skip_payload_checksum = true;
    server_.host().Attach(this);
    clock_.PassWithEachLook(1);
    Reset();
  }

  // An empty server and a new client. Other state of former clients (the clock, the slow log) remains: a new server for
  // each input would take ten times as long.
  void Reset() {
    if (session_ != nullptr) server_.clients().Close(*session_);
    RunPosted();
    server_.pause().End();
    parser_ = ReplyTreeParser();
    session_ = &server_.clients().Create(clock_.MonotonicMs());
    session_->transport = this;
    Feed("FLUSHALL\r\n");
    for (int i = 0; i < server_.keyspace().Count(); ++i) {
      if (server_.keyspace()[i].Size() != 0) std::abort();
    }
  }

  void Feed(Bytes piece) {
    while (!piece.empty() && session_ != nullptr) {
      std::span<char> target = session_->in.ReadTarget(scratch_);
      size_t n = std::min(target.size(), piece.size());
      std::copy_n(piece.begin(), n, target.begin());
      piece.remove_prefix(n);
      session_->in.Received(n);
      while (session_ != nullptr && pump_.Run(*session_) == Pump::Outcome::kMore) {
      }
      server_.housekeeping().EndTurn();
      RunPosted();
      clock_.AdvanceMs(10);
    }
    server_.housekeeping().Tick();
    RunPosted();
  }
  void Check() {
    if (parser_.Failed()) std::abort();
    for (int i = 0; i < server_.keyspace().Count(); ++i) {
      const Database& data = server_.keyspace()[i];
      if (!data.Entries().CheckInvariants() || !data.Timed().CheckInvariants()) std::abort();
      data.ForEach([&](const Entry* entry) {
        if (!IsSound(*entry, server_.settings())) std::abort();
      });
    }
  }

  void Flush(size_t /*most_bytes*/) override {
    parser_.Feed(session_->out.Text());
    while (parser_.Next()) {
    }
    session_->out.Consume(session_->out.Size());
    if (session_->close_after_reply) server_.clients().Close(*session_);
  }
  void Resume() override {
    if (session_ != nullptr) pump_.Run(*session_);
  }
  void Close() override {
    Session* gone = std::exchange(session_, nullptr);
    Post([this, gone] { server_.clients().Remove(*gone); });
  }
  int FileDescriptor() const override { return -1; }
  void Stop(int) override {}
  void Post(std::function<void()> task) override { posted_.push_back(std::move(task)); }
  void WakeAt(int64_t /*monotonic_ms*/) override {}  // time does not pass here
  void TurnAt(int64_t /*pace_us*/) override {}
  // There are no other clients: a script that takes long ends as if the server stopped.
  bool ServeBesides() override { return false; }

 private:
  static std::unique_ptr<Config> SmallConfig(Limits limits) {
    CommandLine line;
    line.options = "proto-max-bulk-len 1048576\nbusy-reply-threshold 10\nsave \"\"\n";
    if (limits == Limits::kTight) {
      line.options +=
          "hash-max-listpack-entries 2\nhash-max-listpack-value 4\nset-max-intset-entries 3\n"
          "set-max-listpack-entries 2\nset-max-listpack-value 4\nzset-max-listpack-entries 2\n"
          "zset-max-listpack-value 4\nlist-max-listpack-size 2\n";
    }
    std::istringstream nothing;
    return std::move(Config::Load(line, nothing).value());
  }
  void RunPosted() {
    for (auto& task : std::exchange(posted_, {})) task();
  }

  ManualClock clock_;
  Logger log_{clock_};
  std::unique_ptr<Config> config_;
  FaultyFiles files_;
  InProcessForker forker_;
  Node server_{{*config_, clock_, clock_, log_, HashKey{1}, 1, files_, forker_}};
  Pump pump_{server_.pump_parts()};
  std::vector<char> scratch_ = std::vector<char>(64 * 1024);
  ReplyTreeParser parser_;
  std::vector<std::function<void()>> posted_;
  Session* session_ = nullptr;
};

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  CutInput input({reinterpret_cast<const char*>(data), size});
  static Sink usual(Limits::kUsual);
  static Sink tight(Limits::kTight);
  Sink& sink = size == 0 || data[0] % 2 == 0 ? usual : tight;
  for (Bytes piece : input.pieces) sink.Feed(piece);
  sink.Check();
  sink.Reset();
  return 0;
}
