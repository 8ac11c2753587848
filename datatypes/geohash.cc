#include "datatypes/geohash.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace respite {

namespace {

constexpr double kEarthRadiusMeters = 6372797.560856;
constexpr double kMapHalfMeters = 20037726.37;  // half the width of the square map
constexpr int kFinestStep = 26;
constexpr double kRadiansPerDegree = std::numbers::pi / 180.0;

double Radians(double degrees) { return degrees * kRadiansPerDegree; }
double Degrees(double radians) { return radians / kRadiansPerDegree; }

struct Interval {
  double min;
  double max;
};
constexpr Interval kLongitudes = {-GeoPoint::kMaxLongitude, GeoPoint::kMaxLongitude};
constexpr Interval kLatitudes = {-GeoPoint::kMaxLatitude, GeoPoint::kMaxLatitude};

// Returns the lowest 32 bits of `bits` with a zero inserted before each: bit i moves to bit 2 * i.
uint64_t Spread(uint64_t bits) {
  bits &= 0xffffffff;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

// Returns the bits at even positions together in the lowest 32 bits: bit 2 * i moves to bit i. This reverses Spread.
uint64_t Gather(uint64_t bits) {
  bits &= 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return (bits | bits >> 16) & 0x00000000ffffffff;
}

// One rectangle of the grid that divides the longitudes and the latitudes of the map into 2^step parts each.
struct Cell {
  uint64_t column = 0;  // index of the longitude
  uint64_t row = 0;     // index of the latitude
  int step = kFinestStep;

  static Cell OfNumber(uint64_t number, int step) { return {Gather(number >> 1), Gather(number), step}; }
  uint64_t Number() const { return Spread(row) | Spread(column) << 1; }
  bool operator==(const Cell&) const = default;

  // Returns the cell that is `east` columns to the east of this cell, and `north` rows to the north. The grid wraps
  // around at its edges. As in Redis, points at 180 degrees east, or at the northern end of the map, are in a column or
  // row beyond the grid, and a neighbour in the same column or row is there too.
  Cell Moved(int east, int north) const {
    const auto moved = [mask = (uint64_t{1} << step) - 1](uint64_t index, int by) {
      return by == 0 ? index : (index + static_cast<uint64_t>(by)) & mask;
    };
    return {moved(column, east), moved(row, north), step};
  }
  Interval Longitudes() const { return Part(kLongitudes, column); }
  Interval Latitudes() const { return Part(kLatitudes, row); }
  ScoreSpan Scores() const {
    const int shift = 2 * (kFinestStep - step);
    return {Number() << shift, (Number() + 1) << shift};
  }

 private:
  Interval Part(const Interval& whole, uint64_t index) const {
    const double parts = static_cast<double>(uint64_t{1} << step);
    const double size = whole.max - whole.min;
    return {whole.min + static_cast<double>(index) * 1.0 / parts * size,
            whole.min + static_cast<double>(index + 1) * 1.0 / parts * size};
  }
};

uint64_t PartOf(double value, const Interval& whole, int step) {
  const double share = (value - whole.min) / (whole.max - whole.min);
  return static_cast<uint32_t>(share * static_cast<double>(uint64_t{1} << step));
}

Cell CellOf(const GeoPoint& point, int step, const Interval& latitudes = kLatitudes) {
  return {PartOf(point.longitude, kLongitudes, step), PartOf(point.latitude, latitudes, step), step};
}

double MeridianMeters(double latitude, double other) {
  return kEarthRadiusMeters * std::fabs(Radians(other) - Radians(latitude));
}

// The bounding rectangle of a shape, in degrees. Parallels get shorter away from the equator, so the edge nearer to the
// pole determines the width.
struct Bounds {
  Interval longitudes;
  Interval latitudes;
};

Bounds BoundsOfPolygon(const std::vector<GeoPoint>& vertices) {
  Bounds bounds = {{vertices[0].longitude, vertices[0].longitude}, {vertices[0].latitude, vertices[0].latitude}};
  for (const GeoPoint& vertex : vertices) {
    bounds.longitudes.min = std::min(bounds.longitudes.min, vertex.longitude);
    bounds.longitudes.max = std::max(bounds.longitudes.max, vertex.longitude);
    bounds.latitudes.min = std::min(bounds.latitudes.min, vertex.latitude);
    bounds.latitudes.max = std::max(bounds.latitudes.max, vertex.latitude);
  }
  return bounds;
}

Bounds BoundsOf(const GeoShape& shape) {
  if (shape.kind == GeoShape::Kind::kPolygon) return BoundsOfPolygon(shape.vertices);
  const bool circle = shape.kind == GeoShape::Kind::kCircle;
  const double height = shape.meters_per_unit * (circle ? shape.radius : shape.height / 2);
  const double width = shape.meters_per_unit * (circle ? shape.radius : shape.width / 2);
  const GeoPoint& center = shape.center;
  const double up = Degrees(height / kEarthRadiusMeters);
  const double pole_side = center.latitude < 0 ? center.latitude - up : center.latitude + up;
  const double aside = Degrees(width / kEarthRadiusMeters / std::cos(Radians(pole_side)));
  return {{center.longitude - aside, center.longitude + aside}, {center.latitude - up, center.latitude + up}};
}

// Returns how far the shape extends from its center, in meters: the radius of the circle around the shape.
double ReachOf(const GeoShape& shape) {
  switch (shape.kind) {
    case GeoShape::Kind::kCircle:
      return shape.radius * shape.meters_per_unit;
    case GeoShape::Kind::kBox:
      return shape.meters_per_unit *
             std::sqrt((shape.width / 2) * (shape.width / 2) + (shape.height / 2) * (shape.height / 2));
    case GeoShape::Kind::kPolygon:
      break;
  }
  double reach = 0;
  for (const GeoPoint& vertex : shape.vertices) reach = std::max(reach, DistanceMeters(shape.center, vertex));
  return reach;
}

// Returns the finest step at which a cell and its eight neighbours should cover a circle of this radius. (The grid of
// step n has 2^n columns and rows.)
int StepFor(double radius_m, double latitude) {
  if (radius_m == 0) return kFinestStep;
  int step = -1;
  for (; radius_m < kMapHalfMeters; radius_m *= 2) ++step;
  if (std::fabs(latitude) > 66) --step;  // cells are narrower towards the poles
  if (std::fabs(latitude) > 80) --step;
  return std::clamp(step, 1, kFinestStep);
}

bool NeighboursCover(const Cell& cell, const Bounds& bounds) {
  return cell.Moved(0, 1).Latitudes().max >= bounds.latitudes.max &&
         cell.Moved(0, -1).Latitudes().min <= bounds.latitudes.min &&
         cell.Moved(1, 0).Longitudes().max >= bounds.longitudes.max &&
         cell.Moved(-1, 0).Longitudes().min <= bounds.longitudes.min;
}

struct Offset {
  int east;
  int north;
};
constexpr std::array<Offset, 9> kNeighbours = {
    {{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

// Returns true if the search need not visit the neighbour of `cell` in this direction, because the shape ends within
// `cell` on that side.
bool IsNeedless(const Offset& direction, const Cell& cell, const Bounds& bounds) {
  const Interval longitudes = cell.Longitudes();
  const Interval latitudes = cell.Latitudes();
  return (direction.north < 0 && latitudes.min < bounds.latitudes.min) ||
         (direction.north > 0 && latitudes.max > bounds.latitudes.max) ||
         (direction.east < 0 && longitudes.min < bounds.longitudes.min) ||
         (direction.east > 0 && longitudes.max > bounds.longitudes.max);
}

// Returns the 52-bit geohash that a score stands for. As in Redis, geo commands accept any sorted set, so the score may
// be negative, too large or NaN. The result is then what the conversion from double to uint64_t gives on x86.
uint64_t NumberOfScore(double score) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (score >= kTwoTo63) return score < 2 * kTwoTo63 ? static_cast<uint64_t>(score) : 0;
  if (score >= -kTwoTo63) return static_cast<uint64_t>(static_cast<int64_t>(score));
  return uint64_t{1} << 63;
}

}  // namespace

double DistanceMeters(const GeoPoint& a, const GeoPoint& b) {
  const double v = std::sin((Radians(b.longitude) - Radians(a.longitude)) / 2);
  if (v == 0.0) return MeridianMeters(a.latitude, b.latitude);
  const double a_latitude = Radians(a.latitude);
  const double b_latitude = Radians(b.latitude);
  const double u = std::sin((b_latitude - a_latitude) / 2);
  const double half_chord_squared = u * u + std::cos(a_latitude) * std::cos(b_latitude) * v * v;
  return 2.0 * kEarthRadiusMeters * std::asin(std::sqrt(half_chord_squared));
}

uint64_t GeoScore(const GeoPoint& point) { return CellOf(point, kFinestStep).Number(); }

GeoPoint PointOfScore(double score) {
  const Cell cell = Cell::OfNumber(NumberOfScore(score), kFinestStep);
  const Interval longitudes = cell.Longitudes();
  const Interval latitudes = cell.Latitudes();
  return {std::clamp((longitudes.min + longitudes.max) / 2, kLongitudes.min, kLongitudes.max),
          std::clamp((latitudes.min + latitudes.max) / 2, kLatitudes.min, kLatitudes.max)};
}

std::string GeohashText(const GeoPoint& point) {
  constexpr Bytes kDigits = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr int kTextDigits = 11;
  constexpr int kWholeDigits = 10;  // 50 of the 52 bits
  const uint64_t number = CellOf(point, kFinestStep, {-90, 90}).Number();
  std::string text(kTextDigits, kDigits[0]);
  for (size_t i = 0; i < kWholeDigits; ++i) text[i] = kDigits[(number >> (52 - 5 * (i + 1))) & 31];
  return text;
}

// The center of the polygon is the mean of its vertices as vectors from the center of the Earth, as in Valkey.
GeoShape GeoShape::Polygon(std::vector<GeoPoint> vertices) {
  double x = 0;
  double y = 0;
  double z = 0;
  for (const GeoPoint& vertex : vertices) {
    const double longitude = Radians(vertex.longitude);
    const double latitude = Radians(vertex.latitude);
    x += std::cos(latitude) * std::cos(longitude);
    y += std::cos(latitude) * std::sin(longitude);
    z += std::sin(latitude);
  }
  GeoShape shape;
  shape.kind = Kind::kPolygon;
  shape.center = {Degrees(std::atan2(y, x)), Degrees(std::atan2(z, std::hypot(x, y)))};
  shape.vertices = std::move(vertices);
  return shape;
}

// Counts the sides of the polygon that a ray from the point to the east crosses. The number is odd if the point is
// inside.
bool GeoShape::PolygonHas(const GeoPoint& point) const {
  bool inside = false;
  for (size_t i = 0, before = vertices.size() - 1; i < vertices.size(); before = i++) {
    const GeoPoint& a = vertices[i];
    const GeoPoint& b = vertices[before];
    if ((a.latitude > point.latitude) == (b.latitude > point.latitude)) continue;
    const double share = (point.latitude - a.latitude) / (b.latitude - a.latitude);
    if (point.longitude < a.longitude + share * (b.longitude - a.longitude)) inside = !inside;
  }
  return inside;
}

std::optional<double> GeoShape::DistanceIfInside(const GeoPoint& point) const {
  if (kind == Kind::kPolygon) return PolygonHas(point) ? std::optional(DistanceMeters(center, point)) : std::nullopt;
  if (kind == Kind::kCircle) {
    const double distance = DistanceMeters(center, point);
    return distance > radius * meters_per_unit ? std::nullopt : std::optional(distance);
  }
  if (MeridianMeters(center.latitude, point.latitude) > height * meters_per_unit / 2) return std::nullopt;
  const GeoPoint beside = {center.longitude, point.latitude};
  if (DistanceMeters(point, beside) > width * meters_per_unit / 2) return std::nullopt;
  return DistanceMeters(center, point);
}

std::vector<ScoreSpan> CoveringSpans(const GeoShape& shape) {
  const Bounds bounds = BoundsOf(shape);
  int step = StepFor(ReachOf(shape), shape.center.latitude);
  Cell center = CellOf(shape.center, step);
  if (step > 1 && !NeighboursCover(center, bounds)) center = CellOf(shape.center, --step);

  std::vector<ScoreSpan> spans;
  std::optional<Cell> last;  // the previous neighbour; Redis: does not compare neighbours with the center
  for (const Offset& direction : kNeighbours) {
    const bool in_center = direction.east == 0 && direction.north == 0;
    const Cell cell = in_center ? center : center.Moved(direction.east, direction.north);
    if (cell == last) continue;  // in a coarse grid both sides are the same cell
    if (step >= 2 && IsNeedless(direction, center, bounds)) continue;
    spans.push_back(cell.Scores());
    if (!in_center) last = cell;
  }
  return spans;
}

}  // namespace respite
