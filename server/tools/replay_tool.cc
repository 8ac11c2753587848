#include "server/tools/replay_tool.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/number_text.h"
#include "persistence/file_system.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/lab/recording/replay.h"
#include "server/net/loop_network.h"
#include "server/net/tls/tls.h"

namespace respite {

namespace {

constexpr int kDifferent = 1;
constexpr int kFailed = 2;
constexpr char kReplayUsage[] =
    "Usage: %s --replay FILE [--to HOST:PORT] [--speed X] [--ignore PATTERN]...\n"
    "Sends what the clients of a recording (--record FILE) sent, and shows the replies that differ.\n"
    "  --to HOST:PORT     to this server, as fast as it replies. Without it: to a new server of this program,\n"
    "                     whose clock passes as in the recording\n"
    "  --speed X          with the pauses of the recording, X times as fast\n"
    "  --ignore PATTERN   replies of commands that match (get, client|*) may differ\n";

struct ReplayOrder {
  std::string file;
  std::optional<Link::Target> target;  // nullopt: a new server of this program
  std::optional<double> speed;         // nullopt: no pauses
  std::vector<std::string> ignored;
};

std::optional<Link::Target> TargetIn(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  const auto port = ParseInteger(Bytes(text).substr(colon + 1));
  if (!port || *port < 1 || *port > kHighestPort) return std::nullopt;
  const bool has_brackets = text[0] == '[' && text[colon - 1] == ']';
  const std::string host = has_brackets ? text.substr(1, colon - 2) : text.substr(0, colon);
  return Link::Target{.host = host, .port = static_cast<int>(*port)};
}

// Parses the arguments of the tool. Returns nullopt if they are invalid.
std::optional<ReplayOrder> ReplayOrderIn(std::span<const std::string> arguments) {
  if (arguments.size() < 3 || arguments.size() % 2 == 0) return std::nullopt;
  ReplayOrder order;
  order.file = arguments[2];
  for (size_t i = 3; i < arguments.size(); i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--to") {
      order.target = TargetIn(value);
      if (!order.target) return std::nullopt;
    } else if (arguments[i] == "--speed") {
      order.speed = ParseDouble(value);
      if (!order.speed || !(*order.speed > 0)) return std::nullopt;
    } else if (arguments[i] == "--ignore") {
      order.ignored.push_back(value);
    } else {
      return std::nullopt;
    }
  }
  return order;
}

// A server that this program starts for one replay. The server ends with this object.
class OwnServer {
 public:
  OwnServer() = default;
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;
  ~OwnServer() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  // Starts an empty server with the random seed and the emulated version of the recorded server. Returns its port, or
  // nullopt if the server does not start.
  std::optional<int> Start(const RecordingStart& start);

 private:
  pid_t process_ = 0;
  std::string folder_;  // temporary directory of the server, so that a recorded SAVE replaces no file of the user
};

std::optional<int> OwnServer::Start(const RecordingStart& start) {
  const char* const place = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): there is no other thread
  std::string folder = std::string(place == nullptr || place[0] == '\0' ? "/tmp" : place) + "/respite-replay-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return std::nullopt;
  folder_ = folder;
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return std::nullopt;
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const std::string ready = std::to_string(ends[1]);
  const std::string seed = start.seed ? std::to_string(*start.seed) : "";
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(folder_.c_str()) != 0) _exit(kFailed);
    execl("/proc/self/exe", "respite-server", "--test", "--logfile", "/dev/null", "--ready-fd", ready.c_str(), "--seed",
          seed.c_str(), "--emulate", start.emulated.c_str(), nullptr);
    _exit(kFailed);
  }
  writer = Descriptor();
  std::string text;
  std::array<char, 64> piece{};
  for (ssize_t size = 0; (size = read(reader.Get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<size_t>(size));
  }
  const auto port = ParseInteger(Bytes(text).substr(0, text.find('\n')));
  return port ? std::optional(static_cast<int>(*port)) : std::nullopt;
}

// Blocks SIGINT and SIGTERM. Returns a descriptor that is readable when one of them has arrived.
Descriptor CatchSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

