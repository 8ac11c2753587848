#include "server/commands/sorted_sets/geo_query.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "server/catalogue/dialect.h"
#include "server/commands/sorted_sets/sorted_set_words.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kGeoUnit[] = "ERR unsupported unit provided. please use M, KM, FT, MI";
constexpr char kGeoRadiusNotNumber[] = "ERR need numeric radius";
constexpr char kGeoWidthNotNumber[] = "ERR need numeric width";
constexpr char kGeoHeightNotNumber[] = "ERR need numeric height";
constexpr char kGeoRadiusNegative[] = "ERR radius cannot be negative";
constexpr char kGeoBoxNegative[] = "ERR height or width cannot be negative";
constexpr char kGeoVertexCount[] = "ERR invalid number of vertices";
constexpr char kGeoTooFewVertices[] = "ERR GEOSEARCH BYPOLYGON must have at least 3 vertices";
constexpr char kGeoNoSuchMember[] = "ERR could not decode requested zset member";
Refusal GeoMemberAbsent(Bytes member) { return {"ERR member " + std::string(member) + " does not exist"}; }
constexpr char kGeoCountNotPositive[] = "ERR COUNT must be > 0";
constexpr char kGeoAnyWithoutCount[] = "ERR the ANY argument requires COUNT argument";
constexpr char kGeoRadiusStoreWith[] =
    "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
constexpr char kGeoSearchStoreWith[] =
    "ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
Refusal GeoCoordinates(double longitude, double latitude) {
  return {"ERR invalid longitude,latitude pair " + FixedText(longitude, 6) + "," + FixedText(latitude, 6)};
}
// The error for a request that has none or both of two options, of which it must have exactly one. `choice` names the
// options, for example "FROMMEMBER or FROMLONLAT". `command` is the name of the command as the client wrote it.
Refusal GeoExactlyOne(Bytes choice, Bytes command) {
  return {"ERR exactly one of " + std::string(choice) + " can be specified for " + std::string(command)};
}

}  // namespace
}  // namespace refusals

namespace {

double TakeGeoNumber(Args& args, GeoNumbers numbers, const char* refusal) {
  const Bytes word = args.Next();
  const auto number = ParseDouble(word);
  if (!number || (numbers == GeoNumbers::kDecimal && !IsDecimal(word))) throw Refusal{refusal};
  return *number;
}

class GeoQueryParser {
 public:
  GeoQueryParser(Args& args, const SortedSet& places, GeoForm form, const DialectTraits& traits)
      : args_(args),
        places_(places),
        form_(form),
        traits_(traits),
        numbers_(traits.geo_numbers_are_decimal ? GeoNumbers::kDecimal : GeoNumbers::kAny) {}

  GeoQuery Parse() {
    TakeFixedWords();
    while (!args_.AtEnd()) {
      if (!TakeReplyOption() && !TakeStoreOption() && !(IsSearch() && TakeShapeOption()))
        throw Refusal{refusals::kSyntax};
    }
    Check();
    return query_;
  }

 private:
  bool IsSearch() const { return form_ == GeoForm::kSearch || form_ == GeoForm::kSearchStore; }

  // Takes the arguments at fixed places, which only GEORADIUS, GEORADIUSBYMEMBER and their variants have.
  void TakeFixedWords() {
    if (form_ == GeoForm::kRadius || form_ == GeoForm::kRadiusReadOnly) {
      NoteWhetherDecimal(2);
      query_.shape.center = TakePoint(args_, numbers_);
      TakeCircle();
    } else if (!IsSearch()) {
      TakeMember();
      if (places_.Exists()) return TakeCircle();
      args_.Next();
      args_.Next();
    }
  }

  // Clears has_only_decimal_numbers if one of the next `count` arguments, which are numbers, is hexadecimal or begins
  // with a blank. Other versions may read such a number differently, so STORE then propagates the result.
  void NoteWhetherDecimal(size_t count) {
    const std::span<const Bytes> rest = args_.Rest();
    query_.has_only_decimal_numbers =
        query_.has_only_decimal_numbers && std::ranges::all_of(rest.first(std::min(count, rest.size())), IsDecimal);
  }

  void TakeMember() {
    const Bytes member = args_.Next();
    if (!places_.Exists()) return;
    const auto place = CoordinatesOf(places_, member);
    if (!place && traits_.geo_errors_name_member) throw refusals::GeoMemberAbsent(member);
    if (!place) throw Refusal{refusals::kGeoNoSuchMember};
    query_.shape.center = *place;
  }

  void TakeCircle() {
    GeoShape& shape = query_.shape;
    shape.kind = GeoShape::Kind::kCircle;
    NoteWhetherDecimal(1);
    shape.radius = TakeGeoNumber(args_, numbers_, refusals::kGeoRadiusNotNumber);
    if (shape.radius < 0) throw Refusal{refusals::kGeoRadiusNegative};
    shape.meters_per_unit = MetersPerUnit(args_.Next());
  }

  void TakeBox() {
    GeoShape& shape = query_.shape;
    shape.kind = GeoShape::Kind::kBox;
    NoteWhetherDecimal(2);
    shape.width = TakeGeoNumber(args_, numbers_, refusals::kGeoWidthNotNumber);
    shape.height = TakeGeoNumber(args_, numbers_, refusals::kGeoHeightNotNumber);
    if (shape.height < 0 || shape.width < 0) throw Refusal{refusals::kGeoBoxNegative};
    shape.meters_per_unit = MetersPerUnit(args_.Next());
  }

