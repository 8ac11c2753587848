#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/commands/families.h"
#include "server/commands/partial_sort.h"
#include "server/commands/sorted_sets/geo_query.h"
#include "server/commands/sorted_sets/sorted_set_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace {

// === Single members

// Formats a distance with four decimals. As Redis does, rounds the number times 10 000 to an integer, and halves to the
// even one.
std::string DistanceText(double distance) { return FixedText(std::rint(distance * 10'000) / 10'000, 4); }

void ReplyPoint(Call& call, const GeoPoint& point) {
  call.reply.Array(2);
  if (call.services.env.dialect.traits.positions_have_shortest_digits) {
    call.reply.Double(point.longitude);
    call.reply.Double(point.latitude);
    return;
  }
  call.reply.LongDouble(point.longitude);
  call.reply.LongDouble(point.latitude);
}

struct NewPlace {
  Bytes member;
  uint64_t score;
};

std::vector<NewPlace> TakePlaces(Args& args, GeoNumbers numbers) {
  if (args.Left() % 3 != 0) throw Refusal{refusals::kSyntax};
  std::vector<NewPlace> places;
  places.reserve(args.Left() / 3);
  while (!args.AtEnd()) {
    const GeoPoint point = TakePoint(args, numbers);
    places.push_back({args.Next(), GeoScore(point)});
  }
  return places;
}

struct GeoAddOptions {
  AddRule rule;
  bool counts_changes = false;
};

GeoAddOptions ParseGeoAddOptions(Args& args) {
  using Condition = AddRule::Condition;
  GeoAddOptions options;
  auto take = [&](Condition condition) {
    if (options.rule.condition != Condition::kAlways && options.rule.condition != condition)
      throw Refusal{refusals::kSyntax};
    options.rule.condition = condition;
  };
  for (;;) {
    if (args.TakeToken("NX")) {
      take(Condition::kIfAbsent);
    } else if (args.TakeToken("XX")) {
      take(Condition::kIfPresent);
    } else if (args.TakeToken("CH")) {
      options.counts_changes = true;
    } else {
      return options;
    }
  }
}

struct GeoAdd {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEOADD key [condition(NX|XX)@6.2.0] [change=CH@6.2.0] data{longitude:double latitude:double member}...",
      .summary = "Adds places, given by longitude and latitude, to a sorted set.",
      .since = "3.2.0",
      .complexity = "O(log(N)) for each place, N being the number of places in the set",
      .group = CommandGroup::kGeo,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const GeoAddOptions options = ParseGeoAddOptions(call.args);
    const bool is_strict = call.services.env.dialect.traits.geo_numbers_are_decimal && !call.unit.IsReplaying();
    const std::vector<NewPlace> places = TakePlaces(call.args, is_strict ? GeoNumbers::kDecimal : GeoNumbers::kAny);
    const bool creates = options.rule.condition != AddRule::Condition::kIfPresent;
    Edit<SortedSet> set = creates ? call.db.OpenOrCreate<SortedSet>(key, CapacityFor(places, call.db.Limits()))
                                  : call.db.Open<SortedSet>(key);
    const auto pair_at = [&](size_t i) { return std::pair(places[i].member, static_cast<double>(places[i].score)); };
    const AddCounts counts = set ? AddPairs(call, set, options.rule, places.size(), pair_at) : AddCounts{};
    call.reply.Integer(options.counts_changes ? counts.All() : counts.added);
    RecordDecimal(call, 3 * places.size());
  }

 private:
  // If GEOADD has coordinates that are hexadecimal or have leading blanks, propagates them as decimal numbers, because
  // some versions of Redis refuse these forms. `count`: the number of arguments after the options.
  static void RecordDecimal(Call& call, size_t count) {
    if (!call.effect.IsRecording()) return;
    const std::span<const Bytes> request = call.args.Words();
    std::vector<std::string> words;
    bool is_decimal = true;
    for (size_t i = 0; i < request.size(); ++i) {
      const size_t before_end = request.size() - i;
      const bool is_number = before_end <= count && (before_end % 3) != 1;
      if (!is_number || IsDecimal(request[i])) continue;
      if (is_decimal) words.assign(request.begin(), request.end());
      is_decimal = false;
      words[i] = DoubleText(Args::Double(request[i]));
    }
    if (!is_decimal) call.effect.Replace(words);
  }
  static size_t CapacityFor(const std::vector<NewPlace>& places, const EncodingLimits& limits) {
    constexpr size_t kScoreBytes = 9;
    size_t bytes = 0;
    for (const NewPlace& place : places) bytes += kScoreBytes + place.member.size();
    return ListpackCapacityFor(places.size(), bytes, limits);
  }
};

