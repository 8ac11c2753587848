#include "tests/support/sentinel_world.h"

#include <algorithm>
#include <stdexcept>

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr int64_t kStepMs = 5;
constexpr int64_t kMaxDelayMs = 10;
constexpr size_t kRunIdLength = 40;

std::string BulkText(const std::string& text) { return StrCat("$", text.size(), "\r\n", text, "\r\n"); }

std::vector<ConfigLine> LinesIn(const std::string& text) {
  std::vector<ConfigLine> lines;
  int number = 0;
  for (const Bytes line : SplitOn(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    lines.push_back({number, std::string(line), SplitQuoted(line).value()});
  }
  return lines;
}

}  // namespace

// A connection. The dialer is a Sentinel; the listener is a server or a Sentinel.
struct SentinelWorld::Pipe {
  struct Lane {
    std::deque<std::pair<int64_t, std::string>> bytes;  // with the time when they arrive
  };
  int places[2] = {0, 0};
  Link::User* user = nullptr;  // null: the dialer has closed it
  int64_t connects_at_ms = 0;
  bool is_open = false;
  bool is_lost = false;  // the listener has closed; the dialer will be told
  Lane lanes[2];         // to the dialer, to the listener
  ReplyTreeParser requests;
  bool is_subscribed = false;
  bool is_in_transaction = false;
  std::vector<Words> queued;
};

class SentinelWorld::SimLink final : public Link {
 public:
  SimLink(SentinelWorld& world, std::shared_ptr<Pipe> pipe) : world_(world), pipe_(std::move(pipe)) {}
  ~SimLink() override { pipe_->user = nullptr; }
  SimLink(const SimLink&) = delete;
  SimLink& operator=(const SimLink&) = delete;

  void SetUser(User& user) override { pipe_->user = &user; }
  void Send(Bytes bytes) override { world_.Send(*pipe_, 1, bytes); }
  void SetReading(Reading) override {}
  size_t UnsentBytes() const override { return 0; }
  std::string LocalAddress() const override { return "127.0.0.1:1"; }
  std::string PeerAddress() const override { return StrCat("127.0.0.1:", pipe_->places[1]); }
  int FileDescriptor() const override { return -1; }
  Stage stage() const override { return pipe_->is_open ? Stage::kOpen : Stage::kConnecting; }

 private:
  SentinelWorld& world_;
  const std::shared_ptr<Pipe> pipe_;
};

class SentinelWorld::Member::Net final : public Network {
 public:
  explicit Net(Member& member) : member_(member) {}
  std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) override {
    SentinelWorld& world = member_.world_;
    return std::make_unique<SimLink>(world, world.Connect(member_.port(), target, user));
  }
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions&, Acceptor&) override {
    return Failure("nobody listens here");
  }
  std::unique_ptr<Watch> WatchPipe(int, std::function<void()>) override { return nullptr; }

 private:
  Member& member_;
};

// --- Sentinels.

SentinelWorld::Member::Member(SentinelWorld& world, int index, std::string file)
    : world_(world),
      index_(index),
      log_(world.clock_),
      own_network_(std::make_unique<Net>(*this)),
      file_(std::move(file)) {
  log_.SetLevel(LogLevel::kNothing);
  network_.Attach(own_network_.get());
  Start();
}

SentinelWorld::Member::~Member() { Stop(); }

void SentinelWorld::Member::Start() {
  if (Runs()) return;
  const uint64_t seed =
      world_.options_.seed * 1'000'003 + static_cast<uint64_t>(index_) * 101 + static_cast<uint64_t>(++starts_);
  sentinel_ = std::make_unique<Sentinel>(Sentinel::Parts{
      .real_clock = world_.clock_, .log = log_, .random_seed = seed, .network = network_, .host = *this});
  if (const auto objection = sentinel_->Read(LinesIn(file_))) throw std::runtime_error(objection->reason);
  sentinel_->Start();
  next_tick_ms_ = world_.NowMs() + sentinel_->RandomTickMs();
}

void SentinelWorld::Member::Stop() {
  if (!Runs()) return;
  sentinel_.reset();
  world_.LoseAt(port());
}

bool SentinelWorld::Member::HasTold(Bytes beginning) const {
  return std::ranges::any_of(events_, [&](const std::string& event) { return event.starts_with(beginning); });
}

void SentinelWorld::Member::Publish(Bytes channel, Bytes message) {
  events_.push_back(std::string(channel) + " " + std::string(message));
}

std::optional<std::string> SentinelWorld::Member::Save(const std::vector<SentinelLine>& lines) {
  if (fails_to_save) return "No space left on device";
  ++saves;
  file_.clear();
  for (const SentinelLine& line : lines) file_ += line.line.text + "\n";
  return std::nullopt;
}

