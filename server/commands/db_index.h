// Parses the number of a database.
#pragma once

#include <limits>

#include "datatypes/keyspace.h"
#include "server/catalogue/refusals.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {

inline constexpr char kDbIndex[] = "ERR DB index is out of range";
inline constexpr char kNotInt[] = "ERR value is out of range, value must between -2147483648 and 2147483647";

}  // namespace refusals

// Parses a database number. Redis: a number beyond 32 bits has its own error, even if no such database can exist.
inline int DbNumber(Bytes word, const char* refusal, const char* refusal_of_range) {
  const int64_t number = Args::Integer(word, refusal);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    throw Refusal{refusal_of_range};
  }
  return static_cast<int>(number);
}

inline void CheckDb(const Call& call, int number) {
  if (number < 0 || number >= call.services.data.dataset.keyspace.Count()) throw Refusal{refusals::kDbIndex};
}

// Returns true for a cluster node without the setting cluster-databases, which refuses other databases as Redis does.
inline bool IsConfinedToOneDb(const Call& call) {
  return call.services.env.settings.cluster_enabled && call.services.data.dataset.keyspace.Count() == 1;
}

// Parses a database number, and refuses one that does not exist.
inline int DbIndex(const Call& call, Bytes word) {
  const int number = DbNumber(word, refusals::kNotInteger, refusals::kNotInt);
  CheckDb(call, number);
  return number;
}

}  // namespace respite
