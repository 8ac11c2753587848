// A whole server is fed with whatever the fuzzer thinks of. It must survive, answer in well-formed RESP and keep its
// tables in order.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "protocol/reply_tree.h"
#include "server/pump.h"
#include "server/server.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

class Sink final : public Transport, public Host {
 public:
  Sink() {
    log_.SetLevel(LogLevel::kNothing);
    // What would reach outside of the process, or wait.
    for (const char* name : {"config", "shutdown", "debug", "module", "save", "bgsave", "bgrewriteaof"})
      server_.commands().Rename(name, "");
    server_.SetHost(this);
    session_ = &server_.clients().Create(0);
    session_->transport = this;
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
      server_.EndTurn();
      RunPosted();
      clock_.AdvanceMs(10);
    }
    server_.Cron();
    RunPosted();
  }
  void Check() {
    if (parser_.Failed()) std::abort();
    for (int i = 0; i < server_.keyspace().Count(); ++i) {
      const Database& data = server_.keyspace()[i];
      if (!data.Entries().CheckInvariants() || !data.Timed().CheckInvariants()) std::abort();
    }
  }

  void Flush() override {
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

 private:
  static std::unique_ptr<Config> SmallConfig() {
    CommandLine line;
    line.options = "proto-max-bulk-len 1048576\n";
    std::istringstream nothing;
    return std::move(Config::Load(line, nothing).value());
  }
  void RunPosted() {
    for (auto& task : std::exchange(posted_, {})) task();
  }

  ManualClock clock_;
  Logger log_{clock_};
  std::unique_ptr<Config> config_ = SmallConfig();
  Server server_{{*config_, clock_, log_, 1}};
  Pump pump_{server_};
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
  Sink sink;
  for (Bytes piece : input.pieces) sink.Feed(piece);
  sink.Check();
  return 0;
}