std::optional<std::string> SentinelWorld::Member::LookUp(const std::string& name) {
  ++look_ups;
  const auto found = world_.names.find(name);
  if (found == world_.names.end()) return std::nullopt;
  return found->second;
}

Result<int64_t, int> SentinelWorld::Member::StartProgram(const std::vector<std::string>& words) {
  programs.push_back(words);
  return static_cast<int64_t>(programs.size());
}

std::optional<ProgramEnd> SentinelWorld::Member::TakeEndedProgram() {
  if (ended.empty()) return std::nullopt;
  const ProgramEnd end = ended.front();
  ended.pop_front();
  return end;
}

void SentinelWorld::Member::TickIfDue() {
  if (!Runs() || is_frozen || world_.NowMs() < next_tick_ms_) return;
  next_tick_ms_ = world_.NowMs() + sentinel_->RandomTickMs();
  sentinel_->Tick();
}

// --- The world.

SentinelWorld::SentinelWorld(const Options& options) : options_(options), random_(options.seed) {
  for (int i = 0; i < options.servers; ++i) {
    std::string id = StrCat(i, "f");
    id.resize(kRunIdLength, '0');
    servers_.push_back({.port = kFirstServer + i, .follows = i == 0 ? 0 : kFirstServer, .run_id = id});
  }
  const std::string name = kName;
  for (int i = 0; i < options.sentinels; ++i) {
    std::string id = StrCat("5e", i);
    id.resize(kRunIdLength, '0');
    const std::string file =
        StrCat("sentinel myid ", id, "\nsentinel monitor ", name, " 127.0.0.1 ", kFirstServer, " ", options.quorum,
               "\nsentinel down-after-milliseconds ", name, " ", options.down_after_ms, "\nsentinel failover-timeout ",
               name, " ", options.failover_timeout_ms, "\n", options.more_lines);
    members_.push_back(std::make_unique<Member>(*this, i, file));
  }
}

SentinelWorld::~SentinelWorld() {
  for (const auto& member : members_) member->Stop();
}

void SentinelWorld::Step(int64_t elapsed_ms) {
  const int64_t until_ms = NowMs() + elapsed_ms;
  while (NowMs() < until_ms) {
    clock_.AdvanceMs(kStepMs);
    for (const auto& member : members_) member->TickIfDue();
    const auto pipes = pipes_;  // more may come
    for (const auto& pipe : pipes) Move(pipe);
    std::erase_if(pipes_, [](const auto& pipe) { return pipe->user == nullptr; });
    CopyData();
    NoteBeliefs();
  }
}

bool SentinelWorld::StepUntil(const std::function<bool()>& holds, int64_t limit_ms) {
  const int64_t until_ms = NowMs() + limit_ms;
  while (!holds()) {
    if (NowMs() >= until_ms) return false;
    Step(100);
  }
  return true;
}

SentinelWorld::Server* SentinelWorld::ServerAt(int port) {
  const int index = port - kFirstServer;
  return index >= 0 && index < Servers() ? &server(index) : nullptr;
}

SentinelWorld::Member* SentinelWorld::MemberAt(int port) {
  const int index = port - kFirstSentinel;
  return index >= 0 && index < Count() ? &(*this)[index] : nullptr;
}

bool SentinelWorld::IsUp(int place) {
  if (const Server* server = ServerAt(place)) return server->is_up;
  const Member* member = MemberAt(place);
  return member != nullptr && member->Runs();
}

bool SentinelWorld::IsFrozen(int place) {
  if (const Server* server = ServerAt(place)) return server->is_frozen;
  const Member* member = MemberAt(place);
  return member != nullptr && member->is_frozen;
}

// --- Connections.

std::shared_ptr<SentinelWorld::Pipe> SentinelWorld::Connect(int from, const Link::Target& target, Link::User& user) {
  auto pipe = std::make_shared<Pipe>();
  pipe->places[0] = from;
  pipe->places[1] = target.port;
  pipe->user = &user;
  pipe->connects_at_ms = NowMs() + 1 + static_cast<int64_t>(random_.Below(kMaxDelayMs));
  pipes_.push_back(pipe);
  return pipe;
}

// `end` 0: to the dialer.
void SentinelWorld::Send(Pipe& pipe, int end, Bytes bytes) {
  auto& lane = pipe.lanes[end].bytes;
  int64_t due_ms = NowMs() + 1 + static_cast<int64_t>(random_.Below(kMaxDelayMs));
  if (!lane.empty()) due_ms = std::max(due_ms, lane.back().first);
  lane.emplace_back(due_ms, std::string(bytes));
}

void SentinelWorld::Connect(Pipe& pipe) {
  if (NowMs() < pipe.connects_at_ms) return;
  if (!IsUp(pipe.places[1])) return pipe.user->OnEnded("Connection refused");
  pipe.is_open = true;
  pipe.user->OnConnected();
}

