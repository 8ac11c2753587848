// GeoQuery: the arguments of GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS commands.
#pragma once

#include <cstdint>
#include <optional>

#include "datatypes/geohash.h"
#include "datatypes/sorted_set.h"
#include "server/execution/args.h"

namespace respite {

enum class GeoForm : uint8_t {
  kSearch,          // GEOSEARCH
  kSearchStore,     // GEOSEARCHSTORE
  kRadius,          // GEORADIUS
  kRadiusReadOnly,  // GEORADIUS_RO
  kRadiusByMember,  // GEORADIUSBYMEMBER
  kRadiusByMemberReadOnly,
};

struct GeoQuery {
  enum class Order : uint8_t { kNone, kNearestFirst, kFarthestFirst };

  GeoShape shape;
  Order order = Order::kNone;
  int64_t count = 0;  // 0: all
  bool takes_any = false;
  bool with_distance = false;
  bool with_hash = false;
  bool with_point = false;
  std::optional<Bytes> store_key;
  bool stores_distance = false;

  // Redis: COUNT without ANY selects the nearest places.
  bool IsSorted() const { return order != Order::kNone || (count > 0 && !takes_any); }
};

// Returns the position of a member, or nullopt if there is none.
std::optional<GeoPoint> PlaceOf(const SortedSet& places, Bytes member);
// Takes longitude and latitude. Throws if they are not numbers or out of range.
GeoPoint TakePoint(Args& args);
// Returns the number of metres in one `m`, `km`, `ft` or `mi`.
double MetersPerUnit(Bytes unit);

// Parses the arguments after the keys. A search may be centred on a member of `places`. Redis: if `places` does not
// exist, options are checked, but the member is not.
GeoQuery ParseGeoQuery(Args& args, const SortedSet& places, GeoForm form);

}  // namespace respite
