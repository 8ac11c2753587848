#include "scripting/function_header.h"

#include <algorithm>
#include <optional>

#include "scripting/script_header.h"

namespace respite {

namespace {

constexpr Bytes kMark = "#!";
constexpr Bytes kNameOption = "name=";
constexpr char kInvalid[] = "Invalid library metadata";

bool IsNameOption(Bytes option) { return EqualsIgnoreCase(option.substr(0, kNameOption.size()), kNameOption); }

Result<std::string> ReadName(const std::vector<std::string>& options) {
  std::optional<std::string> name;
  for (const std::string& option : options) {
    if (!IsNameOption(option)) return Failure("Invalid metadata value given: " + option);
    if (name) return Failure("Invalid metadata value, name argument was given multiple times");
    name = option.substr(kNameOption.size());
  }
  if (!name) return Failure("Library name was not given");
  return std::move(*name);
}

}  // namespace

bool IsLibraryOrFunctionName(Bytes name) {
  const auto fits = [](char c) { return IsDigit(c) || c == '_' || (LowerChar(c) >= 'a' && LowerChar(c) <= 'z'); };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

Result<FunctionHeader> ReadFunctionHeader(Bytes code) {
  if (!code.starts_with(kMark)) return Failure("Missing library metadata");
  const std::optional<Shebang> shebang = ReadShebang(code);
  if (!shebang || shebang->engine.empty()) return Failure(kInvalid);
  Result<std::string> name = ReadName(shebang->options);
  if (!name) return Failure(std::move(name).error());
  if (!IsLibraryOrFunctionName(name.value())) return Failure(kBadFunctionName);
  const std::string engine = shebang->engine.substr(std::min(kMark.size(), shebang->engine.size()));
  if (!EqualsIgnoreCase(engine, "lua")) return Failure("Engine '" + engine + "' not found");
  return FunctionHeader{.name = std::move(name).value(), .size = shebang->size};
}

}  // namespace respite
