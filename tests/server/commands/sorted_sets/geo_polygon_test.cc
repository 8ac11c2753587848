#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

// GEOSEARCH with BYPOLYGON and COUNT. The figures are those of Valkey 9.1.2.
class GeoPolygonCommands : public CommandTest {
 protected:
  GeoPolygonCommands() { Run("GEOADD g 0 0 o 1 0 e 0 1 n 1 1 ne 0.5 0.5 m 0.2 0.1 p 3 0.5 far"); }
};
INSTANTIATE_TEST_SUITE_P(Resp, GeoPolygonCommands, BothVersions(), VersionName);

TEST_P(GeoPolygonCommands, FindsThePlacesInside) {
  EXPECT_THAT(Run("GEOSEARCH g BYPOLYGON 3 -1 -1 4 0 0 3 ASC"), Bulks({"ne", "m", "e", "p", "n", "o", "far"}));
  EXPECT_THAT(Run("GEOSEARCH g BYPOLYGON 3 0 0 1 1 2 0"), UnorderedBulks({"o", "p", "e", "ne"}));
  EXPECT_THAT(Run("GEOSEARCH g BYPOLYGON 4 0.1 0.05 0.9 0.05 0.9 0.2 0.1 0.2"), Bulks({"p"}));
  EXPECT_THAT(Run("GEOSEARCH none BYPOLYGON 3 0 0 1 1 2 0"), EmptyArray());
}

// The expected places are from Redis 7.0.15.
TEST_P(GeoPolygonCommands, CountTakesEqualDistancesInTheOrderOfRedis) {
  std::vector<std::string> words = {"GEOADD", "equal"};
  for (int i = 0; i < 60; ++i) {
    const std::string place[] = {StrCat("13.0", i % 4), "38", StrCat("p", i)};
    words.insert(words.end(), std::begin(place), std::end(place));
  }
  Run(words);
  EXPECT_THAT(Run("GEOSEARCH equal FROMLONLAT 13.015 38 BYRADIUS 100 km ASC COUNT 9"),
              Bulks({"p10", "p18", "p2", "p22", "p26", "p30", "p34", "p38", "p42"}));
  EXPECT_THAT(Run("GEOSEARCH equal FROMLONLAT 13.015 38 BYRADIUS 100 km DESC COUNT 7"),
              Bulks({"p11", "p59", "p55", "p51", "p47", "p43", "p39"}));
}

TEST_P(GeoPolygonCommands, MeasuresFromTheMeanOfTheVertices) {
  EXPECT_THAT(Run("GEOSEARCH g BYPOLYGON 4 -1 -1 2 -1 2 2 -1 2 WITHDIST ASC COUNT 2"),
              ArrayOf({ArrayOf({Bulk("m"), Bulk("19.0230")}), ArrayOf({Bulk("p"), Bulk("55628.0619")})}));
  EXPECT_THAT(Run("GEOSEARCHSTORE d g BYPOLYGON 3 -1 -1 4 0 0 3 STOREDIST"), Int(7));
  EXPECT_THAT(Run("ZRANGE d 0 0"), Bulks({"ne"}));
}

TEST_P(GeoPolygonCommands, Refusals) {
  for (const char* polygon : {"2 0 0 1 1 ASC", "3 0 0 1 1 ASC", "0 0 0 1 1 5 5", "-1 0 0 1 1 5 5"})
    EXPECT_THAT(Run(StrCat("GEOSEARCH g BYPOLYGON ", polygon)),
                Error("ERR GEOSEARCH BYPOLYGON must have at least 3 vertices"))
        << polygon;
  for (const char* count : {"x", "1000000000000"})
    EXPECT_THAT(Run(StrCat("GEOSEARCH g BYPOLYGON ", count, " 0 0 1 1 2 0")), Error("ERR invalid number of vertices"));
  EXPECT_THAT(Run("GEOSEARCH g BYPOLYGON 3 0 0 1 1 200 0"),
              Error("ERR invalid longitude,latitude pair 200.000000,0.000000"));
  for (const char* options : {"FROMLONLAT 0 0 BYPOLYGON 3 0 0 1 1 2 0", "BYPOLYGON 3 0 0 1 1 2 0 FROMMEMBER o",
                              "BYPOLYGON 3 0 0 1 1 2 0 BYRADIUS 1 km", "BYRADIUS 1 km BYPOLYGON 3 0 0 1 1 2 0"})
    EXPECT_THAT(Run(StrCat("GEOSEARCH g ", options)), Error("ERR syntax error")) << options;
}

}  // namespace

}  // namespace respite