  // Takes the arguments of BYPOLYGON: the number of vertices and their coordinates. Throws a Refusal for fewer than 3.
  void TakePolygon() {
    constexpr int64_t kMinVertices = 3;
    const int64_t count = args_.NextInteger(refusals::kGeoVertexCount);
    if (count > INT32_MAX) throw Refusal{refusals::kGeoVertexCount};
    if (count < kMinVertices || static_cast<size_t>(count) > args_.Left() / 2)
      throw Refusal{refusals::kGeoTooFewVertices};
    std::vector<GeoPoint> vertices;
    for (int64_t i = 0; i < count; ++i) vertices.push_back(TakePoint(args_, numbers_));
    query_.shape = GeoShape::Polygon(std::move(vertices));
  }

  bool TakeReplyOption() {
    if (args_.TakeToken("WITHDIST")) return query_.with_distance = true;
    if (args_.TakeToken("WITHHASH")) return query_.with_hash = true;
    if (args_.TakeToken("WITHCOORD")) return query_.with_coordinates = true;
    if (args_.TakeToken("ANY")) return query_.takes_any = true;
    if (args_.TakeToken("ASC")) return Ordered(GeoQuery::Order::kNearestFirst);
    if (args_.TakeToken("DESC")) return Ordered(GeoQuery::Order::kFarthestFirst);
    if (!args_.TakeTokenWith("COUNT", 1)) return false;
    query_.count = args_.NextInteger();
    if (query_.count <= 0) throw Refusal{refusals::kGeoCountNotPositive};
    return true;
  }
  bool Ordered(GeoQuery::Order order) {
    query_.order = order;
    return true;
  }

  bool TakeStoreOption() {
    if (form_ == GeoForm::kSearchStore) return args_.TakeToken("STOREDIST") && (query_.stores_distance = true);
    if (form_ != GeoForm::kRadius && form_ != GeoForm::kRadiusByMember) return false;
    const bool stores_distance = args_.TakeTokenWith("STOREDIST", 1);
    if (!stores_distance && !args_.TakeTokenWith("STORE", 1)) return false;
    query_.store_key = args_.Next();
    query_.stores_distance = stores_distance;
    return true;
  }

  bool TakeShapeOption() {
    const bool is_polygon = extent_ == Extent::kPolygon;
    if (center_ == Center::kNone && extent_ != Extent::kCircle && extent_ != Extent::kBox &&
        args_.TakeTokenWith("BYPOLYGON", 1)) {
      extent_ = Extent::kPolygon;
      TakePolygon();
    } else if (is_polygon) {
      return false;
    } else if (center_ != Center::kPoint && args_.TakeTokenWith("FROMMEMBER", 1)) {
      center_ = Center::kMember;
      TakeMember();
    } else if (center_ != Center::kMember && args_.TakeTokenWith("FROMLONLAT", 2)) {
      center_ = Center::kPoint;
      NoteWhetherDecimal(2);
      query_.shape.center = TakePoint(args_, numbers_);
    } else if (extent_ != Extent::kBox && args_.TakeTokenWith("BYRADIUS", 2)) {
      extent_ = Extent::kCircle;
      TakeCircle();
    } else if (extent_ != Extent::kCircle && args_.TakeTokenWith("BYBOX", 3)) {
      extent_ = Extent::kBox;
      TakeBox();
    } else {
      return false;
    }
    return true;
  }

  void Check() const {
    const bool stores = query_.store_key || form_ == GeoForm::kSearchStore;
    if (stores && (query_.with_distance || query_.with_hash || query_.with_coordinates))
      throw Refusal{IsSearch() ? refusals::kGeoSearchStoreWith : refusals::kGeoRadiusStoreWith};
    if (IsSearch() && center_ == Center::kNone && extent_ != Extent::kPolygon)
      throw refusals::GeoExactlyOne("FROMMEMBER or FROMLONLAT", args_[0]);
    if (IsSearch() && extent_ == Extent::kNone) throw refusals::GeoExactlyOne("BYRADIUS and BYBOX", args_[0]);
    if (query_.takes_any && query_.count == 0) throw Refusal{refusals::kGeoAnyWithoutCount};
  }

  enum class Center : uint8_t { kNone, kMember, kPoint };
  enum class Extent : uint8_t { kNone, kCircle, kBox, kPolygon };

  Args& args_;
  const SortedSet& places_;
  GeoForm form_;
  const DialectTraits& traits_;  // how errors are written
  GeoNumbers numbers_;           // which numbers are accepted
  GeoQuery query_;
  Center center_ = Center::kNone;
  Extent extent_ = Extent::kNone;
};

}  // namespace

std::optional<GeoPoint> CoordinatesOf(const SortedSet& places, Bytes member) {
  const auto score = places.Score(member);
  if (!score) return std::nullopt;
  return PointOfScore(*score);
}

GeoPoint TakePoint(Args& args, GeoNumbers numbers) {
  GeoPoint point;
  point.longitude = TakeGeoNumber(args, numbers, refusals::kNotFloat);
  point.latitude = TakeGeoNumber(args, numbers, refusals::kNotFloat);
  if (!point.IsOnMap()) throw refusals::GeoCoordinates(point.longitude, point.latitude);
  return point;
}

double MetersPerUnit(Bytes unit) {
  if (EqualsIgnoreCase(unit, "m")) return 1;
  if (EqualsIgnoreCase(unit, "km")) return 1000;
  if (EqualsIgnoreCase(unit, "ft")) return 0.3048;
  if (EqualsIgnoreCase(unit, "mi")) return 1609.34;
  throw Refusal{refusals::kGeoUnit};
}

GeoQuery ParseGeoQuery(Args& args, const SortedSet& places, GeoForm form, const DialectTraits& traits) {
  return GeoQueryParser(args, places, form, traits).Parse();
}

}  // namespace respite
