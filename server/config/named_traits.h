// TraitsWithProductNames: the traits of the dialect, with the product names for this server's settings. With
// extended-redis-compatibility, Valkey calls itself Redis.
#pragma once

#include "server/catalogue/dialect.h"
#include "server/config/settings.h"

namespace respite {

// Returns the traits that errors, HELLO and INFO use. Cost: a copy of the traits.
inline DialectTraits TraitsWithProductNames(const Settings& settings) {  // of `emulate`, with its product names
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
