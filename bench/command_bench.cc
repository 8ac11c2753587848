// Whole commands inside one process, without sockets: parser, gates, handler, reply. `Pipeline` is the number of
// requests in one read.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/str_cat.h"
#include "server/config/config.h"
#include "server/execution/pump.h"
#include "server/lab/faults/fault_rules.h"
#include "server/node/node.h"
#include "server/process/forked_children.h"

namespace respite {
namespace {

constexpr size_t kKeys = 1'000'000;

class Rig {
 public:
  Rig()
      : log_(clock_),
        server_({config_, clock_, pace_, log_, HashKey{1}, 1, files_, children_}),
        pump_(server_.services()) {
    log_.SetLevel(LogLevel::kNothing);
    session_ = &server_.services().clients.registry.Create(0);
  }
  // Runs the requests of one read and discards the replies.
  void Run(Bytes input) {
    std::span<char> target = session_->in.ReadTarget(scratch_);
    std::copy(input.begin(), input.end(), target.begin());
    session_->in.Received(input.size());
    pump_.Run(*session_);
    session_->out.Consume(session_->out.Size());
  }
  FaultRules& faults() { return server_.services().lab.faults; }

 private:
  SystemClock clock_;
  SystemRealClock pace_;
  Logger log_;
  Config config_;
  SystemFiles files_;
  ForkedChildren children_{pace_, log_, [](ChildWork) {}};
  Node server_;
  Pump pump_;
  std::vector<char> scratch_ = std::vector<char>(1 << 20);
  Session* session_;
};

std::string Encode(const std::vector<std::string>& words) {
  std::string out = StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) StrAppend(out, "$", word.size(), "\r\n", word, "\r\n");
  return out;
}

std::string KeyOf(size_t number) {
  std::string digits = std::to_string(number);
  return "key:" + std::string(12 - digits.size(), '0') + digits;
}

// Reads of `pipeline` requests over random keys, prepared in advance.
template <class Words>
std::vector<std::string> Reads(size_t pipeline, Words&& words) {
  constexpr size_t kReads = 4096;
  Random random(1);
  std::vector<std::string> reads(std::max<size_t>(kReads / pipeline, 64));
  for (std::string& read : reads)
    for (size_t i = 0; i < pipeline; ++i) read += Encode(words(KeyOf(random.Below(kKeys))));
  return reads;
}

template <class Words>
void RunCommands(benchmark::State& state, const std::string& value, Words&& words) {
  size_t pipeline = static_cast<size_t>(state.range(0));
  Rig rig;
  for (size_t i = 0; i < kKeys; ++i) rig.Run(Encode({"SET", KeyOf(i), value}));
  std::vector<std::string> reads = Reads(pipeline, words);
  size_t next = 0;
  for (auto _ : state) {
    rig.Run(reads[next]);
    next = next + 1 == reads.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

using Request = std::vector<std::string>;

void Get(benchmark::State& state) {
  RunCommands(state, std::string(64, 'x'), [](const std::string& key) { return Request{"GET", key}; });
}
BENCHMARK(Get)->ArgName("Pipeline")->Arg(1)->Arg(16)->Arg(128);

void Set(benchmark::State& state) {
  RunCommands(state, std::string(64, 'x'), [](const std::string& key) {
    return Request{"SET", key, std::string(64, 'y')};
  });
}
BENCHMARK(Set)->ArgName("Pipeline")->Arg(1)->Arg(16)->Arg(128);

void Incr(benchmark::State& state) {
  RunCommands(state, "1", [](const std::string& key) { return Request{"INCR", key}; });
}
BENCHMARK(Incr)->ArgName("Pipeline")->Arg(1)->Arg(16)->Arg(128);

void Ping(benchmark::State& state) {
  RunCommands(state, "1", [](const std::string&) { return Request{"PING"}; });
}
BENCHMARK(Ping)->ArgName("Pipeline")->Arg(1)->Arg(16);

// GET while there are rules of TEST FAULT that do not match it.
enum class RulesFor : uint8_t { kOtherCommands, kOtherKeys };
void GetWithFaults(benchmark::State& state, RulesFor what) {
  Rig rig;
  const bool is_for_keys = what == RulesFor::kOtherKeys;
  for (int64_t i = 0; i < state.range(0); ++i) {
    FaultDefinition order;
    order.name = std::to_string(i);
    order.action = RequestFault{.kind = RequestFault::Kind::kClose};
    order.filter.command = TextPattern(is_for_keys ? "get" : "set", CaseMode::kIgnore);
    if (is_for_keys) order.filter.key = TextPattern("user:" + order.name + ":*");
    rig.faults().Add(std::move(order));
  }
  constexpr size_t kPipeline = 16;
  const auto reads = Reads(kPipeline, [](const std::string& key) { return Request{"GET", key}; });
  size_t next = 0;
  for (auto _ : state) {
    rig.Run(reads[next]);
    next = next + 1 == reads.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kPipeline));
}
BENCHMARK_CAPTURE(GetWithFaults, other_commands, RulesFor::kOtherCommands)->ArgName("Rules")->Arg(0)->Arg(1)->Arg(1000);
BENCHMARK_CAPTURE(GetWithFaults, other_keys, RulesFor::kOtherKeys)->ArgName("Rules")->Arg(1)->Arg(1000);

}  // namespace
}  // namespace respite
