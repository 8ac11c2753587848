// GeoQuery: the arguments of GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS commands.
#pragma once

#include <cstdint>
#include <optional>

#include "datatypes/geohash.h"
#include "datatypes/sorted_set.h"
#include "server/execution/args.h"

namespace respite {

struct DialectTraits;

enum class GeoForm : uint8_t {
  kSearch,                  // GEOSEARCH
  kSearchStore,             // GEOSEARCHSTORE
  kRadius,                  // GEORADIUS
  kRadiusReadOnly,          // GEORADIUS_RO
  kRadiusByMember,          // GEORADIUSBYMEMBER
  kRadiusByMemberReadOnly,  // GEORADIUSBYMEMBER_RO
};

struct GeoQuery {  // the arguments of GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS commands
  enum class Order : uint8_t { kNone, kNearestFirst, kFarthestFirst };

  GeoShape shape;                        // the circle, box or polygon that is searched
  Order order = Order::kNone;            // order by distance, given by ASC or DESC
  int64_t count = 0;                     // maximum number of places; 0: all
  bool takes_any = false;                // ANY: takes the first `count` places found, not the nearest ones
  bool with_distance = false;            // WITHDIST: replies with the distance of each place
  bool with_hash = false;                // WITHHASH: replies with the geohash of each place
  bool with_coordinates = false;         // WITHCOORD: replies with the coordinates of each place
  std::optional<Bytes> store_key;        // GEORADIUS … STORE or STOREDIST: key for the result; nullopt: not given
  bool stores_distance = false;          // STOREDIST: the stored scores are distances, not geohashes
  bool has_only_decimal_numbers = true;  // false: a number is hexadecimal or begins with a blank

  // As in Redis, COUNT without ANY selects the nearest places, so the places must be sorted.
  bool IsSorted() const { return order != Order::kNone || (count > 0 && !takes_any); }  // places are sorted by distance
};

std::optional<GeoPoint> CoordinatesOf(const SortedSet& places, Bytes member);  // a member's position; nullopt: absent
enum class GeoNumbers : uint8_t { kAny, kDecimal };  // kDecimal: hexadecimal numbers and leading blanks are refused
GeoPoint TakePoint(Args& args, GeoNumbers numbers);  // takes longitude and latitude; throws if they are out of range
double MetersPerUnit(Bytes unit);                    // meters per `m`, `km`, `ft` or `mi`; throws a Refusal for others

// Parses the arguments after the keys. `places` is needed to find the member at the center of the search. As in Redis,
// it is no error if `places` does not exist.
GeoQuery ParseGeoQuery(Args& args, const SortedSet& places, GeoForm form,  // parses the arguments after the keys
                       const DialectTraits& traits);

}  // namespace respite
