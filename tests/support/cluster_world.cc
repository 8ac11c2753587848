#include "tests/support/cluster_world.h"

#include <algorithm>
#include <stdexcept>

#include "base/str_cat.h"
#include "server/cluster/cluster_start_plan.h"
#include "server/cluster/nodes_text.h"

namespace respite {

namespace {

constexpr int kFirstPort = 7000;
constexpr int kBusDistance = 10000;
constexpr int64_t kWallBaseMs = 1'700'000'000'000;
constexpr int64_t kTickMs = 100;
constexpr int64_t kTryAgainMs = 20;  // while a member is frozen
constexpr int64_t kAgreementMs = 120'000;

}  // namespace

// A connection. End 0 made it, end 1 accepted it.
struct ClusterWorld::Pipe {
  struct End {
    int member = -1;
    Link::User* user = nullptr;  // null: closed
    std::deque<std::pair<int64_t, std::string>> arriving;
    size_t bytes = 0;
    bool is_woken = false;  // an event that delivers the bytes is scheduled
  };
  End ends[2];
  bool is_connected = false;
  bool is_lost[2] = {false, false};  // the other end has closed; this end is told after it has read everything
};

class ClusterWorld::SimLink final : public Link {
 public:
  SimLink(ClusterWorld& world, std::shared_ptr<Pipe> pipe, int end)
      : world_(world), pipe_(std::move(pipe)), end_(end) {}
  ~SimLink() override {
    pipe_->ends[end_].user = nullptr;
    pipe_->is_lost[1 - end_] = true;
    if (pipe_->is_connected) world_.Wake(pipe_, 1 - end_);
  }
  SimLink(const SimLink&) = delete;
  SimLink& operator=(const SimLink&) = delete;

  void SetUser(User& user) override { pipe_->ends[end_].user = &user; }
  void Send(Bytes bytes) override {
    Pipe::End& other = pipe_->ends[1 - end_];
    if (other.user == nullptr) return;
    other.arriving.emplace_back(world_.NowMs() + world_.Delay(), bytes);
    other.bytes += bytes.size();
    world_.Wake(pipe_, 1 - end_);
  }
  void SetReading(Reading) override {}
  size_t UnsentBytes() const override { return pipe_->ends[1 - end_].bytes; }
  std::string LocalAddress() const override { return "127.0.0.1:1"; }
  std::string PeerAddress() const override { return "127.0.0.1:1"; }
  int FileDescriptor() const override { return -1; }
  Stage stage() const override { return pipe_->is_connected ? Stage::kOpen : Stage::kConnecting; }

 private:
  ClusterWorld& world_;
  const std::shared_ptr<Pipe> pipe_;
  const int end_;
};

class ClusterWorld::Member::Port final : public Network {
 public:
  explicit Port(Member& member) : member_(member) {}

  std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) override {
    ClusterWorld& world = member_.world_;
    auto pipe = world.Connect(member_.index_, target.port - kBusDistance - kFirstPort, user);
    return std::make_unique<SimLink>(world, std::move(pipe), 0);
  }
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions&, Acceptor& taker) override {
    acceptor = &taker;
    return std::make_unique<Listening>();
  }
  std::unique_ptr<Watch> WatchPipe(int, std::function<void()>) override { return nullptr; }

  Acceptor* acceptor = nullptr;

 private:
  Member& member_;
};

// --- Members.

ClusterWorld::Member::Member(ClusterWorld& world, int index)
    : world_(world), index_(index), log_(world.clock_), port_(std::make_unique<Port>(*this)) {
  log_.SetLevel(LogLevel::kNothing);
  settings_.cluster_node_timeout = world.options_.node_timeout_ms;
  settings_.bound_port = kFirstPort + index;
  settings_.tls_port = 0;
  world.options_.adjust(settings_);
  Start();
}

ClusterWorld::Member::~Member() { Stop(); }

void ClusterWorld::Member::Start() {
  if (Runs()) return;
  network_.Attach(port_.get());
  const uint64_t seed =
      world_.options_.seed * 1'000'003 + static_cast<uint64_t>(index_) * 101 + static_cast<uint64_t>(++starts_);
  auto made = Cluster::Make({.settings = settings_,
                             .real_clock = world_.clock_,
                             .wall_ms = kWallBaseMs + world_.NowMs() + wall_error_ms,
                             .log = log_,
                             .random_seed = seed,
                             .network = network_,
                             .host = *this},
                            file_);
  if (!made.ok()) throw std::runtime_error(made.error());
  cluster_ = std::move(made).value();
  id_ = cluster_->view().me().id;
  synced_at_ms_.reset();
  if (auto reason = cluster_->Start()) throw std::runtime_error(*reason);
}