struct GeoDist {
  static constexpr CommandSpec spec = {.syntax = "GEODIST key member1 member2 [unit(M|KM|FT|MI)]",
                                       .summary = "Returns the distance between two places.",
                                       .since = "3.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeo,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, one, other] = call.args.Take<Bytes, Bytes, Bytes>();
    if (call.args.Left() > 1) throw Refusal{refusals::kSyntax};
    const double meters_per_unit = call.args.AtEnd() ? 1 : MetersPerUnit(call.args.Next());
    const auto places = call.db.Read<SortedSet>(key);
    const auto from = CoordinatesOf(places, one);
    const auto to = CoordinatesOf(places, other);
    if (!from || !to) return call.reply.Null();
    call.reply.Bulk(DistanceText(DistanceMeters(*from, *to) / meters_per_unit));
  }
};

struct GeoHash {
  static constexpr CommandSpec spec = {.syntax = "GEOHASH key [member...]",
                                       .summary = "Returns the geohashes of places as text.",
                                       .since = "3.2.0",
                                       .complexity = "O(1) for each member",
                                       .group = CommandGroup::kGeo,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const auto places = call.db.Read<SortedSet>(call.args.Next());
    call.reply.Array(call.args.Left());
    while (!call.args.AtEnd()) {
      const auto place = CoordinatesOf(places, call.args.Next());
      if (place) {
        call.reply.Bulk(GeohashText(*place));
      } else {
        call.reply.Null();
      }
    }
  }
};

