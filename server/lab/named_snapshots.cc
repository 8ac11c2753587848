#include "server/lab/named_snapshots.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/refusal.h"
#include "scripting/script_cache.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/dataset/unit.h"

namespace respite {

namespace {

constexpr char kSnapshotPath[] = "snapshot";

// Appends the length of a text, and then the text, to `packed`. The directives of a snapshot are packed into one string
// to save memory, because each world (an isolated server) keeps hundreds of such texts.
void Append(std::string& packed, Bytes text) {
  const auto size = static_cast<uint32_t>(text.size());
  packed.append(reinterpret_cast<const char*>(&size), sizeof size);
  packed += text;
}

std::string TakeText(Bytes& packed) {
  uint32_t size = 0;
  std::memcpy(&size, packed.data(), sizeof size);
  std::string text(packed.substr(sizeof size, size));
  packed.remove_prefix(sizeof size + size);
  return text;
}

std::string PackedDirectives(const Config& config) {
  std::string packed;
  for (const auto& [name, value] : config.AllPairs()) {
    Append(packed, name);
    Append(packed, value);
  }
  packed.shrink_to_fit();
  return packed;
}

Config::NamesAndValues Unpacked(Bytes packed) {
  Config::NamesAndValues directives;
  while (!packed.empty()) {
    std::string name = TakeText(packed);
    directives.emplace_back(std::move(name), TakeText(packed));
  }
  return directives;
}

}  // namespace

NamedSnapshots::NamedSnapshots(const Parts& parts) : parts_(parts), data_(parts.data, parts.lazy_free) {}
NamedSnapshots::~NamedSnapshots() = default;

// --- Saving.

NamedSnapshots::Setup NamedSnapshots::CurrentSetup() const {
  return {.directives = PackedDirectives(parts_.env.config),
          .users = UserLines(),
          .programs = CurrentPrograms(),
          .clock = parts_.clock.Save()};
}

std::string NamedSnapshots::UserLines() const {
  std::string lines;
  for (const std::string& line : parts_.users.AclFileLines()) lines += line + "\n";
  return lines;
}

NamedSnapshots::Texts NamedSnapshots::Scripts() const {
  Texts bodies;
  parts_.scripts.ForEach([&](const Script& script) { bodies.push_back(script.body); });
  std::ranges::sort(bodies);
  return bodies;
}

NamedSnapshots::Texts NamedSnapshots::CodesOf(const FunctionLibraries::Collection& libraries) {
  Texts codes;
  for (const auto& [name, library] : libraries.libraries) codes.push_back(library->code);
  return codes;
}

void NamedSnapshots::Save(Bytes name) {
  DropLost();
  Delete(name);
  all_.emplace(name,
               Snapshot{.data = data_.Save(), .setup = CurrentSetup(), .saved_wall_ms = parts_.clock.clock().WallMs()});
}

bool NamedSnapshots::Delete(Bytes name) {
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  all_.erase(found);
  return true;
}

void NamedSnapshots::DropLost() {
  std::erase_if(all_, [](const auto& named) { return DataSnapshots::IsLost(*named.second.data); });
}

// --- Reading.

const NamedSnapshots::Snapshot& NamedSnapshots::At(Bytes name) const {
  const Snapshot& snapshot = all_.find(name)->second;
  if (!DataSnapshots::IsLost(*snapshot.data)) return snapshot;
  throw Refusal{"ERR the data was replaced as a whole since the snapshot '" + std::string(name) + "', which is lost"};
}

std::vector<NamedSnapshots::Summary> NamedSnapshots::List() const {
  std::vector<Summary> list;
  for (const auto& [name, snapshot] : all_) {
    if (DataSnapshots::IsLost(*snapshot.data)) continue;
    list.push_back({name, snapshot.saved_wall_ms, data_.KeyCount(*snapshot.data),
                    DataSnapshots::StoredValueCount(*snapshot.data)});
  }
  return list;
}

std::vector<DataSnapshots::Difference> NamedSnapshots::Compare(Bytes before, Bytes after) const {
  return data_.Compare(*At(before).data, after.empty() ? nullptr : At(after).data.get());
}

// --- Restoring.

Result<Done> NamedSnapshots::CacheScripts(Bytes name) { return parts_.scripts.AddAll(At(name).setup.programs.scripts); }

void NamedSnapshots::Restore(Bytes name, Unit& unit, const Session* running) {
  const Snapshot& snapshot = At(name);
  const Programs& programs = snapshot.setup.programs;
  RestoreDirectives(snapshot.setup.directives);
  RestoreUsers(snapshot.setup.users, running);
  data_.Restore(*snapshot.data, unit);
  parts_.scripts.KeepOnly(programs.scripts);
  RestoreFunctions(programs.functions, unit);
  parts_.clock.Restore(snapshot.setup.clock);
}

// Sets only directives whose present values differ from those in `packed`, because setting a directive runs its hooks.
void NamedSnapshots::RestoreDirectives(Bytes packed) {
  const Config::NamesAndValues changed = parts_.env.config.ChangedPairs(Unpacked(packed));
  if (!changed.empty()) parts_.env.config.Set(changed, {.connection_is_local = true});
}

void NamedSnapshots::RestoreUsers(const std::string& lines, const Session* running) {
  if (lines == UserLines()) return;
  if (auto trouble = parts_.permissions.LoadAclLines(lines, kSnapshotPath, running)) throw Refusal{"ERR " + *trouble};
}

void NamedSnapshots::UndoPrograms(const Programs& programs, Unit& unit) {
  parts_.scripts.KeepOnly(programs.scripts);
  RestoreFunctions(programs.functions, unit);
}

// Replaces the function libraries by those of a snapshot, and propagates this as FUNCTION FLUSH and FUNCTION LOAD. Does
// nothing if the current libraries have the same source code.
void NamedSnapshots::RestoreFunctions(const FunctionLibraries::Contents& functions, Unit& unit) {
  const Texts codes = CodesOf(functions.loaded);
  if (codes == CodesOf(parts_.functions.Loaded())) return;
  parts_.functions.PutBack(functions);
  unit.CountChanges(1);
  if (!unit.IsRecording()) return;
  const Bytes flush[] = {"FUNCTION", "FLUSH"};
  parts_.data.propagated_commands.Add(0, flush);
  for (const std::string& code : codes) {
    const Bytes load[] = {"FUNCTION", "LOAD", code};
    parts_.data.propagated_commands.Add(0, load);
  }
}

std::optional<std::string> NamedSnapshots::CopyTo(Bytes name, Dataset& data, FunctionLibraries& functions) const {
  const Snapshot& snapshot = At(name);
  data_.CopyTo(*snapshot.data, data);
  // kAccepted limits the loading time. Without a limit, a library might run forever if the target server emulates
  // another version.
  const auto restored =
      functions.Restore(CodesOf(snapshot.setup.programs.functions.loaded), FunctionLibraries::RestorePolicy::kFlush,
                        FunctionLibraries::Origin::kAccepted);
  return restored ? std::nullopt : std::optional("its functions cannot be loaded: " + restored.error());
}

// --- The initial state.

void NamedSnapshots::RememberConfigAndUsers() {
  initial_directives_ = PackedDirectives(parts_.env.config);
  initial_users_ = UserLines();
}

void NamedSnapshots::ResetConfig() { RestoreDirectives(initial_directives_); }

void NamedSnapshots::ResetUsers(const Session* running) { RestoreUsers(initial_users_, running); }

void NamedSnapshots::ResetScripts(Unit& unit) { UndoPrograms({{}, parts_.functions.MakeEmpty().Take()}, unit); }

}  // namespace respite
