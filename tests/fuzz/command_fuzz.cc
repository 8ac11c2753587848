// Sends any bytes to a whole server. It must survive, reply in well-formed RESP and keep its tables and values
// consistent. The first byte selects the limits of encodings and the version that the server speaks as.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "protocol/reply_tree.h"
#include "server/catalogue/dialect.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

class Sink final : public FuzzedServer, public Transport {
 public:
  explicit Sink(const std::string& directives) : FuzzedServer(directives) {
    DisableDangerousCommands();
    Reset();
  }

  // An empty server and a new client. Other state of former clients (the clock, the slow log) remains: a new server for
  // each input would take ten times as long.
  void Reset() {
    if (session_ != nullptr) server().clients().Close(*session_);
    EndTurn();
    server().pause().End();
    parser_ = ReplyTreeParser();
    session_ = &server().clients().Create(clock_.MonotonicMs());
    session_->transport = this;
    Feed("FLUSHALL\r\n");
    ExpectNoKeys();
  }

  void Feed(Bytes piece) {
    while (!piece.empty() && session_ != nullptr) {
      Receive(*session_, piece, scratch_);
      while (session_ != nullptr && pump_.Run(*session_) == Pump::Outcome::kMore) {
      }
      EndTurn();
    }
    Tick(0);
  }
  void CheckAll() {
    if (parser_.Failed()) std::abort();
    Check();
  }

  void Flush(size_t /*most_bytes*/) override {
    parser_.Feed(session_->out.Text());
    while (parser_.Next()) {
    }
    session_->out.Consume(session_->out.Size());
    if (session_->close_after_reply) server().clients().Close(*session_);
  }
  void Resume() override {
    if (session_ != nullptr) pump_.Run(*session_);
  }
  void Close() override {
    Session* gone = std::exchange(session_, nullptr);
    Post([this, gone] { server().clients().Remove(*gone); });
  }
  int FileDescriptor() const override { return -1; }
  // There are no other clients: a script that takes long ends as if the server stopped.
  bool ServeBesides() override { return false; }

 private:
  std::vector<char> scratch_ = std::vector<char>(64 * 1024);
  ReplyTreeParser parser_;
  Session* session_ = nullptr;
};

constexpr char kTightDirectives[] =
    "hash-max-listpack-entries 2\nhash-max-listpack-value 4\nset-max-intset-entries 3\nset-max-listpack-entries 2\n"
    "set-max-listpack-value 4\nzset-max-listpack-entries 2\nzset-max-listpack-value 4\nlist-max-listpack-size 2\n";

// One server for each choice of limits and version. Choices 0 and 1 emulate no version.
Sink& ServerFor(uint8_t choice) {
  static std::array<std::unique_ptr<Sink>, 2 * kEmulatedCount> servers;
  std::unique_ptr<Sink>& server = servers[choice % servers.size()];
  if (server == nullptr) {
    const auto version = static_cast<Emulated>(choice % servers.size() / 2);
    std::string directives = choice % 2 == 0 ? "" : kTightDirectives;
    if (version != Emulated::kNone) directives += "emulate " + std::string(DialectOf(version).name) + "\n";
    server = std::make_unique<Sink>(directives);
  }
  return *server;
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  const CutInput input({reinterpret_cast<const char*>(data), size});
  Sink& sink = ServerFor(size == 0 ? 0 : data[0]);
  for (Bytes piece : input.pieces) sink.Feed(piece);
  sink.CheckAll();
  sink.Reset();
  return 0;
}
