// Any payload for RESTORE. An accepted value must survive DUMP and RESTORE, an RDB file, and the commands of a
// rewritten append-only file. The first byte selects the limits.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "datatypes/digest.h"
#include "persistence/dump_payload.h"
#include "persistence/rdb_value_writer.h"
#include "persistence/value_commands.h"
#include "protocol/request_text.h"
#include "server/node/node.h"
#include "server/storage/rdb_loader.h"
#include "tests/fuzz/sound_value.h"
#include "tests/support/faulty_files.h"
#include "tests/support/in_process_forker.h"

namespace respite {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

class Requests final : public RequestOutput {
 public:
  std::string text;

 protected:
  void Take(Bytes piece) override { text.append(piece); }
};

// A server without connections. Nothing expires, because it runs commands like those of an append-only file.
class Target {
 public:
  Target(FaultyFiles& files, bool is_tight) : files_(files), config_(ConfigFor(is_tight)) {
    log_.SetLevel(LogLevel::kNothing);
    server_.services().env.debug.skip_payload_checksum = true;
    session_ = &server_.services().clients.registry.Create(0);
  }
  Node& operator*() { return server_; }

  // Returns false if the command was refused.
  bool Run(std::span<const Bytes> words) {
    Executor& executor = server_.services().execution.executor;
    Unit unit(server_.services().data.dataset, clock_.WallMs(), ExpiryRule::kIgnoreDeadlines, Unit::Origin::kReplayed);
    const auto done = executor.Replay(RequestPath::kFile, unit, *session_, *executor.Resolve(words), words);
    unit.Close();
    return static_cast<bool>(done);
  }
  void RunAll(const std::string& requests) {
    RequestParser parser;
    RequestBatch batch;
    Bytes rest = requests;
    std::vector<char> scratch(64 * 1024);
    while (!rest.empty()) {
      const std::span<char> target = parser.ReadTarget(scratch);
      const size_t n = std::min(target.size(), rest.size());
      std::copy_n(rest.begin(), n, target.begin());
      rest.remove_prefix(n);
      parser.Received(n);
      while (parser.ParseInto(batch, {}) == RequestParser::Status::kRequest) {
        Require(Run(batch.Words(batch.requests.back())));
        batch.Clear();
      }
      parser.SaveRest();
    }
  }
  const Entry* Value() { return server_.services().data.dataset.keyspace[0].Find("k"); }
  void Flush() {
    const Bytes words[] = {"FLUSHALL"};
    Run(words);
  }

 private:
  static std::unique_ptr<Config> ConfigFor(bool is_tight) {
    CommandLine line;
    line.options = "save \"\"\n";
    if (is_tight) {
      line.options +=
          "hash-max-listpack-entries 2\nhash-max-listpack-value 4\nset-max-intset-entries 3\n"
          "set-max-listpack-entries 2\nset-max-listpack-value 4\nzset-max-listpack-entries 2\n"
          "zset-max-listpack-value 4\nlist-max-listpack-size 2\n";
    }
    std::istringstream nothing;
    return std::move(Config::Load(line, nothing).value());
  }

  FaultyFiles& files_;
  ManualClock clock_;
  Logger log_{clock_};
  std::unique_ptr<Config> config_;
  InProcessForker forker_;
  Node server_{{*config_, clock_, clock_, log_, HashKey{1}, 1, files_, forker_}};
  Session* session_;
};

std::string DigestText(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  return digest.Hex();
}

// Compares values. `dump` is the payload of a stream, since a digest does not cover groups.
void RequireSame(const Entry& value, const Entry* other) {
  Require(other != nullptr && DigestText(value) == DigestText(*other));
  if (value.Type() != ValueType::kStream) return;
  Require(DumpPayload(value, RdbCompression::kOff) == DumpPayload(*other, RdbCompression::kOff));
}

struct Servers {
  explicit Servers(bool is_tight) : first(files, is_tight), second(files, is_tight) {}

  void Try(Bytes value) {
    const std::string payload = std::string(value) + "\x0c" + std::string(9, '\0');
    const Bytes restore[] = {"RESTORE", "k", "0", payload};
    first.Flush();
    if (!first.Run(restore) || first.Value() == nullptr) return;
    const Entry& entry = *first.Value();
    Require(IsSound(entry, (*first).services().env.settings));

    second.Flush();
    const std::string dump = DumpPayload(entry, RdbCompression::kOn);
    const Bytes again[] = {"RESTORE", "k", "0", dump};
    Require(second.Run(again));
    RequireSame(entry, second.Value());

    second.Flush();
    Require((*first).services().storage.snapshots.Save() == Snapshots::Outcome::kDone);
    Require(LoadDump((*second).services(), {}) == LoadOutcome::kLoaded);
    RequireSame(entry, second.Value());

    second.Flush();
    Requests requests;
    WriteValueCommands(requests, entry);
    requests.Flush();
    second.RunAll(requests.text);
    Require(second.Value() != nullptr && DigestText(*second.Value()) == DigestText(entry));
    Require(IsSound(*second.Value(), (*second).services().env.settings));
  }

  FaultyFiles files;
  Target first;
  Target second;
};

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  static Servers usual(false);
  static Servers tight(true);
  if (size < 2) return 0;
  (data[0] % 2 == 0 ? usual : tight).Try({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
