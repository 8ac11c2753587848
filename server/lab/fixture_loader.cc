#include "server/lab/fixture_loader.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "persistence/aof_manifest.h"
#include "persistence/file_head.h"
#include "persistence/file_system.h"
#include "server/catalogue/command_table.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/unit.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/gates.h"
#include "server/execution/services.h"
#include "server/lab/fixture_formats.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_loader.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

using Reason = std::optional<std::string>;

// Other clients are served after this number of requests, or after this time if requests (such as scripts) are slow.
constexpr size_t kServeOthersEvery = 4096;
constexpr int64_t kLongestSilenceMs = 100;

constexpr char kUnknownFormat[] =
    "the name must end in .rdb, .aof, .resp, .redis or .json, or be that of the folder of an append-only file";

class FixtureLoader {
 public:
  explicit FixtureLoader(const Services& services)
      : services_(services), user_(services.clients.users.MakeUnlimitedUser()) {}

  Reason Load(const std::string& path);

 private:
  Reason LoadText(const std::string& path, FixtureFormat format);
  Reason LoadSnapshot(const std::string& path);
  Reason LoadAppendOnlyFile(const std::string& path);
  Reason LoadFolder(const std::string& path);
  // Runs the requests one after the other, beginning in database 0. `rule` says whether expired keys are removed: not
  // while an append-only file is loaded, because the file contains the commands that remove them.
  Reason Run(const Fixture& fixture, ExpiryRule rule);
  Reason RunOne(Session& session, const Fixture::Request& request, ExpiryRule rule);

  const Services& services_;
  const User user_;  // with all permissions
};

Bytes ExtensionOf(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos || path.find('/', dot) != std::string::npos ? Bytes() : Bytes(path).substr(dot + 1);
}

Reason FixtureLoader::Load(const std::string& path) {
  const FileSystem::Kind kind = services_.env.files.KindOf(path);
  if (kind == FileSystem::Kind::kDirectory) return LoadFolder(path);
  const auto format = FixtureFormatOf(ExtensionOf(path));
  if (!format) return kUnknownFormat;
  if (*format == FixtureFormat::kRdb) return LoadSnapshot(path);
  return *format == FixtureFormat::kAof ? LoadAppendOnlyFile(path) : LoadText(path, *format);
}

Reason FixtureLoader::LoadText(const std::string& path, FixtureFormat format) {
  const auto text = ReadFile(services_.env.files, path, UINT64_MAX);
  if (!text) return IoErrorText(text.error());
  const auto fixture = ReadFixtureText(text.value(), format);
  return fixture ? Run(fixture.value(), ExpiryRule::kPurge) : Reason(fixture.error());
}

Reason FixtureLoader::LoadSnapshot(const std::string& path) {
  auto file = services_.env.files.Open(path, FileSystem::Mode::kRead);
  if (!file) return IoErrorText(file.error());
  const auto end = LoadRdb(services_, *file.value(), path, 0, {.duplicates = RdbLoadOptions::Duplicates::kReplace});
  if (end.outcome != LoadOutcome::kLoaded) return "this snapshot cannot be loaded; the lines above say why";
  return std::nullopt;
}

Reason FixtureLoader::LoadAppendOnlyFile(const std::string& path) {
  auto file = services_.env.files.Open(path, FileSystem::Mode::kRead);
  if (!file) return IoErrorText(file.error());
  const auto head = DetectFileFormat(*file.value());
  if (!head) return IoErrorText(head.error());
  if (head.value().kind == FileFormat::Kind::kOther) return "it is " + head.value().what;
  uint64_t offset = 0;
  if (head.value().kind == FileFormat::Kind::kRdb) {
    const RdbLoadOptions options = {.expired = RdbLoadOptions::Expired::kKeep,
                                    .duplicates = RdbLoadOptions::Duplicates::kReplace};
    const auto end = LoadRdb(services_, *file.value(), path, 0, options);
    if (end.outcome != LoadOutcome::kLoaded) return "its snapshot cannot be loaded; the lines above say why";
    offset = end.offset;
  }
  const auto fixture = ReadRespFixture(*file.value(), offset);
  return fixture ? Run(fixture.value(), ExpiryRule::kIgnoreDeadlines) : Reason(fixture.error());
}

