#include "server/process/group/node_worlds.h"

#include <algorithm>
#include <utility>

#include "base/duration_text.h"
#include "base/hash.h"
#include "server/catalogue/dialect.h"
#include "server/clients/clients.h"
#include "server/dataset/eviction.h"
#include "server/node/connection.h"

namespace respite {

namespace {

// The directory of every isolated server (a world, made by TEST WORLD). No directory of this name can exist, so an
// isolated server writes no files and finds none.
constexpr char kNowhere[] = "/proc/no-folder-of-a-world";
constexpr int64_t kIdleCheckMs = 1000;

size_t KeysOf(const NodeServer& node) {
  const Keyspace& keyspace = node.services().data.dataset.keyspace;
  size_t keys = 0;
  for (int db = 0; db < keyspace.Count(); ++db) keys += keyspace[db].Size();
  return keys;
}

}  // namespace

NodeWorlds::NodeWorlds(const Parts& parts)
    : parts_(parts), nonexistent_folder_(kNowhere), base_(parts.config.CopyForServerIn(nonexistent_folder_)) {
  parts_.server.services().lab.worlds = this;
}

NodeWorlds::~NodeWorlds() = default;

void NodeWorlds::RunLater(std::function<void()> task) {
  parts_.loop.loop.Post(nullptr, SkipIfDestroyed(std::move(task)));
}

std::function<void()> NodeWorlds::SkipIfDestroyed(std::function<void()> task) const {
  return [life = std::weak_ptr(life_), run = std::move(task)] {
    if (!life.expired()) run();
  };
}

// --- Creation and removal

std::unique_ptr<Config> NodeWorlds::ConfigOfWorld(const WorldOptions& options, Folder& folder) const {
  auto config = base_->CopyForServerIn(folder);
  if (options.version) config->Emulate(*options.version);
  Settings& settings = config->MutableSettings();
  settings.port = options.port.value_or(0);
  if (options.port == 0) settings.port = kAutoPort;
  settings.bound_port = 0;
  settings.tls_port = 0;
  settings.unixsocket.clear();
  settings.save.clear();
  settings.appendonly = false;
  settings.load.clear();
  settings.preload_file.clear();
  settings.exit_on_idle = 0;  // the server that has the worlds counts their clients as its own
  return config;
}

NodeWorlds::World NodeWorlds::PrepareWorld(Bytes name, const WorldOptions& options) {
  World world;
  world.folder = std::make_unique<OwnFolder>(kNowhere);
  world.config = ConfigOfWorld(options, *world.folder);
  world.log = std::make_unique<Logger>(parts_.clock);
  world.log->SetFile(parts_.config.settings().logfile);
  world.log->SetLevel(LogLevel::kWarning);  // a thousand worlds would otherwise fill the log
  world.log->SetName("world " + std::string(name));
  world.node = std::make_unique<NodeServer>(NodeServer::Parts{.owner = *this,
                                                              .config = *world.config,
                                                              .log = *world.log,
                                                              .clock = parts_.clock,
                                                              .real_clock = parts_.real_clock,
                                                              .nodes = 1,
                                                              .number = HashBytes(name, HashKey()),
                                                              .seed = parts_.server.seed(),
                                                              .reach = NodeServer::Parts::Reach::kWithin});
  return world;
}

bool NodeWorlds::StartWorld(NodeServer& node, const ReplacedServer& before) {
  if (node.Build(parts_.loop) != NodeServer::Step::kDone) return false;
  if (before.server != nullptr) node.InheritTestState(*before.server);
  if (before.has_data) node.SetDataSource(*before.server);
  if (node.Open() != NodeServer::Step::kDone || node.Load() != NodeServer::Step::kDone) return false;
  node.services().lab.worlds = this;
  node.services().lab.restarts = this;
  return true;
}

void NodeWorlds::Add(Bytes name, World world) {
  world.last_used_ms = parts_.real_clock.NowMs();
  worlds_.emplace(name, std::move(world));
  StartIdleTimer();
}

std::optional<std::string> NodeWorlds::Create(Bytes name, const WorldOptions& options) {
  World world = PrepareWorld(name, options);
  if (!StartWorld(*world.node, {})) return "the world could not be made; the server's log says why";
  if (options.snapshots != nullptr) {
    const NodeServer& node = *world.node;
    if (auto reason = options.snapshots->CopyTo(options.snapshot, node.services().data.dataset,
                                                node.services().execution.function_libraries))
      return reason;
  }
  Add(name, std::move(world));
  return std::nullopt;
}

// Stops an isolated server (world) immediately, so that its name is free for a new one. Destroys the stopped server in
// a later turn of the loop, because this request may come from one of its own clients.
void NodeWorlds::Drop(Bytes name) {
  auto dropped = worlds_.extract(worlds_.find(name));
  NodeServer& server = *dropped.mapped().node;
  dropped_worlds_.push_back(std::move(dropped.mapped()));
  server.Stop();
  RunLater([this] { dropped_worlds_.clear(); });
}

// Called when an isolated server (world) has stopped, because one of its clients has called SHUTDOWN. Removes only this
// one; the main server and other worlds keep running.
void NodeWorlds::HandleServerStopped(NodeServer& node) {
  const auto name = NameOf(node.host());
  if (name) Drop(*name);
}

std::optional<std::string> NodeWorlds::HandleOomScoreChange(NodeServer&) {
  return "A world has no process of its own. Set this in the server that has the world.";
}

void NodeWorlds::StartIdleTimer() {
  if (std::exchange(has_idle_timer_, true)) return;
  parts_.loop.loop.RunAfter(kIdleCheckMs, SkipIfDestroyed([this] {
                              has_idle_timer_ = false;
                              DropIdleWorlds();
                              if (!worlds_.empty()) StartIdleTimer();
                            }));
}

void NodeWorlds::DropIdleWorlds() {
  const int64_t now_ms = parts_.real_clock.NowMs();
  const int64_t most_ms = ParseDurationMs(parts_.config.settings().test_world_idle).value_or(0);
  std::vector<std::string> idle;
  for (auto& [name, world] : worlds_) {
    if (world.node->services().clients.registry.Count() != 0) world.last_used_ms = now_ms;
    if (most_ms != 0 && now_ms - world.last_used_ms >= most_ms) idle.push_back(name);
  }
  for (const std::string& name : idle) Drop(name);
}

// --- Simulated crashes

bool NodeWorlds::Crash(const Session& caller, DataAfterCrash remains) {
  Connection* const connection = Connection::FindMovable(caller);
  if (connection == nullptr || !NameOf(connection->host())) return false;
  RunLater([this, weak = connection->Self(), remains] {
    const auto staying = weak.lock();
    const auto name = staying == nullptr || staying->IsClosing() ? std::nullopt : NameOf(staying->host());
    if (name && !name->empty()) Restart(*name, *staying, remains);
  });
  return true;
}

void NodeWorlds::Restart(const std::string& name, Connection& connection, const DataAfterCrash& remains) {
  auto crashed = worlds_.extract(worlds_.find(name));
  NodeServer& before = *dropped_worlds_.emplace_back(std::move(crashed.mapped())).node;
  RunLater([this] { dropped_worlds_.clear(); });
  before.Crash(remains.policy, &connection.session());
  const int port = before.settings().bound_port;
  World world = PrepareWorld(
      name, {.port = port == 0 ? std::nullopt : std::optional<int>(port), .version = before.settings().emulate});
  if (!StartWorld(*world.node, {&before, remains.from == DataAfterCrash::From::kAll})) return;  // the world is lost
  connection.MoveToRestarted(world.node->host(), "+OK\r\n");
  Add(name, std::move(world));
}

// --- Queries

std::vector<Worlds::Summary> NodeWorlds::List() const {
  std::vector<Summary> list;
  for (const auto& [name, world] : worlds_) {
    const NodeServer& node = *world.node;
    list.push_back({name, node.services().clients.registry.Count(), KeysOf(node), node.settings().bound_port,
                    DialectOf(node.settings().emulate).name});
  }
  return list;
}

bool NodeWorlds::HaveClients() const {
  return std::ranges::any_of(
      worlds_, [](const auto& world) { return world.second.node->services().clients.registry.Count() != 0; });
}

int NodeWorlds::PortOf(Bytes name) const { return ServerOf(name).settings().bound_port; }

NodeServer& NodeWorlds::ServerOf(Bytes world) const {
  return world.empty() ? parts_.server : *worlds_.find(world)->second.node;
}

std::optional<std::string> NodeWorlds::NameOf(const NodeHost& host) const {
  if (&host == &parts_.server.host()) return std::string();
  for (const auto& [name, world] : worlds_) {
    if (&world.node->host() == &host) return name;
  }
  return std::nullopt;
}

// --- Moving clients

bool NodeWorlds::MayMove(const Session& session) const {
  Connection* const connection = Connection::FindMovable(session);
  return connection != nullptr && NameOf(connection->host());
}

bool NodeWorlds::Enter(const Session& session, Entry entry) {
  if (!MayMove(session)) return false;
  Connection* const connection = Connection::FindMovable(session);
  RunLater([this, weak = connection->Self(), entry = std::move(entry)] {
    const auto moving = weak.lock();
    const bool leads_somewhere = entry.world.empty() || Has(entry.world);
    if (moving != nullptr && !moving->IsClosing() && leads_somewhere) Move(*moving, entry);
  });
  return true;
}

void NodeWorlds::Move(Connection& connection, const Entry& entry) {
  // A client that the main server has admitted may enter all isolated servers (worlds) without a login. A client that
  // connected to the port of one of them must log in to the others, and to the main server.
  const bool is_admitted = connection.AcceptingHost() == &parts_.server.host();
  Connection::MovingClient arrival{.reply = entry.reply, .request = nullptr, .is_admitted = is_admitted};
  if (!entry.request.empty()) {
    arrival.reply.clear();
    arrival.request = std::make_unique<PausedRequest>(PausedRequest{entry.request, {}});
  }
  connection.MoveTo(ServerOf(entry.world).host(), std::move(arrival));
}

}  // namespace respite
