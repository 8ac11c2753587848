// Sends anything that a primary may send to its replica, in pieces. The replica must survive, keep its tables and
// values consistent, and follow again. The first byte selects where the input begins (at the handshake, after PSYNC, at
// a snapshot of a given size, at a snapshot that ends with a mark, or in the stream), and whether the replica is in a
// cluster.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/str_cat.h"
#include "server/cluster/cluster_mode.h"
#include "server/net/link.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

const std::string kHistory(40, 'a');
const std::string kMark(40, 'm');

// A network that consists of one primary.
class OnePrimary final : public Network {
 public:
  std::unique_ptr<Link> Connect(const Link::Target& /*target*/, Link::User& user) override {
    user_ = &user;
    reading_ = Link::Reading::kOn;
    return std::make_unique<OneLink>(*this);
  }
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions& /*place*/,
                                                         Acceptor& /*acceptor*/) override {
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

class FuzzedReplica final : public FuzzedServer {
 public:
  explicit FuzzedReplica(const std::string& directives)
      : FuzzedServer("rdbchecksum no\nrepl-timeout 5\n" + directives) {
    Run("SAVE\r\n");
    empty_snapshot_ = files_.Content("dump.rdb");
    DisableDangerousCommands();
    server().runtime().network.Attach(&network_);
    if (!server().services().env.settings.cluster_enabled) return;
    ClusterMode& cluster = server().services().cluster;
    if (!cluster.ReadNodesFile().ok() || cluster.OpenWith(kNodes, ClusterMode::NodesFileTrust::kOwn)) std::abort();
  }

  enum class Beginning : uint8_t { kHandshake, kPsync, kSizedSnapshot, kMarkedSnapshot, kStream };
  static constexpr int kBeginnings = 5;

  void Follow(Beginning beginning, size_t bytes) {
    server().services().replication.Follow("127.0.0.1", 1, std::nullopt);
    if (!network_.IsDialed()) std::abort();
    network_.Connect();
    EndTurn();
    if (beginning == Beginning::kHandshake) return;
    for (int i = 0; i < 4; ++i) Say("+OK\r\n");
    if (beginning == Beginning::kPsync) return;
    Say("+FULLRESYNC " + kHistory + " 100\r\n");
    if (beginning == Beginning::kSizedSnapshot) return Say(StrCat("$", bytes, "\r\n"));
    if (beginning == Beginning::kMarkedSnapshot) return Say("$EOF:" + kMark + "\r\n");
    Say(StrCat("$", empty_snapshot_.size(), "\r\n", empty_snapshot_));
    if (!server().services().replication.role().is_linked) std::abort();
  }
  void Say(Bytes piece) {
    if (network_.IsRead()) network_.Send(piece);
    EndTurn();
  }
  void SayMark() { Say(kMark); }

  // Lets time pass until the server retries.
  void End() {
    for (int i = 0; i < 3; ++i) Tick(1100);
    network_.HangUp();
    EndTurn();
    for (int i = 0; i < 3; ++i) Tick(1100);
    Check();
    server().services().replication.Promote();
    EndTurn();
    server().services().clients.pause.End();
    Run("FLUSHALL\r\n");
    // This server, now a primary, deletes or reveals the keys of hidden slots.
    for (int i = 0; i < 20 && !server().services().data.dataset.keyspace.hidden().IsEmpty(); ++i) Tick(1100);
    ExpectNoKeys();
  }

 private:
  // In cluster mode this server is a replica of a node that has all slots.
  static constexpr char kNodes[] =
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 127.0.0.1:2@10002 myself,slave "
      "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
      "0 0 1 connected\n"
      "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 127.0.0.1:1@10001 master - 0 0 1 connected 0-16383\n"
      "vars currentEpoch 1 lastVoteEpoch 0\n";

  OnePrimary network_;
  std::string empty_snapshot_;
};

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  if (size == 0) return 0;
  static FuzzedReplica alone("");
  static FuzzedReplica in_cluster("cluster-enabled yes\n");
  FuzzedReplica& replica = data[0] / FuzzedReplica::kBeginnings % 2 == 0 ? alone : in_cluster;
  const CutInput input({reinterpret_cast<const char*>(data) + 1, size - 1});
  const auto beginning = static_cast<FuzzedReplica::Beginning>(data[0] % FuzzedReplica::kBeginnings);
  replica.Follow(beginning, input.whole.size());
  for (Bytes piece : input.pieces) replica.Say(piece);
  if (beginning == FuzzedReplica::Beginning::kMarkedSnapshot) replica.SayMark();
  replica.End();
  return 0;
}