void ClusterWorld::Member::Stop() {
  if (!Runs()) return;
  port_->acceptor = nullptr;
  cluster_.reset();
  network_.Attach(nullptr);
  primary_ = -1;
  holds_writes = false;
}

void ClusterWorld::Member::Follow(const std::string&, int port, std::optional<int64_t>) {
  primary_ = port - kFirstPort;
  synced_at_ms_.reset();
  slots_with_keys.clear();
}

bool ClusterWorld::Member::IsLinked() const { return primary_ >= 0 && has_link && synced_at_ms_.has_value(); }

void ClusterWorld::Member::Promote() {
  primary_ = -1;
  ++promotions;
}

bool ClusterWorld::Member::Save(const ClusterView& view, Durably) {
  if (fails_to_save) return false;
  if (world_.Count() <= 100) file_ = NodesFileText(view, PortChoice::kTcp);
  return true;
}

void ClusterWorld::Member::CopyFromPrimary() {
  if (primary_ < 0 || !has_link) return;
  const Member& primary = world_[primary_];
  const bool hears = primary.Runs() && !primary.is_frozen && !world_.IsHeldUp(primary_, index_);
  if (!hears) return;
  offset = primary.offset;
  synced_at_ms_ = world_.NowMs();
}

void ClusterWorld::Member::Tick() {
  if (!Runs() || is_frozen) return;
  CopyFromPrimary();
  cluster_->Tick();
  cluster_->EndTurn();
}

// --- The world.

ClusterWorld::ClusterWorld(Options options) : options_(std::move(options)), random_(options_.seed) {}

ClusterWorld::~ClusterWorld() {
  for (const auto& member : members_) member->Stop();
}

ClusterWorld::Member& ClusterWorld::Add() {
  const int index = Count();
  members_.push_back(nullptr);
  members_.back() = std::make_unique<Member>(*this, index);
  ScheduleTick(index, NowMs() + 1 + static_cast<int64_t>(random_.Below(kTickMs)));
  return *members_.back();
}

void ClusterWorld::Member::RunNowOrAfterLongTask(std::function<void()> task) {
  if (!is_in_long_task) return task();
  tasks_after_long_task_.push_back(std::move(task));
}

void ClusterWorld::Member::EndLongTask() {
  is_in_long_task = false;
  for (const auto& task : std::exchange(tasks_after_long_task_, {})) task();
}

void ClusterWorld::Meet(Member& one, Member& other) {
  const auto port = static_cast<uint16_t>(kFirstPort + other.index());
  one->Meet(
      {.ip = "127.0.0.1", .tcp_port = port, .tls_port = 0, .bus_port = static_cast<uint16_t>(port + kBusDistance)});
}

void ClusterWorld::AddCluster(int primaries, int replicas_each) {
  const int count = primaries * (1 + replicas_each);
  for (int i = 0; i < count; ++i) Add();
  for (int i = 0; i < primaries; ++i) {
    SlotSet slots;
    for (int slot = kSlotCount * i / primaries; slot < kSlotCount * (i + 1) / primaries; ++slot) slots.Add(slot);
    (*this)[i]->SetEpoch(static_cast<uint64_t>(i) + 1);
    (*this)[i]->AddSlots(slots);
  }
  for (int i = 1; i < count; ++i) Meet((*this)[0], (*this)[i]);
  const auto all_know_all = [&] {
    return std::ranges::all_of(members_, [&](const auto& member) {
      const auto& all = (**member).view().All();
      return static_cast<int>(all.size()) == count &&
             std::ranges::none_of(all, [](const ClusterNode* node) { return node->Is(kNodeHandshake); });
    });
  };
  if (!StepUntil(all_know_all, kAgreementMs)) throw std::runtime_error("the nodes do not get to know each other");
  for (int i = primaries; i < count; ++i) {
    Member& primary = (*this)[(i - primaries) / replicas_each];
    (*this)[i]->Replicate(*(*this)[i].Find(primary));
  }
  if (!StepUntil([&] { return Agrees(); }, kAgreementMs)) throw std::runtime_error("no agreement: " + Disagreement());
}

