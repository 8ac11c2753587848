// Geohash: places on earth as numbers that keep neighbours close together, and the search for what lies around a place.
//
// Longitude and latitude are each cut into 2^step equal parts; a Cell is one rectangle of that grid. The number of a
// cell interleaves the bits of both parts, latitude in the even ones. At step 26 it has 52 bits, which a double holds
// exactly: the score under which a sorted set keeps a place. All members of a coarser cell have scores in one range.
//
// The arithmetic is done in the order Redis does it, so that positions and distances agree to the last digit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

struct GeoPoint {
  static constexpr double kMaxLongitude = 180;
  static constexpr double kMaxLatitude = 85.05112878;  // where the square map of EPSG:3857 ends

  double longitude = 0;
  double latitude = 0;

  bool IsOnMap() const {
    return longitude >= -kMaxLongitude && longitude <= kMaxLongitude && latitude >= -kMaxLatitude &&
           latitude <= kMaxLatitude;
  }
};

// Metres along the great circle, on a sphere.
double DistanceMeters(const GeoPoint& a, const GeoPoint& b);

// The score of a place: the number of its cell at step 26. Requires: point.IsOnMap().
uint64_t GeoScore(const GeoPoint& point);
// The middle of the cell with this score.
GeoPoint PointOfScore(double score);
// The 11 characters of the widely used text form. Redis: the last is always 0, since 52 bits make ten and a bit.
std::string GeohashText(const GeoPoint& point);

// What a search takes: a circle, or a box whose sides follow meridians and parallels.
struct GeoShape {
  enum class Kind : uint8_t { kCircle, kBox };

  Kind kind = Kind::kCircle;
  GeoPoint center;
  double radius = 0;  // of a circle; lengths are in units
  double width = 0;   // of a box
  double height = 0;
  double meters_per_unit = 1;

  // The distance from the centre in metres, nothing when the point is outside.
  std::optional<double> DistanceInside(const GeoPoint& point) const;
};

// Scores from `first` to just below `end`.
struct ScoreSpan {
  uint64_t first;
  uint64_t end;
};

// The spans of scores that together hold every place inside the shape, in the order in which Redis looks through them:
// the cell of the centre, then up to eight neighbours.
std::vector<ScoreSpan> CoveringSpans(const GeoShape& shape);

}  // namespace respite
