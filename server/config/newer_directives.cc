#include "server/config/newer_directives.h"

#include <algorithm>
#include <array>

namespace respite {
namespace {

constexpr std::string_view kInRedis = "Redis 8.6";
constexpr std::string_view kInRedis88 = "Redis 8.8";
constexpr std::string_view kInValkey = "Valkey 9.1";
constexpr std::string_view kInBothLater = "Redis 8.6 and Valkey 9.1";
constexpr std::nullopt_t kAnyValue = std::nullopt;

// Directives of Redis and Valkey that this server does not have, whatever `emulate` says, sorted by name, each with its
// harmless value. A line with a harmless value is ignored; with any other value, the server does not start. kAnyValue:
// every value is harmless, because the directive tunes a component that does not exist here or works differently. For
// the other directives, only the default is harmless.
constexpr std::array kNewerDirectives = {
    // The directives array-… tune how Redis stores arrays, which this server stores differently.
    NewerDirective{"array-slice-size", kInRedis88, kAnyValue},
    NewerDirective{"array-sparse-kmax", kInRedis88, kAnyValue},
    NewerDirective{"array-sparse-kmin", kInRedis88, kAnyValue},
    NewerDirective{"lazyexpire-nested-arbitrary-keys", kInRedis, "yes"},
    NewerDirective{"lua-enable-deprecated-api", kInBothLater, "no"},
    NewerDirective{"lua-enable-insecure-api", kInValkey, "no"},
    NewerDirective{"tls-auth-clients-user", kInBothLater, "off"},
    NewerDirective{"tls-auto-reload-interval", kInValkey, "0"},
};

}  // namespace

bool NewerDirective::IsHarmless(ConfigWords words) const {
  if (words.size() != 1) return false;
  return !only_harmless_value || EqualsIgnoreCase(words[0], *only_harmless_value);
}

std::span<const NewerDirective> NewerDirectives() { return kNewerDirectives; }

bool IsModuleDirective(Bytes name) {
  constexpr std::array<Bytes, 4> kPrefixes = {"search-", "ts-", "bf-", "cf-"};
  return std::ranges::any_of(kPrefixes, [name](Bytes prefix) { return name.starts_with(prefix); });
}

const NewerDirective* FindNewerDirective(Bytes name) {
  const auto* const found = std::ranges::find(kNewerDirectives, name, &NewerDirective::name);
  return found == kNewerDirectives.end() ? nullptr : found;
}

}  // namespace respite
