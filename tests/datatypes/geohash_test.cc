#include "datatypes/geohash.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/number_text.h"
#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

constexpr GeoPoint kPalermo = {13.361389, 38.115556};
constexpr GeoPoint kCatania = {15.087269, 37.502669};

TEST(GeohashTest, ScoresTextsAndDistancesOfKnownPlaces) {
  EXPECT_EQ(GeoScore(kPalermo), 3479099956230698u);
  EXPECT_EQ(GeoScore(kCatania), 3479447370796909u);
  const GeoPoint palermo = PointOfScore(3479099956230698.0);
  const GeoPoint catania = PointOfScore(3479447370796909.0);
  EXPECT_EQ(LongDoubleText(palermo.longitude), "13.36138933897018433");
  EXPECT_EQ(LongDoubleText(palermo.latitude), "38.11555639549629859");
  EXPECT_EQ(GeohashText(palermo), "sqc8b49rny0");
  EXPECT_EQ(GeohashText(catania), "sqdtr74hyu0");
  EXPECT_EQ(FixedText(DistanceMeters(palermo, catania), 4), "166274.1516");
}

TEST(GeohashTest, DistanceAlongAMeridianAndToItself) {
  EXPECT_EQ(DistanceMeters(kPalermo, kPalermo), 0);
  EXPECT_NEAR(DistanceMeters({10, 0}, {10, 1}), 111'226, 1);
  EXPECT_NEAR(DistanceMeters({-179.5, 0}, {179.5, 0}), 111'226, 1);
}

TEST(GeohashTest, TheEdgesOfTheMapHaveScores) {
  for (double longitude : {-180.0, 0.0, 180.0})
    for (double latitude : {-GeoPoint::kMaxLatitude, 0.0, GeoPoint::kMaxLatitude})
      EXPECT_TRUE(PointOfScore(static_cast<double>(GeoScore({longitude, latitude}))).IsOnMap());
}

// Never returns a point on the eastern or northern edge, whose cells are beyond the map: no double can represent their
// whole score, in Redis neither.
GeoPoint RandomPoint(Random& random, double most_latitude) {
  auto between = [&](double reach) { return (static_cast<double>(random.Below(2'000'000)) / 1e6 - 1) * reach; };
  return {between(GeoPoint::kMaxLongitude), between(most_latitude)};
}

TEST(GeohashTest, ScoreAndBackStaysInTheCell) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const GeoPoint point = RandomPoint(random, GeoPoint::kMaxLatitude);
    const GeoPoint back = PointOfScore(static_cast<double>(GeoScore(point)));
    ASSERT_NEAR(back.longitude, point.longitude, 360.0 / (1 << 26));
    ASSERT_NEAR(back.latitude, point.latitude, 171.0 / (1 << 26));
    ASSERT_EQ(GeoScore(back), GeoScore(point));
  }
}

bool Covered(const std::vector<ScoreSpan>& spans, uint64_t score) {
  for (const ScoreSpan& span : spans)
    if (score >= span.first && score < span.end) return true;
  return false;
}

// Excludes the poles and the date line, where Redis itself misses some places.
TEST(GeohashTest, SpansCoverWhatIsInside) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  int inside = 0;
  for (int i = 0; i < 3000; ++i) {
    GeoShape shape;
    shape.kind = i % 2 == 0 ? GeoShape::Kind::kCircle : GeoShape::Kind::kBox;
    shape.center = RandomPoint(random, 60);
    shape.center.longitude /= 2;
    shape.meters_per_unit = 1000;
    shape.radius = shape.width = static_cast<double>(1 + random.Below(1000));
    shape.height = static_cast<double>(1 + random.Below(1000));
    const std::vector<ScoreSpan> spans = CoveringSpans(shape);
    ASSERT_LE(spans.size(), 9u);
    for (int j = 0; j < 20; ++j) {
      const GeoPoint offset = RandomPoint(random, 10);
      const GeoPoint near = {shape.center.longitude + offset.longitude / 18, shape.center.latitude + offset.latitude};
      const uint64_t score = GeoScore(near);
      if (!shape.DistanceIfInside(PointOfScore(static_cast<double>(score)))) continue;
      ++inside;
      ASSERT_TRUE(Covered(spans, score)) << near.longitude << " " << near.latitude << " around "
                                         << shape.center.longitude << " " << shape.center.latitude << " within "
                                         << shape.radius << " " << shape.height;
    }
  }
  EXPECT_GT(inside, 1000);
}

TEST(GeohashTest, AnyScoreIsAPlace) {
  for (double score : {-1.0, -5.5, 0.0, 1e15, 1e16, 1e19, 1e20, 1e300, -1e300, HUGE_VAL, -HUGE_VAL})
    EXPECT_TRUE(PointOfScore(score).IsOnMap()) << score;
}

TEST(GeohashTest, BoxIsNarrowerThanItsCircle) {
  GeoShape box{.kind = GeoShape::Kind::kBox, .center = {15, 37}, .width = 400, .height = 200, .meters_per_unit = 1000};
  EXPECT_TRUE(box.DistanceIfInside({13, 37}));
  EXPECT_FALSE(box.DistanceIfInside({12.5, 37}));
  EXPECT_TRUE(box.DistanceIfInside({15, 37.8}));
  EXPECT_FALSE(box.DistanceIfInside({15, 38}));
}

}  // namespace
}  // namespace respite
