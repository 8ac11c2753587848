// Sends any bytes to a whole server. It must survive, reply in well-formed RESP and keep its tables and values
// consistent. The first byte selects the limits of encodings and the emulated version.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "protocol/reply_tree.h"
#include "server/catalogue/dialect.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

class Sink final : public FuzzedClient {
 public:
  explicit Sink(const std::string& directives) : FuzzedClient(directives) {
    DisableDangerousCommands();
    Reset();
  }

  // Empties the server and creates a new client. Other state of former clients (the clock, the slow log) remains,
  // because a new server for each input would take ten times as long.
  void Reset() {
    Disconnect();
    server().services().clients.pause.End();
    parser_ = ReplyTreeParser();
    Connect();
    Feed("FLUSHALL\r\n");
    ExpectNoKeys();
  }
  void CheckAll() {
    if (parser_.Failed()) std::abort();
    Check();
  }

  // There are no other clients: a long script ends as if the server stopped.
  bool ServeDuringLongTask() override { return false; }

 private:
  void OnOutput(const std::string& output) override {
    parser_.Feed(output);
    while (parser_.Next()) {
    }
  }

  ReplyTreeParser parser_;
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
