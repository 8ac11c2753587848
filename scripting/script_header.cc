#include "scripting/script_header.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace respite {

namespace {

struct FlagName {
  ScriptFlag flag;
  std::string_view name;
};
constexpr std::array<FlagName, 5> kFlagNames = {{{kScriptNoWrites, "no-writes"},
                                                 {kScriptAllowOom, "allow-oom"},
                                                 {kScriptAllowStale, "allow-stale"},
                                                 {kScriptNoCluster, "no-cluster"},
                                                 {kScriptAllowCrossSlotKeys, "allow-cross-slot-keys"}}};

// The maximum size of the header line in bytes. Each of its words becomes a string of its own, which may need 16 times
// the memory of the word. The limits of scripts do not apply to this memory and time.
constexpr size_t kMaxHeaderBytes = 64 * 1024;

Result<uint32_t> ReadFlags(Bytes list) {
  uint32_t flags = 0;
  for (size_t begin = 0; begin <= list.size() && !list.empty();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const Bytes name = list.substr(begin, end - begin);
    const std::optional<ScriptFlag> flag = FindScriptFlag(name);
    if (!flag) return Failure("Unexpected flag in script shebang: " + std::string(name));
    flags |= *flag;
    begin = end + 1;
  }
  return flags;
}

}  // namespace

std::optional<ScriptFlag> FindScriptFlag(Bytes name) {
  for (const FlagName& known : kFlagNames) {
    if (known.name == name) return known.flag;
  }
  return std::nullopt;
}

std::vector<std::string_view> ScriptFlagNames(uint32_t flags) {
  std::vector<std::string_view> names;
  for (const FlagName& known : kFlagNames) {
    if ((flags & known.flag) != 0) names.push_back(known.name);
  }
  return names;
}

std::optional<Shebang> ReadShebang(Bytes body) {
  const size_t end = body.substr(0, kMaxHeaderBytes + 1).find('\n');
  if (end == Bytes::npos) return std::nullopt;
  const Bytes line = body.substr(0, end);
  if (line.find('\0') != Bytes::npos) return std::nullopt;
  auto words = SplitQuoted(line);
  if (!words || words->empty()) return Shebang{.engine = {}, .options = {}, .size = end};
  Shebang shebang{.engine = std::move(words->front()), .options = {}, .size = end};
  shebang.options.assign(std::make_move_iterator(words->begin() + 1), std::make_move_iterator(words->end()));
  return shebang;
}

Result<ScriptHeader> ReadScriptHeader(Bytes body, bool knows_engines) {
  constexpr Bytes kFlagsOption = "flags=";
  if (!body.starts_with("#!")) return ScriptHeader{};
  const std::optional<Shebang> shebang = ReadShebang(body);
  if (!shebang) return Failure("Invalid script shebang");
  if (shebang->engine.empty()) return Failure("Invalid engine in script shebang");
  if (!knows_engines && shebang->engine != "#!lua") {
    return Failure("Unexpected engine in script shebang: " + shebang->engine);
  }
  ScriptHeader header{.flags = 0, .size = shebang->size};
  for (const std::string& option : shebang->options) {
    if (!option.starts_with(kFlagsOption)) return Failure("Unknown lua shebang option: " + option);
    const Result<uint32_t> flags = ReadFlags(Bytes(option).substr(kFlagsOption.size()));
    if (!flags) return Failure(std::string(flags.error()));
    header.flags |= flags.value();
  }
  if (knows_engines && !EqualsIgnoreCase(shebang->engine, "#!lua")) {
    return Failure("Could not find scripting engine '" + shebang->engine.substr(2) + "'");
  }
  return header;
}

}  // namespace respite
