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
    // The next directive limits how much of a damaged end of the append-only file Redis removes at startup. This server
    // removes only an incomplete last record or transaction (aof-load-truncated). If more is damaged, this server
    // reports an error and does not start.
    NewerDirective{"aof-load-corrupt-tail-max-size", kInRedis, kAnyValue},
    // The directives array-… tune how Redis stores arrays, which this server stores differently.
    NewerDirective{"array-slice-size", kInRedis88, kAnyValue},
    NewerDirective{"array-sparse-kmax", kInRedis88, kAnyValue},
    NewerDirective{"array-sparse-kmin", kInRedis88, kAnyValue},
    NewerDirective{"cluster-compatibility-sample-ratio", kInRedis, kAnyValue},
    NewerDirective{"cluster-message-gossip-perc", kInValkey, kAnyValue},
    // The next two directives tune CLUSTER MIGRATION in Redis. Migrations work differently here:
    // cluster-slot-migration-log-max-len limits how many ended ones are kept, and a pause of writes has a fixed limit.
    // So every value is ignored.
    NewerDirective{"cluster-slot-migration-max-archived-tasks", kInRedis, kAnyValue},
    NewerDirective{"cluster-slot-migration-sync-buffer-drain-timeout", kInRedis, kAnyValue},
    NewerDirective{"io-threads-always-active", kInValkey, kAnyValue},
    NewerDirective{"lazyexpire-nested-arbitrary-keys", kInRedis, "yes"},
    NewerDirective{"lua-enable-deprecated-api", kInBothLater, "no"},
    NewerDirective{"lua-enable-insecure-api", kInValkey, "no"},
    NewerDirective{"min-io-threads-avoid-copy-reply", kInValkey, kAnyValue},
    NewerDirective{"min-string-size-avoid-copy-reply", kInValkey, kAnyValue},
    NewerDirective{"min-string-size-avoid-copy-reply-threaded", kInValkey, kAnyValue},
    NewerDirective{"rdma-bind", kInValkey, ""},
    NewerDirective{"rdma-completion-vector", kInValkey, kAnyValue},
    NewerDirective{"rdma-port", kInValkey, "0"},
    NewerDirective{"rdma-rx-size", kInValkey, kAnyValue},
    NewerDirective{"repl-mptcp", kInValkey, kAnyValue},
    NewerDirective{"tls-auth-clients-user", kInBothLater, "off"},
    NewerDirective{"tls-auto-reload-interval", kInValkey, "0"},
    NewerDirective{"vset-force-single-threaded-execution", kInRedis, kAnyValue},
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