void SentinelWorld::Move(const std::shared_ptr<Pipe>& pipe) {
  if (pipe->user == nullptr || AreApart(pipe->places[0], pipe->places[1])) return;
  if (!pipe->is_open && !pipe->is_lost) {
    if (!IsFrozen(pipe->places[0])) Connect(*pipe);
    return;
  }
  auto& to_listener = pipe->lanes[1].bytes;
  while (!to_listener.empty() && to_listener.front().first <= NowMs() && !IsFrozen(pipe->places[1]) && !pipe->is_lost) {
    const std::string bytes = std::move(to_listener.front().second);
    to_listener.pop_front();
    DeliverToListener(pipe, bytes);
  }
  auto& to_dialer = pipe->lanes[0].bytes;
  while (pipe->user != nullptr && !to_dialer.empty() && to_dialer.front().first <= NowMs() &&
         !IsFrozen(pipe->places[0])) {
    const std::string bytes = std::move(to_dialer.front().second);
    to_dialer.pop_front();
    pipe->user->OnReceived(bytes);
  }
  if (pipe->user != nullptr && pipe->is_lost && to_dialer.empty() && !IsFrozen(pipe->places[0])) {
    pipe->user->OnEnded("closed");
  }
}

void SentinelWorld::DeliverToListener(const std::shared_ptr<Pipe>& pipe, const std::string& bytes) {
  if (!IsUp(pipe->places[1])) {
    pipe->is_lost = true;
    return;
  }
  pipe->requests.Feed(bytes);
  while (const auto request = pipe->requests.Next()) {
    Words words;
    for (const ReplyTree& word : request->children) words.push_back(word.text);
    Answer(pipe, words);
  }
}

// Breaks the connections of a process that has ended.
void SentinelWorld::LoseAt(int place) {
  for (const auto& pipe : pipes_) {
    if (pipe->places[1] == place) pipe->is_lost = true;
    if (pipe->places[0] == place) pipe->user = nullptr;
  }
}

void SentinelWorld::Split(const std::set<int>& island) {
  std::vector<int> places;
  for (const Server& server : servers_) places.push_back(server.port);
  for (const auto& member : members_) places.push_back(member->port());
  for (const int one : places) {
    for (const int other : places) {
      if (island.contains(one) && !island.contains(other)) SetApart(one, other);
    }
  }
}

void SentinelWorld::StopServer(int index) {
  server(index).is_up = false;
  LoseAt(server(index).port);
}

void SentinelWorld::StartServer(int index) {
  Server& started = server(index);
  if (started.is_up) return;
  started.is_up = true;
  std::ranges::reverse(started.run_id);  // another process
}

// --- Answers.

void SentinelWorld::Answer(const std::shared_ptr<Pipe>& pipe, const Words& words) {
  Member* const member = MemberAt(pipe->places[1]);
  const std::string answer =
      member != nullptr ? AnswerOfSentinel(*member, words) : AnswerOfServer(pipe, *ServerAt(pipe->places[1]), words);
  Send(*pipe, 0, answer);
}

std::string SentinelWorld::AnswerOfSentinel(Member& member, const Words& words) {
  if (words[0] == "PING") return "+PONG\r\n";
  if (words[0] == "PUBLISH") {
    member->hello_protocol().Receive(words[2]);
    return ":1\r\n";
  }
  if (words[0] != "SENTINEL") return "+OK\r\n";
  Primary* const primary = member->list().FindPrimaryAt(words[2], std::stoi(words[3]));
  LeaderElection::Vote vote{{}, 0};
  if (primary != nullptr && words[5] != "*") {
    vote = member->election().VoteForLeader(*primary, std::stoull(words[4]), words[5]);
  }
  const bool is_down = primary != nullptr && primary->is_down && !member->state().is_in_tilt;
  return StrCat("*3\r\n:", is_down ? "1" : "0", "\r\n", BulkText(vote.leader.empty() ? "*" : vote.leader), ":",
                vote.epoch, "\r\n");
}