struct GeoPos {
  static constexpr CommandSpec spec = {.syntax = "GEOPOS key [member...]",
                                       .summary = "Returns longitude and latitude of places.",
                                       .since = "3.2.0",
                                       .complexity = "O(1) for each member",
                                       .group = CommandGroup::kGeo,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const auto places = call.db.Read<SortedSet>(call.args.Next());
    call.reply.Array(call.args.Left());
    while (!call.args.AtEnd()) {
      const auto place = CoordinatesOf(places, call.args.Next());
      if (place) {
        ReplyPoint(call, *place);
      } else {
        call.reply.NullArray();
      }
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Searches

struct FoundPlace {
  double distance_m;
  double score;
  GeoPoint point;
  size_t name_at;
  size_t name_size;
};

// The places that a search has found. Their names are stored one after the other in one string.
class FoundPlaces {
 public:
  FoundPlaces(const SortedSet& places, const GeoQuery& query) {
    if (!places.Exists()) return;
    const size_t enough = query.takes_any ? static_cast<size_t>(query.count) : SIZE_MAX;
    for (const ScoreSpan& span : CoveringSpans(query.shape)) {
      if (found_.size() >= enough) break;
      CollectSpan(places, query, span, enough);
    }
    if (query.IsSorted()) Sort(query);
    if (query.count > 0) found_.resize(std::min(found_.size(), static_cast<size_t>(query.count)));
  }

  size_t Size() const { return found_.size(); }
  auto begin() const { return found_.begin(); }
  auto end() const { return found_.end(); }
  Bytes NameOf(const FoundPlace& place) const { return Bytes(names_).substr(place.name_at, place.name_size); }

 private:
  void CollectSpan(const SortedSet& places, const GeoQuery& query, const ScoreSpan& span, size_t enough) {
    const ScoreRange range = {
        .min = static_cast<double>(span.first), .max = static_cast<double>(span.end), .excludes_max = true};
    places.ForEach(places.RankSpanOf(range), Direction::kUp, [&](Bytes name, double score) {
      if (found_.size() >= enough) return;
      const GeoPoint point = PointOfScore(score);
      const auto distance_m = query.shape.DistanceIfInside(point);
      if (!distance_m) return;
      found_.push_back({*distance_m, score, point, names_.size(), name.size()});
      names_ += name;
    });
  }

  void Sort(const GeoQuery& query) {
    const bool farthest_first = query.order == GeoQuery::Order::kFarthestFirst;
    auto before = [&](const FoundPlace& a, const FoundPlace& b) {
      return farthest_first ? a.distance_m > b.distance_m : a.distance_m < b.distance_m;
    };
    const auto count = static_cast<size_t>(query.count);
    if (count > 0 && count < found_.size()) {
      PartialSort sort(found_, [&](const FoundPlace& a, const FoundPlace& b) {
        return before(a, b) ? -1 : static_cast<int>(before(b, a));
      });
      if (sort.Sort(0, count - 1)) return;  // the caller drops the other places
    }
    std::stable_sort(found_.begin(), found_.end(), before);
  }

  std::vector<FoundPlace> found_;
  std::string names_;
};

void ReplyPlaces(Call& call, const GeoQuery& query, const FoundPlaces& found) {
  const size_t details = size_t{query.with_distance} + size_t{query.with_hash} + size_t{query.with_coordinates};
  call.reply.Array(found.Size());
  for (const FoundPlace& place : found) {
    if (details > 0) call.reply.Array(1 + details);
    call.reply.Bulk(found.NameOf(place));
    if (query.with_distance) call.reply.Bulk(DistanceText(place.distance_m / query.shape.meters_per_unit));
    if (query.with_hash) call.reply.Integer(static_cast<int64_t>(place.score));
    if (query.with_coordinates) ReplyPoint(call, place.point);
  }
}

void StorePlaces(Call& call, Bytes key, const GeoQuery& query, const FoundPlaces& found, const KeyEvent& event) {
  ScoredResult result(call.db.Data().hash_key());
  for (const FoundPlace& place : found)
    result.Append(found.NameOf(place),
                  query.stores_distance ? place.distance_m / query.shape.meters_per_unit : place.score);
  // If false, the result of GEOSEARCHSTORE or GEORADIUS … STORE is propagated instead of the command: another version
  // may refuse the command (only Valkey 9 has BYPOLYGON), find other places (ANY), or read a number differently
  // (hexadecimal).
  const bool is_portable =
      query.shape.kind != GeoShape::Kind::kPolygon && !query.takes_any && query.has_only_decimal_numbers;
  is_portable ? StoreSortedSet(call, key, result, event) : StoreAndRecordSortedSet(call, key, result, event);
}

void Search(Call& call, GeoForm form) {
  std::optional<Bytes> target;
  if (form == GeoForm::kSearchStore) target = call.args.Next();
  const auto places = call.db.Read<SortedSet>(call.args.Next());
  const GeoQuery query = ParseGeoQuery(call.args, places, form, call.services.env.dialect.traits);
  if (query.store_key) target = query.store_key;
  const FoundPlaces found(places, query);
  if (!target) return ReplyPlaces(call, query, found);
  StorePlaces(call, *target, query, found,
              form == GeoForm::kSearchStore ? KeyEvent("geosearchstore") : KeyEvent("georadiusstore"));
}

struct GeoRadius {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEORADIUS key longitude:double latitude:double radius:double unit(M|KM|FT|MI) [WITHCOORD] "
          "[WITHDIST] [WITHHASH] [count-block{COUNT count:integer [ANY@6.2.0]}] [order(ASC|DESC)] "
          "[store(STORE storekey<key>:key|STOREDIST storedistkey<key>:key)]",
      .summary = "Finds places within a distance of a point, and may store them.",
      .since = "3.2.0",
      .complexity = "O(N+log(M)), N being the places in the squares around the area, M all places in the set",
      .group = CommandGroup::kGeo,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRO | kKeyAccess), KeysAfter("STORE", 6, {.last = 0, .limit = 0}, kKeyOW | kKeyUpdate),
               KeysAfter("STOREDIST", 6, {.last = 0, .limit = 0}, kKeyOW | kKeyUpdate)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument"};
  static void Run(Call& call) { Search(call, GeoForm::kRadius); }
};

struct GeoRadiusRo {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEORADIUS_RO key longitude:double latitude:double radius:double unit(M|KM|FT|MI) [WITHCOORD] "
          "[WITHDIST] [WITHHASH] [count-block{COUNT count:integer [ANY@6.2.0]}] [order(ASC|DESC)]",
      .summary = "Finds places within a distance of a point.",
      .since = "3.2.10",
      .complexity = "O(N+log(M)), N being the places in the squares around the area, M all places in the set",
      .group = CommandGroup::kGeo,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`GEOSEARCH` with the `BYRADIUS` argument"};
  static void Run(Call& call) { Search(call, GeoForm::kRadiusReadOnly); }
};

struct GeoRadiusByMember {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEORADIUSBYMEMBER key member radius:double unit(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] "
          "[count-block{COUNT count:integer [ANY]}] [order(ASC|DESC)] [store(STORE "
          "storekey<key>:key|STOREDIST storedistkey<key>:key)]",
      .summary = "Finds places within a distance of a member, and may store them.",
      .since = "3.2.0",
      .complexity = "O(N+log(M)), N being the places in the squares around the area, M all places in the set",
      .group = CommandGroup::kGeo,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRO | kKeyAccess), KeysAfter("STORE", 5, {.last = 0, .limit = 0}, kKeyOW | kKeyUpdate),
               KeysAfter("STOREDIST", 5, {.last = 0, .limit = 0}, kKeyOW | kKeyUpdate)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments"};
  static void Run(Call& call) { Search(call, GeoForm::kRadiusByMember); }
};

struct GeoRadiusByMemberRo {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEORADIUSBYMEMBER_RO key member radius:double unit(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] "
          "[count-block{COUNT count:integer [ANY]}] [order(ASC|DESC)]",
      .summary = "Finds places within a distance of a member.",
      .since = "3.2.10",
      .complexity = "O(N+log(M)), N being the places in the squares around the area, M all places in the set",
      .group = CommandGroup::kGeo,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments"};
  static void Run(Call& call) { Search(call, GeoForm::kRadiusByMemberReadOnly); }
};

struct GeoSearch {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEOSEARCH key from(FROMMEMBER member|FROMLONLAT fromlonlat{longitude:double latitude:double}) "
          "by(circle{BYRADIUS radius:double unit(M|KM|FT|MI)}|box{BYBOX width:double height:double "
          "unit(M|KM|FT|MI)}|polygon{BYPOLYGON num-vertices:integer vertices{longitude:double latitude:double}...}"
          "@valkey:9.0.0) [order(ASC|DESC)] [count-block{COUNT count:integer [ANY]}] [WITHCOORD] [WITHDIST] [WITHHASH]",
      .summary = "Finds places in a circle, a box or a polygon.",
      .since = "6.2.0",
      .complexity = "O(N+log(M)), N being the places in the squares around the area, M all places in the set",
      .group = CommandGroup::kGeo,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { Search(call, GeoForm::kSearch); }
};

struct GeoSearchStore {
  static constexpr CommandSpec spec = {
      .syntax =
          "GEOSEARCHSTORE destination:key source:key from(FROMMEMBER member|FROMLONLAT "
          "fromlonlat{longitude:double latitude:double}) by(circle{BYRADIUS radius:double "
          "unit(M|KM|FT|MI)}|box{BYBOX width:double height:double unit(M|KM|FT|MI)}|polygon{BYPOLYGON "
          "num-vertices:integer vertices{longitude:double latitude:double}...}@valkey:9.0.0) [order(ASC|DESC)] "
          "[count-block{COUNT count:integer [ANY]}] [STOREDIST]",
      .summary = "Stores the places found in a circle, a box or a polygon under another key.",
      .since = "6.2.0",
      .complexity = "O(N+log(M)), N being the places in the squares around the area, M all places in the set",
      .group = CommandGroup::kGeo,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyOW | kKeyUpdate), Key(2, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { Search(call, GeoForm::kSearchStore); }
};

constexpr auto kGeoCommands = Family<GeoAdd, GeoDist, GeoHash, GeoPos, GeoRadius, GeoRadiusRo, GeoRadiusByMember,
                                     GeoRadiusByMemberRo, GeoSearch, GeoSearchStore>();

}  // namespace

std::span<const CommandCard> GeoCommands() { return kGeoCommands; }

}  // namespace respite
