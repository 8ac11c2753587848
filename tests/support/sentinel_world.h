// SentinelWorld: Sentinels and the servers that they watch, on fake time and a network in memory. The Sentinels run all
// code of server/sentinel/; the servers only imitate what a Sentinel sees. The seed decides everything.
//
//   SentinelWorld world({.seed = 1});          // three Sentinels, a primary, two replicas
//   world.Step(5000);
//   world.server(0).is_up = false;
//   EXPECT_TRUE(world.StepUntil([&] { return world.Agrees(); }, 60'000));
//
// A connection delivers in order and loses nothing while it lives. Faults: ports are separated (bytes sent meanwhile
// wait), frozen, or stopped; a Sentinel restarts from its file.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/late_bound.h"
#include "base/log.h"
#include "base/random.h"
#include "protocol/reply_tree.h"
#include "server/sentinel/sentinel.h"

namespace respite {

class SentinelWorld {
 public:
  struct Options {
    uint64_t seed = 1;
    int sentinels = 3;
    int servers = 3;
    int quorum = 2;
    int64_t down_after_ms = 1000;
    int64_t failover_timeout_ms = 10'000;
    std::string more_lines = {};
  };
  static constexpr int kFirstServer = 7000;
  static constexpr int kFirstSentinel = 8000;
  static constexpr char kName[] = "mymaster";

  // A server as Sentinels see it.
  struct Server {
    int port = 0;
    bool is_up = true;
    bool is_frozen = false;
    int follows = 0;                         // the port of its primary; 0: it is a primary
    std::string primary_host = "127.0.0.1";  // master_host in INFO
    std::string run_id;
    int priority = 100;
    uint64_t offset = 0;
    std::map<std::string, std::string> renamed = {};  // commands: the name it refuses, the name it accepts
    std::vector<std::string> heard = {};              // commands received, except PING, INFO and PUBLISH
    std::string more_info = {};                       // extra lines of its INFO
  };

  class Member final : private SentinelHost {
   public:
    Member(SentinelWorld& world, int index, std::string file);
    ~Member() override;

    Sentinel& operator*() { return *sentinel_; }
    Sentinel* operator->() { return sentinel_.get(); }
    bool Runs() const { return sentinel_ != nullptr; }
    void Stop();
    void Start();
    int port() const { return kFirstSentinel + index_; }
    Primary& primary() { return *sentinel_->state().Find(kName); }
    const std::string& file() const { return file_; }
    void SetFile(std::string text) { file_ = std::move(text); }
    // Events since the beginning: "+sdown master mymaster …".
    const std::vector<std::string>& events() const { return events_; }
    bool HasTold(Bytes beginning) const;

    bool is_frozen = false;
    bool has_crashed = false;
    bool fails_to_save = false;
    int saves = 0;
    int look_ups = 0;
    std::vector<std::vector<std::string>> programs;  // the programs that it has started
    std::deque<ProgramEnd> ended;                    // ends of programs that it has not been told yet
    std::vector<int64_t> killed;

   private:
    friend class SentinelWorld;
    class Net;

    void Publish(Bytes channel, Bytes message) override;
    std::optional<std::string> Save(const std::vector<SentinelLine>& lines) override;
    std::optional<std::string> LookUp(const std::string& name) override;
    int64_t WallMs() const override { return world_.NowMs(); }
    int Port() const override { return port(); }
    bool EncryptsLinks() const override { return false; }
    std::string SourceAddress() const override { return {}; }
    std::string Password() const override { return {}; }
    bool MayRun(const std::string&) const override { return true; }
    Result<int64_t, int> StartProgram(const std::vector<std::string>& words) override;
    std::optional<ProgramEnd> TakeEndedProgram() override;
    void KillProgram(int64_t process) override { killed.push_back(process); }
    void Crash() override { has_crashed = true; }

    void TickIfDue();

    SentinelWorld& world_;
    const int index_;
    Logger log_;
    LateBound<Network> network_;
    std::unique_ptr<Network> own_network_;
    std::unique_ptr<Sentinel> sentinel_;
    std::string file_;
    std::vector<std::string> events_;
    int starts_ = 0;
    int64_t next_tick_ms_ = 0;
  };

  explicit SentinelWorld(const Options& options);
  ~SentinelWorld();
  SentinelWorld(const SentinelWorld&) = delete;
  SentinelWorld& operator=(const SentinelWorld&) = delete;

  Member& operator[](int index) { return *members_[static_cast<size_t>(index)]; }
  int Count() const { return static_cast<int>(members_.size()); }
  Server& server(int index) { return servers_[static_cast<size_t>(index)]; }
  int Servers() const { return static_cast<int>(servers_.size()); }
  Random& random() { return random_; }
  ManualClock& clock() { return clock_; }
  // Addresses of names.
  std::map<std::string, std::string> names;

  // --- Time.

  int64_t NowMs() const { return clock_.NowMs(); }
  void Step(int64_t elapsed_ms);
  bool StepUntil(const std::function<bool()>& holds, int64_t limit_ms);

  // --- Faults. Places are ports.

  void SetApart(int one, int other) { apart_.insert(PairOf(one, other)); }
  void SetTogether(int one, int other) { apart_.erase(PairOf(one, other)); }
  void SetAllTogether() { apart_.clear(); }
  // Separates the ports of this island from all others.
  void Split(const std::set<int>& island);
  void StopServer(int index);
  void StartServer(int index);

  // --- What they believe.

  // Whether all running Sentinels name the same primary, that server is a primary, and all running servers follow it.
  bool Agrees() { return Disagreement().empty(); }
  std::string Disagreement();
  // Two addresses that Sentinels, at any time, knew with the same epoch; empty if there are none.
  const std::string& Contradiction() const { return contradiction_; }
  // Whether all Sentinels know each other and all replicas.
  bool AllKnowAll();

 private:
  struct Pipe;
  class SimLink;
  using Pair = std::pair<int, int>;
  using Words = std::vector<std::string>;

  static Pair PairOf(int one, int other) { return {std::min(one, other), std::max(one, other)}; }
  bool AreApart(int one, int other) const { return apart_.contains(PairOf(one, other)); }
  bool IsUp(int place);
  bool IsFrozen(int place);
  Server* ServerAt(int port);
  Member* MemberAt(int port);
  std::shared_ptr<Pipe> Connect(int from, const Link::Target& target, Link::User& user);
  void Send(Pipe& pipe, int end, Bytes bytes);
  void Move(const std::shared_ptr<Pipe>& pipe);
  void Connect(Pipe& pipe);
  void DeliverToListener(const std::shared_ptr<Pipe>& pipe, const std::string& bytes);
  void LoseAt(int place);
  // Replies of servers and Sentinels.
  void Answer(const std::shared_ptr<Pipe>& pipe, const Words& words);
  std::string AnswerOfServer(const std::shared_ptr<Pipe>& pipe, Server& server, const Words& words);
  static std::string AnswerOfSentinel(Member& member, const Words& words);
  void Obey(const std::shared_ptr<Pipe>& pipe, Server& server, const Words& words);
  std::string InfoOf(const Server& server);
  bool IsLinked(const Server& replica);
  void CopyData();
  void NoteBeliefs();

  const Options options_;
  ManualClock clock_;
  Random random_;
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::shared_ptr<Pipe>> pipes_;
  std::set<Pair> apart_;
  std::map<uint64_t, int> address_of_epoch_;
  std::string contradiction_;
};

}  // namespace respite
