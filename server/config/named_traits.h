// TraitsWithProductNames: the traits of the emulated version (dialect.h), but if extended-redis-compatibility is set,
// Valkey calls itself Redis.
#pragma once

#include "server/catalogue/dialect.h"
#include "server/config/settings.h"

namespace respite {

// Returns the traits of the emulated version, with the product name and version that errors, HELLO and INFO show. Cost:
// a copy of the traits.
inline DialectTraits TraitsWithProductNames(const Settings& settings) {  // traits of `emulate`, or with Redis' names
  DialectTraits traits = DialectOf(settings.emulate).traits;
  if (!settings.extended_redis_compatibility) return traits;
  constexpr DialectTraits kRedis;
  traits.title = kRedis.title;
  traits.hello_name = kRedis.hello_name;
  traits.version = traits.redis_version;
  traits.mode_field = kRedis.mode_field;
  return traits;
}

}  // namespace respite