Reason FixtureLoader::LoadFolder(const std::string& path) {
  auto names = services_.env.files.List(path);
  if (!names) return IoErrorText(names.error());
  std::erase_if(names.value(), [](const std::string& name) { return !name.ends_with(".manifest"); });
  if (names.value().size() != 1) {
    return StrCat("there are ", names.value().size(), " files *.manifest in this folder instead of one");
  }
  const std::string& name = names.value()[0];
  const auto text = ReadFile(services_.env.files, path + "/" + name, UINT64_MAX);
  if (!text) return name + ": " + IoErrorText(text.error());
  const auto manifest = AofManifest::Parse(text.value());
  if (!manifest) return name + ": " + manifest.error().why;
  std::vector<AofManifest::Part> parts = manifest.value().incrementals();
  if (manifest.value().base()) parts.insert(parts.begin(), *manifest.value().base());
  for (const AofManifest::Part& part : parts) {
    if (auto reason = LoadAppendOnlyFile(path + "/" + part.name)) return part.name + ": " + *reason;
  }
  return std::nullopt;
}

Reason FixtureLoader::Run(const Fixture& fixture, ExpiryRule rule) {
  const std::unique_ptr<Session> session = services_.clients.registry.CreateDetached();
  session->user = &user_;
  size_t done = 0;
  int64_t served_ms = services_.env.real_clock.NowMs();
  for (const Fixture::Request& request : fixture.requests) {
    if (auto reason = RunOne(*session, request, rule)) return request.place + ": " + *reason;
    const int64_t now_ms = services_.env.real_clock.NowMs();
    if (++done % kServeOthersEvery != 0 && now_ms - served_ms < kLongestSilenceMs) continue;
    served_ms = now_ms;
    // Lets other clients be served. Reports 0 bytes of progress, because the size of these requests in bytes is not
    // known.
    if (services_.storage.loading.Advance(0) == Loading::Order::kStop) return "the server was stopped meanwhile";
  }
  return std::nullopt;
}

// Runs one request of a fixture. Returns nullopt, or the error. Skips MULTI and EXEC: clients do not see the data
// before all requests have run anyway.
Reason FixtureLoader::RunOne(Session& session, const Fixture::Request& request, ExpiryRule rule) {
  const std::vector<Bytes> words(request.words.begin(), request.words.end());
  const Command* const command = services_.execution.executor.Resolve(words);
  if (command == nullptr) return "unknown command " + Quoted(words[0]);
  const TransactionRole role = command->Spec().transaction;
  if (role == TransactionRole::kBegins || role == TransactionRole::kExecutes) return std::nullopt;
  if (!IsAllowedInStreams(*command)) return command->full_name + " makes no data, so it has no place in a fixture";
  Unit unit(services_.data.dataset, services_.env.clock.WallMs(), rule, Unit::Origin::kReplayed);
  const auto done = services_.execution.executor.Replay(RequestPath::kFixture, unit, session, *command, words);
  return done ? Reason() : command->full_name + ": " + done.error();
}

Reason Check(const Settings& settings) {
  if (settings.cluster_enabled)
    return "a node of a cluster loads no fixtures: a client can send them where they belong";
  if (settings.replicaof) return "a replica loads no fixtures, since it has the data of its primary";
  return std::nullopt;
}

Reason LoadAll(const Services& services) {
  FixtureLoader loader(services);
  for (const std::string& path : services.env.settings.load) {
    if (auto reason = loader.Load(path)) return "load: " + path + ": " + *reason;
    services.env.log.Notice("Fixture loaded from " + path);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> LoadFixtures(const Services& services) {
  if (services.env.settings.load.empty()) return std::nullopt;
  if (auto reason = Check(services.env.settings)) return "load: " + *reason;
  services.storage.loading.Begin(0);
  Reason reason;
  {
    const Journals::Mute silence(services.data.dataset.journals);
    reason = LoadAll(services);
  }
  services.storage.loading.End();
  // Forgets the replication history that the server's RDB file names, because the fixtures have changed the data.
  services.storage.loading.file_history() = {};
  services.storage.loading.TakeSkippedExpiredKeys();
  if (!reason && services.storage.aof.IsOn()) services.storage.aof.Rewrite();
  return reason;
}

}  // namespace respite
