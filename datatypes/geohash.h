// Geohash: maps places on earth to numbers, usually close numbers for neighbours, and finds the places around a point.
//
// Longitude and latitude are each divided into 2^step equal parts; a Cell is one rectangle of that grid. The number of
// a cell interleaves the bits of both indexes, with latitude at the even positions. At step 26 the number has 52 bits,
// which a double holds exactly, and is the score of a place in a sorted set. All places in a coarser cell have scores
// in one range.
//
// The arithmetic uses Redis' order of operations, so that positions and distances equal those of Redis to the last
// digit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

struct GeoPoint {                                      // a place on earth
  static constexpr double kMaxLongitude = 180;         // degrees
  static constexpr double kMaxLatitude = 85.05112878;  // degrees; the limit of the square map of EPSG:3857

  double longitude = 0;  // degrees, east of Greenwich positive
  double latitude = 0;   // degrees, north of the equator positive

  bool IsOnMap() const {  // true: GEOADD accepts this point
    return longitude >= -kMaxLongitude && longitude <= kMaxLongitude && latitude >= -kMaxLatitude &&
           latitude <= kMaxLatitude;
  }
};

// The earth counts as a sphere.
double DistanceMeters(const GeoPoint& a, const GeoPoint& b);  // meters along the great circle between two points

// The score is the number of the cell at step 26. Requires: point.IsOnMap().
uint64_t GeoScore(const GeoPoint& point);  // the score of a place in a sorted set: a geohash of 52 bits
GeoPoint PointOfScore(double score);       // the center of the geohash cell with this score
// As in Redis, the last character is always 0, because 52 bits fill only ten characters.
std::string GeohashText(const GeoPoint& point);  // the geohash as 11 characters, as GEOHASH replies

// A point is in a box if it is at most height / 2 north or south of the center, and at most width / 2 from the center's
// meridian, measured in meters at the latitude of the point. So a box spans more degrees of longitude nearer the pole.
// The sides of a polygon are straight lines on a map whose axes are longitude and latitude.
struct GeoShape {  // the area of a search with GEOSEARCH: a circle, a box or a polygon
  enum class Kind : uint8_t { kCircle, kBox, kPolygon };

  static GeoShape Polygon(std::vector<GeoPoint> vertices);  // the polygon, whose center is the mean of its vertices

  Kind kind = Kind::kCircle;
  GeoPoint center;                      // the middle of the circle or box; for a polygon, the mean of its vertices
  double radius = 0;                    // of a circle, in units of meters_per_unit
  double width = 0;                     // width of a box (west to east), in units of meters_per_unit
  double height = 0;                    // of a box from south to north, in units of meters_per_unit
  double meters_per_unit = 1;           // meters per unit of radius, width and height: 1000 for km
  std::vector<GeoPoint> vertices = {};  // corners of a polygon, in order

  std::optional<double> DistanceIfInside(const GeoPoint& point) const;  // meters from center; nullopt: outside

 private:
  bool PolygonHas(const GeoPoint& point) const;  // true: the point is inside the polygon
};

struct ScoreSpan {  // a range of geohash scores: first <= score < end
  uint64_t first;   // the lowest score
  uint64_t end;
};

// Searches the cells that Redis searches, in the order of Redis: first the cell of the center, then up to eight
// neighbours. The cells are chosen so that together they cover the shape.
std::vector<ScoreSpan> CoveringSpans(const GeoShape& shape);  // ranges of scores that a search of the shape visits

}  // namespace respite
