#include "persistence/rdb_sink.h"

#include <algorithm>

#include "base/str_cat.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_module.h"

namespace respite {

namespace {

constexpr char kNoModule[] = "no matching module";

}  // namespace

RdbHeader ParseRdbHeader(Bytes bytes, RdbReadOptions::Versions versions) {
  static_assert(kRdbHeaderBytes == rdb::kSignature.size() + rdb::kVersionDigits);
  static_assert(kRdbHeaderBytes == rdb::kValkeySignature.size() + rdb::kValkeyVersionDigits);
  const bool is_valkey = bytes.starts_with(rdb::kValkeySignature);
  if (!is_valkey && !bytes.starts_with(rdb::kSignature)) {
    return {0, RdbFailure::Kind::kSignature, "Wrong signature trying to load DB from file"};
  }
  int version = 0;
  for (char digit : bytes.substr(is_valkey ? rdb::kValkeySignature.size() : rdb::kSignature.size())) {
    version = IsDigit(digit) ? version * 10 + (digit - '0') : -1000;
  }
  version = std::max(version, 0);
  const bool is_any = versions == RdbReadOptions::Versions::kAll;
  const bool is_known = is_valkey ? version == rdb::kValkeyVersion : version <= rdb::kNewestVersion;
  const rdb::Dialect dialect = is_valkey ? rdb::Dialect::kValkey : rdb::Dialect::kRedis;
  if (version >= 1 && (is_any || is_known)) return {version, std::nullopt, {}, dialect};
  return {version, RdbFailure::Kind::kVersion, StrCat("Can't handle RDB format version ", version)};
}

Result<Done> RdbSink::OnModuleAux(Bytes module) {
  return Failure("The RDB file contains AUX module data I can't load: " + std::string(kNoModule) + " '" +
                 std::string(module) + "'");
}

Result<Done> RdbSink::OnModuleValue(Bytes module) {
  constexpr char kCannotLoad[] = "The RDB file contains module data I can't load: ";
  // A known module: so the value has an encoding that only old versions of the module have written.
  if (module == rdb::kJsonModule) return Failure(StrCat(kCannotLoad, "a document of RedisJSON 1 ('", module, "')"));
  return Failure(StrCat(kCannotLoad, kNoModule, " type '", module, "'"));
}

}  // namespace respite
