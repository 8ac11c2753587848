// Whatever a primary may send to its replica, in pieces. The replica must survive, keep its tables and values
// consistent, and follow again. The first byte selects where the input begins: at the handshake, behind PSYNC, at a
// snapshot of a given size, at one that ends with a mark, or in the stream.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/execution/pump.h"
#include "server/net/link.h"
#include "server/node/node.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/sound_value.h"
#include "tests/support/faulty_files.h"
#include "tests/support/in_process_forker.h"

namespace respite {
namespace {

const std::string kHistory(40, 'a');
const std::string kMark(40, 'm');

// A network that consists of one primary.
class OnePrimary final : public Network {
 public:
  std::unique_ptr<Link> Dial(const Link::Target& /*target*/, Link::User& user) override {
    user_ = &user;
    reading_ = Link::Reading::kOn;
    return std::make_unique<OneLink>(*this);
  }
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenAt& /*place*/, Acceptor& /*acceptor*/) override {
    std::abort();
  }
  std::unique_ptr<Watch> WatchPipe(int /*descriptor*/, std::function<void()> /*handler*/) override { std::abort(); }

  bool IsDialed() const { return user_ != nullptr; }
  bool IsRead() const { return user_ != nullptr && reading_ == Link::Reading::kOn; }
  void Connect() { user_->OnConnected(); }
  void Send(Bytes bytes) { user_->OnReceived(bytes); }
  void HangUp() {
    if (Link::User* user = std::exchange(user_, nullptr)) user->OnEnded("the end of the input");
  }

 private:
  class OneLink final : public Link {
   public:
    explicit OneLink(OnePrimary& network) : network_(network) {}
    ~OneLink() override { network_.user_ = nullptr; }
    void SetUser(Link::User& user) override { network_.user_ = &user; }
    void Send(Bytes /*bytes*/) override {}
    void SetReading(Reading reading) override { network_.reading_ = reading; }
    std::string LocalAddress() const override { return "127.0.0.1:2"; }
    std::string PeerAddress() const override { return "127.0.0.1:1"; }
    int FileDescriptor() const override { return -1; }
    Stage stage() const override { return Stage::kOpen; }
    size_t UnsentBytes() const override { return 0; }

   private:
    OnePrimary& network_;
  };

  Link::User* user_ = nullptr;
  Link::Reading reading_ = Link::Reading::kOn;
};

class FuzzedReplica final : public Host {
 public:
  FuzzedReplica() {
    log_.SetLevel(LogLevel::kNothing);
    Run("SAVE\r\n");
    empty_snapshot_ = files_.Content("dump.rdb");
    // They would affect more than the process, or block.
    for (const char* name : {"config", "shutdown", "debug", "migrate", "module", "save", "bgsave", "bgrewriteaof"})
      server_.commands().Rename(name, "");
    server_.host().Attach(this);
    server_.network().Attach(&network_);
    clock_.PassWithEachLook(1);
  }

  enum class Beginning : uint8_t { kHandshake, kPsync, kSizedSnapshot, kMarkedSnapshot, kStream };
  static constexpr int kBeginnings = 5;

  void Follow(Beginning beginning, size_t octets) {
    server_.services().replication.Follow("127.0.0.1", 1);
    if (!network_.IsDialed()) std::abort();
    network_.Connect();
    EndTurn();
    if (beginning == Beginning::kHandshake) return;
    for (int i = 0; i < 4; ++i) Say("+OK\r\n");
    if (beginning == Beginning::kPsync) return;
    Say("+FULLRESYNC " + kHistory + " 100\r\n");
    if (beginning == Beginning::kSizedSnapshot) return Say("$" + std::to_string(octets) + "\r\n");
    if (beginning == Beginning::kMarkedSnapshot) return Say("$EOF:" + kMark + "\r\n");
    Say("$" + std::to_string(empty_snapshot_.size()) + "\r\n" + empty_snapshot_);
    if (!server_.services().replication.role().is_linked) std::abort();
  }
  void Say(Bytes piece) {
    if (network_.IsRead()) network_.Send(piece);
    EndTurn();
  }
  void SayMark() { Say(kMark); }

  // Time passes, and the server tries again.
  void End() {
    for (int i = 0; i < 3; ++i) Tick();
    network_.HangUp();
    EndTurn();
    for (int i = 0; i < 3; ++i) Tick();
    Check();
    server_.services().replication.Promote();
    EndTurn();
    server_.pause().End();
    Run("FLUSHALL\r\n");
    for (int i = 0; i < server_.keyspace().Count(); ++i)
      if (server_.keyspace()[i].Size() != 0) std::abort();
  }

  void Stop(int /*exit_code*/) override {}
  void Post(std::function<void()> task) override { posted_.push_back(std::move(task)); }
  void WakeAt(int64_t /*monotonic_ms*/) override {}
  void TurnAt(int64_t /*pace_us*/) override {}
  // Loading goes on; a script that takes long ends as if the server stopped.
  bool ServeBesides() override { return server_.phase().IsLoading(); }

 private:
  static std::unique_ptr<Config> SmallConfig() {
    CommandLine line;
    line.options = "proto-max-bulk-len 1048576\nbusy-reply-threshold 10\nsave \"\"\nrdbchecksum no\nrepl-timeout 5\n";
    std::istringstream nothing;
    return std::move(Config::Load(line, nothing).value());
  }
  void Tick() {
    clock_.AdvanceMs(1100);
    server_.housekeeping().Tick();
    EndTurn();
  }
  void EndTurn() {
    clock_.AdvanceMs(10);
    server_.housekeeping().EndTurn();
    for (int i = 0; i < 10 && !posted_.empty(); ++i) {
      for (auto& task : std::exchange(posted_, {})) task();
      server_.housekeeping().EndTurn();
    }
  }
  // As a client of its own.
  void Run(Bytes request) {
    Session& session = server_.clients().Create(clock_.MonotonicMs());
    std::vector<char> scratch(1024);
    const std::span<char> target = session.in.ReadTarget(scratch);
    std::copy(request.begin(), request.end(), target.begin());
    session.in.Received(request.size());
    pump_.Run(session);
    if (!session.out.Text().starts_with('+')) std::abort();
    server_.clients().Close(session);
    server_.clients().Remove(session);
    EndTurn();
  }
  void Check() {
    for (int i = 0; i < server_.keyspace().Count(); ++i) {
      const Database& data = server_.keyspace()[i];
      if (!data.Entries().CheckInvariants() || !data.Timed().CheckInvariants()) std::abort();
      data.ForEach([&](const Entry* entry) {
        if (!IsSound(*entry, server_.settings())) std::abort();
      });
    }
  }

  ManualClock clock_;
  Logger log_{clock_};
  std::unique_ptr<Config> config_ = SmallConfig();
  FaultyFiles files_;
  InProcessForker forker_;
  OnePrimary network_;
  Node server_{{*config_, clock_, clock_, log_, HashKey{1}, 1, files_, forker_}};
  Pump pump_{server_.pump_parts()};
  std::vector<std::function<void()>> posted_;
  std::string empty_snapshot_;
};

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  if (size == 0) return 0;
  static FuzzedReplica replica;
  const CutInput input({reinterpret_cast<const char*>(data) + 1, size - 1});
  const auto beginning = static_cast<FuzzedReplica::Beginning>(data[0] % FuzzedReplica::kBeginnings);
  replica.Follow(beginning, input.whole.size());
  for (Bytes piece : input.pieces) replica.Say(piece);
  if (beginning == FuzzedReplica::Beginning::kMarkedSnapshot) replica.SayMark();
  replica.End();
  return 0;
}