void ClusterWorld::AddKnownCluster(int primaries, int replicas_each) {
  const NodeLayout layout{.primaries = primaries, .replicas = replicas_each};
  std::vector<ClusterStartPlan::Member> members(static_cast<size_t>(layout.Count()));
  for (size_t i = 0; i < members.size(); ++i) {
    const auto port = static_cast<uint16_t>(kFirstPort + static_cast<int>(i));
    members[i].address = {
        .ip = "127.0.0.1", .tcp_port = port, .tls_port = 0, .bus_port = static_cast<uint16_t>(port + kBusDistance)};
  }
  auto plan = ClusterStartPlan::Plan(layout, members, PortChoice::kTcp, random_);
  if (!plan.ok()) throw std::runtime_error(plan.error());
  for (const std::string& text : plan.value().texts) {
    Member& member = Add();
    member.Stop();
    member.SetFile(text);
    member.Start();
  }
  if (!StepUntil([&] { return Agrees(); }, kAgreementMs)) throw std::runtime_error("no agreement: " + Disagreement());
}

void ClusterWorld::ScheduleTick(int index, int64_t due_ms) {
  At(due_ms, [this, index, due_ms] {
    (*this)[index].Tick();
    ScheduleTick(index, due_ms + kTickMs);
  });
}

void ClusterWorld::Step(int64_t elapsed_ms) {
  // The test may have queued work, such as messages, before this call.
  for (const auto& member : members_) {
    if (member->Runs() && !member->is_frozen) (**member).EndTurn();
  }
  const int64_t until_ms = NowMs() + elapsed_ms;
  while (!events_.empty() && events_.top().due_ms <= until_ms) {
    const Event event = events_.top();
    events_.pop();
    if (event.due_ms > NowMs()) clock_.AdvanceMs(event.due_ms - NowMs());
    event.action();
  }
  if (until_ms > NowMs()) clock_.AdvanceMs(until_ms - NowMs());
  std::erase_if(pipes_,
                [](const auto& pipe) { return pipe->ends[0].user == nullptr && pipe->ends[1].user == nullptr; });
}

bool ClusterWorld::StepUntil(const std::function<bool()>& holds, int64_t limit_ms) {
  for (int64_t passed_ms = 0; passed_ms < limit_ms; passed_ms += kTickMs) {
    if (holds()) return true;
    Step(kTickMs);
  }
  return holds();
}

int64_t ClusterWorld::Delay() {
  return options_.delay_ms + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(options_.delay_ms) + 1));
}

bool ClusterWorld::IsHeldUp(int from, int to) const { return !apart_.empty() && apart_.contains({from, to}); }

bool ClusterWorld::Hears(int from, int to) const {
  return !IsHeldUp(from, to) && (to == kStranger || !members_[static_cast<size_t>(to)]->is_frozen);
}

// --- Connections.

std::shared_ptr<ClusterWorld::Pipe> ClusterWorld::Connect(int from, int to, Link::User& user) {
  auto pipe = std::make_shared<Pipe>();
  pipe->ends[0] = {.member = from, .user = &user, .arriving = {}};
  pipe->ends[1].member = to;
  pipes_.push_back(pipe);
  At(NowMs() + Delay(), [this, pipe] { Connect(pipe); });
  return pipe;
}

std::unique_ptr<Link> ClusterWorld::ConnectAsUnknownNode(int to, Link::User& user) {
  return std::make_unique<SimLink>(*this, Connect(kStranger, to, user), 0);
}

void ClusterWorld::Receive(int index, const std::function<void()>& action) {
  action();
  if (index != kStranger && (*this)[index].Runs()) (*this)[index]->EndTurn();
}

void ClusterWorld::Connect(const std::shared_ptr<Pipe>& pipe) {
  const int from = pipe->ends[0].member;
  const int to = pipe->ends[1].member;
  if (pipe->ends[0].user == nullptr) return;
  if (IsHeldUp(from, to) || IsHeldUp(to, from)) {
    held_up_.emplace_back([this, pipe] { Connect(pipe); });
    return;
  }
  const bool is_there = to >= 0 && to < Count() && (*this)[to].port_->acceptor != nullptr;
  if (!is_there) {
    Link::User* const user = std::exchange(pipe->ends[0].user, nullptr);
    return Receive(from, [&] { user->OnEnded("Connection refused"); });
  }
  pipe->is_connected = true;
  Receive(to, [&] { (*this)[to].port_->acceptor->OnAccepted(std::make_unique<SimLink>(*this, pipe, 1)); });
  if (pipe->ends[0].user != nullptr) Receive(from, [&] { pipe->ends[0].user->OnConnected(); });
}