// Runs a Replay on an event loop of its own. From its construction on, SIGINT and SIGTERM only end Run.
class ReplayRun final : public EventLoop::Participant {
 public:
  ReplayRun() : loop_(real_clock_), network_(loop_, *this, settings_, tls_), signals_(CatchSignals()) {
    loop_.CallWhenReadable(signals_.Get(), [this] { loop_.Stop(kFailed); });
  }

  // Runs the replay to its end. Returns nullopt if the user has interrupted it.
  std::optional<Replay::Outcome> Run(Recording recording, Replay::Options options) {
    replay_.emplace(Replay::Parts{.network = network_,
                                  .real_clock = real_clock_,
                                  .commands = *commands_,
                                  .say = [](const std::string& line) { std::puts(line.c_str()); },
                                  .on_event = [this] { GoOnSoon(); }},
                    std::move(recording), std::move(options));
    GoOnSoon();
    return loop_.Run() == 0 ? std::optional(replay_->outcome()) : std::nullopt;
  }

  // The functions of EventLoop::Participant.
  void EndTurn(int64_t) override {}
  void EndTurnDuringLongTask() override {}

 private:
  void GoOnSoon() {
    if (std::exchange(is_posted_, true)) return;
    loop_.Post(nullptr, [this] {
      is_posted_ = false;
      Continue();
    });
  }
  void Continue() {
    const auto again_ms = replay_->Continue();
    if (!again_ms) return loop_.Stop(0);
    if (std::exchange(has_timer_, true)) return;
    loop_.RunAfter(*again_ms, [this] {
      has_timer_ = false;
      GoOnSoon();
    });
  }

  const SystemRealClock real_clock_;
  const std::shared_ptr<const CommandSet> commands_ = AllCommands(Where::kDataServers);
  const Settings settings_;
  const Tls tls_;
  EventLoop loop_;
  LoopNetwork network_;
  std::optional<Replay> replay_;
  const Descriptor signals_;  // readable when a signal has arrived
  bool is_posted_ = false;
  bool has_timer_ = false;
};

int Report(const Replay::Outcome& outcome) {
  if (!outcome.failure.empty()) {
    std::fprintf(stderr, "The replay has failed: %s\n", outcome.failure.c_str());
    return kFailed;
  }
  const auto text = [](uint64_t count) { return std::to_string(count); };
  std::string line = text(outcome.requests) + " requests on " + text(outcome.connections) +
                     " connections. Replies: " + text(outcome.same) + " the same, " + text(outcome.different) +
                     " different, " + text(outcome.unjudged) + " that need not be the same.";
  if (outcome.incomparable > 0)
    line += " Not compared: " + text(outcome.incomparable) + " connections of replicas, of MONITOR, or without RESP.";
  std::puts(line.c_str());
  return outcome.different == 0 ? 0 : kDifferent;
}

int Fail(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  return kFailed;
}

}  // namespace

int RunReplay(std::span<const std::string> arguments) {
  auto order = ReplayOrderIn(arguments);
  if (!order) {
    std::fprintf(stderr, kReplayUsage, arguments[0].c_str());
    return kFailed;
  }
  SystemFiles files;
  const auto text = ReadFile(files, order->file, UINT64_MAX);
  if (!text.ok()) return Fail("Can't read " + order->file + ": " + IoErrorText(text.error()));
  auto recording = ParseRecording(text.value());
  if (!recording.ok()) return Fail(order->file + ": " + recording.error());
  Replay::Options options;
  options.ignored = std::move(order->ignored);
  ReplayRun run;
  OwnServer own;
  if (order->target) {
    options.target = *order->target;
  } else {
    const auto port = own.Start(recording.value().start);
    if (!port) return Fail("The server for the replay does not start");
    options.target = {.host = "127.0.0.1", .port = *port};
    options.time = Replay::Time::kServersClock;
  }
  if (order->speed) options.time = Replay::Time::kReal;
  options.speed = order->speed.value_or(1);
  const auto outcome = run.Run(std::move(recording).value(), std::move(options));
  if (!outcome) return Fail("The replay was interrupted");
  const int exit_code = Report(*outcome);
  return std::fflush(stdout) == 0 ? exit_code : kFailed;
}

}  // namespace respite
