// Geohash: maps places on earth to numbers such that neighbours get close numbers, and finds the places around a point.
//
// Longitude and latitude are each divided into 2^step equal parts; a Cell is one rectangle of that grid. The number of
// a cell interleaves the bits of both parts, latitude in the even ones. At step 26 it has 52 bits, which a double holds
// exactly: this is the score of a place in a sorted set. All members of a coarser cell have scores in one range.
//
// The arithmetic uses Redis' order of operations, so that positions and distances agree to the last digit.
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
  static constexpr double kMaxLatitude = 85.05112878;  // the limit of the square map of EPSG:3857

  double longitude = 0;
  double latitude = 0;

  bool IsOnMap() const {
    return longitude >= -kMaxLongitude && longitude <= kMaxLongitude && latitude >= -kMaxLatitude &&
           latitude <= kMaxLatitude;
  }
};

// Returns the distance along the great circle of a sphere.
double DistanceMeters(const GeoPoint& a, const GeoPoint& b);

// Returns the score of a place: the number of its cell at step 26. Requires: point.IsOnMap().
uint64_t GeoScore(const GeoPoint& point);
// Returns the centre of the cell with this score.
GeoPoint PointOfScore(double score);
// Returns the 11 characters of the common text form. Redis: the last is always 0, because 52 bits fill only ten
// characters.
std::string GeohashText(const GeoPoint& point);

// The area of a search: a circle, or a box whose sides follow meridians and parallels.
struct GeoShape {
  enum class Kind : uint8_t { kCircle, kBox };

  Kind kind = Kind::kCircle;
  GeoPoint center;
  double radius = 0;  // of a circle; lengths are in units
  double width = 0;   // of a box
  double height = 0;
  double meters_per_unit = 1;

  // Returns the distance from the centre in metres, or nullopt if the point is outside.
  std::optional<double> DistanceInside(const GeoPoint& point) const;
};

// Scores from `first` to just below `end`.
struct ScoreSpan {
  uint64_t first;
  uint64_t end;
};

// Returns spans of scores that together cover the shape. They have the order in which Redis searches them: first the
// cell of the centre, then up to eight neighbours.
std::vector<ScoreSpan> CoveringSpans(const GeoShape& shape);

}  // namespace respite