void ClusterWorld::Wake(const std::shared_ptr<Pipe>& pipe, int end) {
  Pipe::End& here = pipe->ends[end];
  if (here.user == nullptr || std::exchange(here.is_woken, true)) return;
  const bool is_frozen = !Hears(pipe->ends[1 - end].member, here.member);
  const int64_t due_ms = here.arriving.empty() ? NowMs() + options_.delay_ms : here.arriving.front().first;
  const auto look = [this, pipe, end] {
    Pipe::End& target = pipe->ends[end];
    target.is_woken = false;
    const bool waits = !Hears(pipe->ends[1 - end].member, target.member);
    if (target.user == nullptr) return;
    if (!waits && !target.arriving.empty()) {
      const std::string bytes = std::move(target.arriving.front().second);
      target.arriving.pop_front();
      target.bytes -= bytes.size();
      ++messages_;
      Receive(target.member, [&] { target.user->OnReceived(bytes); });
    } else if (!waits && pipe->is_lost[end]) {
      Link::User* const user = std::exchange(target.user, nullptr);
      return Receive(target.member, [&] { user->OnEnded("connection lost"); });
    }
    if (!target.arriving.empty() || pipe->is_lost[end]) Wake(pipe, end);
  };
  if (IsHeldUp(pipe->ends[1 - end].member, here.member)) {
    held_up_.emplace_back(look);
  } else {
    At(is_frozen ? NowMs() + kTryAgainMs : std::max(due_ms, NowMs()), look);
  }
}

// --- Faults.

void ClusterWorld::SetApart(int from, int to, Direction direction) {
  apart_.insert({from, to});
  if (direction == Direction::kBoth) apart_.insert({to, from});
}

void ClusterWorld::SetAllTogether() {
  apart_.clear();
  for (auto& action : std::exchange(held_up_, {})) At(NowMs(), std::move(action));
}

void ClusterWorld::Split(const std::set<int>& island) {
  for (int one = 0; one < Count(); ++one) {
    for (int other = 0; other < Count(); ++other) {
      if (island.contains(one) && !island.contains(other)) SetApart(one, other);
    }
  }
}

void ClusterWorld::BreakLinks(int one, int other) {
  for (const auto& pipe : std::vector(pipes_)) {
    const int from = pipe->ends[0].member;
    const int to = pipe->ends[1].member;
    if (!((from == one && to == other) || (from == other && to == one)) || !pipe->is_connected) continue;
    for (int end : {0, 1}) {
      pipe->ends[end].arriving.clear();
      pipe->ends[end].bytes = 0;
      pipe->is_lost[end] = true;
      Wake(pipe, end);
    }
  }
}

// --- What they believe.

int ClusterWorld::IndexOf(const NodeId& id) const {
  const auto found = std::ranges::find_if(members_, [&](const auto& member) { return member->id() == id; });
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

int ClusterWorld::OwnerFor(Member& member, int slot) {
  const ClusterNode* owner = member->view().Owner(slot);
  return owner == nullptr ? -1 : IndexOf(owner->id);
}

std::string ClusterWorld::Disagreement(About about) {
  Member* first = nullptr;
  for (const auto& member : members_) {
    if (!member->Runs()) continue;
    const std::string name = StrCat("node ", member->index());
    const ClusterView& view = (**member).view();
    if (!view.is_ok) return name + " does not serve requests";
    if (first == nullptr) first = member.get();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const ClusterNode* owner = view.Owner(slot);
      const ClusterNode* expected = (**first).view().Owner(slot);
      if (owner == nullptr || owner->id != expected->id) {
        return StrCat(name, " has another owner of slot ", slot);
      }
      if (about == About::kEpochs && owner->config_epoch != expected->config_epoch)
        return name + " has another epoch of " + owner->id.String();
    }
    for (const auto& other : members_) {
      if (!other->Runs()) continue;
      const ClusterNode* node = view.Find(other->id());
      if (node == nullptr) return StrCat(name, " does not know node ", other->index());
      if (node->IsPrimary() != other->IsPrimary())
        return StrCat(name, " is wrong about the role of node ", other->index());
      if (node->IsFailing()) return StrCat(name, " thinks that node ", other->index(), " fails");
    }
  }
  return "";
}

}  // namespace respite
