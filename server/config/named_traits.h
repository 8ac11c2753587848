// NamedTraits: the traits of the dialect, with the names that the server gives itself. They follow the settings,
// because Valkey's extended-redis-compatibility makes it say that it is Redis.
#pragma once

#include "server/catalogue/dialect.h"
#include "server/config/settings.h"

namespace respite {

// For errors, HELLO and INFO. Cost: a copy of the traits.
inline DialectTraits NamedTraits(const Settings& settings) {
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
