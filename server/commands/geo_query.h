// GeoQuery: what GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS commands are asked for.
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

  // Redis: the nearest are chosen unless ANY are good enough.
  bool IsSorted() const { return order != Order::kNone || (count > 0 && !takes_any); }
};

// The position of a member, nothing if it is not there.
std::optional<GeoPoint> PlaceOf(const SortedSet& places, Bytes member);
// Two words. Throws what is said of words that are no numbers, or off the map.
GeoPoint TakePoint(Args& args);
// Metres in `m`, `km`, `ft` or `mi`.
double MetersPerUnit(Bytes unit);

// Reads the words behind the keys. A search may be for what lies around a member of `places`. Redis: where there is no
// such key, options are checked all the same, but not whether the member is there.
GeoQuery ParseGeoQuery(Args& args, const SortedSet& places, GeoForm form);

}  // namespace respite