std::string SentinelWorld::AnswerOfServer(const std::shared_ptr<Pipe>& pipe, Server& server, const Words& words) {
  std::string command = words[0];
  if (server.renamed.contains(command)) return "-ERR unknown command '" + command + "'\r\n";
  for (const auto& [known, as] : server.renamed) {
    if (command == as) command = known;
  }
  if (command == "PING") return "+PONG\r\n";
  if (command == "INFO") return BulkText(InfoOf(server) + server.more_info);
  if (command == "SUBSCRIBE") {
    pipe->is_subscribed = true;
    return "*3\r\n" + BulkText("subscribe") + BulkText(words[1]) + ":1\r\n";
  }
  if (command == "PUBLISH") {
    const std::string message = "*3\r\n" + BulkText("message") + BulkText(words[1]) + BulkText(words[2]);
    for (const auto& other : pipes_) {
      if (other->is_subscribed && !other->is_lost && other->places[1] == server.port) Send(*other, 0, message);
    }
    return ":1\r\n";
  }
  if (command == "MULTI") {
    pipe->is_in_transaction = true;
    return "+OK\r\n";
  }
  if (command == "EXEC") {
    pipe->is_in_transaction = false;
    for (const Words& queued : std::exchange(pipe->queued, {})) Obey(pipe, server, queued);
    return "*0\r\n";
  }
  if (pipe->is_in_transaction) {
    pipe->queued.push_back(words);
    return "+QUEUED\r\n";
  }
  Obey(pipe, server, words);
  return "+OK\r\n";
}

void SentinelWorld::Obey(const std::shared_ptr<Pipe>& pipe, Server& server, const Words& words) {
  std::string text = words[0];
  for (size_t i = 1; i < words.size(); ++i) text += " " + words[i];
  server.heard.push_back(text);
  if (words[0] == "SLAVEOF") server.follows = words[1] == "NO" ? 0 : std::stoi(words[2]);
  if (!text.starts_with("CLIENT KILL TYPE normal")) return;
  for (const auto& other : pipes_) {
    if (other != pipe && other->places[1] == server.port) other->is_lost = true;
  }
}

bool SentinelWorld::IsLinked(const Server& replica) {
  const Server* const primary = replica.follows == 0 ? nullptr : ServerAt(replica.follows);
  return primary != nullptr && primary->is_up && !primary->is_frozen && !AreApart(replica.port, primary->port);
}

std::string SentinelWorld::InfoOf(const Server& server) {
  std::string info = "# Server\r\nrun_id:" + server.run_id + "\r\n# Replication\r\n";
  if (server.follows == 0) {
    info += "role:master\r\n";
    int number = 0;
    for (const Server& other : servers_) {
      if (!other.is_up || other.follows != server.port || AreApart(other.port, server.port)) continue;
      StrAppend(info, "slave", number++, ":ip=127.0.0.1,port=", other.port, ",state=online,offset=1,lag=0\r\n");
    }
    return info;
  }
  const bool is_linked = IsLinked(server);
  StrAppend(info, "role:slave\r\nmaster_host:", server.primary_host, "\r\nmaster_port:", server.follows,
            "\r\nmaster_link_status:", is_linked ? "up" : "down", "\r\n");
  if (!is_linked) info += "master_link_down_since_seconds:1\r\n";
  return StrCat(info, "slave_repl_offset:", server.offset, "\r\nslave_priority:", server.priority,
                "\r\nreplica_announced:1\r\n");
}

void SentinelWorld::CopyData() {
  for (Server& server : servers_) {
    if (!server.is_up || server.is_frozen) continue;
    if (server.follows == 0) {
      server.offset += 1;
    } else if (IsLinked(server)) {
      server.offset = std::max(server.offset, ServerAt(server.follows)->offset);
    }
  }
}

// --- What they believe.

void SentinelWorld::NoteBeliefs() {
  for (const auto& member : members_) {
    if (!member->Runs()) continue;
    const Primary& primary = member->primary();
    const int address = CurrentAddress(primary).port;
    const auto [known, is_new] = address_of_epoch_.emplace(primary.config_epoch, address);
    if (is_new || known->second == address || !contradiction_.empty()) continue;
    contradiction_ = StrCat("epoch ", primary.config_epoch, " names ", known->second, " and ", address);
  }
}

std::string SentinelWorld::Disagreement() {
  int named = 0;
  for (const auto& member : members_) {
    if (!member->Runs()) continue;
    const Primary& primary = member->primary();
    if (primary.is_failing_over) return StrCat(member->port(), " is failing over");
    if (named == 0) named = primary.address.port;
    if (primary.address.port != named) {
      return StrCat(member->port(), " names ", primary.address.port, ", others ", named);
    }
  }
  for (const Server& server : servers_) {
    if (!server.is_up) continue;
    const int wanted = server.port == named ? 0 : named;
    if (server.follows != wanted) {
      return StrCat(server.port, " follows ", server.follows, " instead of ", wanted);
    }
  }
  return ServerAt(named)->is_up ? "" : "the primary is down";
}

bool SentinelWorld::AllKnowAll() {
  return std::ranges::all_of(members_, [this](const auto& member) {
    const Primary& primary = member->primary();
    return static_cast<int>(primary.sentinels.size()) == Count() - 1 &&
           static_cast<int>(primary.replicas.size()) == Servers() - 1 &&
           std::ranges::all_of(primary.replicas, [](const auto& entry) { return entry.second->info_ms != kLongAgo; });
  });
}

}  // namespace respite
