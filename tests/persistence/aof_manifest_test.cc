// Manifests of append-only files.
#include "persistence/aof_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "base/str_cat.h"

namespace respite {

void PrintTo(const AofManifest::Part& part, std::ostream* out) { *out << part.name << " (" << part.seq << ")"; }

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Part = AofManifest::Part;

constexpr const char* kInvalid = "Invalid AOF manifest file format";

AofManifest Parsed(Bytes text) {
  auto manifest = AofManifest::Parse(text);
  EXPECT_TRUE(manifest) << manifest.error().why;
  return manifest ? std::move(manifest).value() : AofManifest();
}

// Returns "line 2 'the line': reason", or "reason".
std::string Refused(Bytes text) {
  const auto manifest = AofManifest::Parse(text);
  if (manifest) return "accepted";
  const AofManifestError& error = manifest.error();
  if (!error.line) return error.why;
  return StrCat("line ", error.line->number, " '", error.line->text, "': ", error.why);
}

void ExpectRefused(const std::string& line, const std::string& why) {
  EXPECT_EQ(Refused(line + "\n"), "line 1 '" + line + "': " + why);
}

TEST(AofManifest, ReadsAndWritesWhatRedisWrites) {
  const std::string text =
      "file appendonly.aof.2.base.rdb seq 2 type b\n"
      "file appendonly.aof.2.incr.aof seq 2 type h\n"
      "file appendonly.aof.1.base.rdb seq 1 type h\n"
      "file appendonly.aof.3.incr.aof seq 3 type i\n"
      "file appendonly.aof.4.incr.aof seq 4 type i\n";
  const AofManifest manifest = Parsed(text);
  EXPECT_EQ(manifest.base(), (Part{"appendonly.aof.2.base.rdb", 2}));
  EXPECT_THAT(manifest.history(),
              ElementsAre(Part{"appendonly.aof.2.incr.aof", 2}, Part{"appendonly.aof.1.base.rdb", 1}));
  EXPECT_THAT(manifest.incrementals(),
              ElementsAre(Part{"appendonly.aof.3.incr.aof", 3}, Part{"appendonly.aof.4.incr.aof", 4}));
  EXPECT_EQ(manifest.Text(), text);
}

TEST(AofManifest, LinesMayComeInAnyOrderWithMoreWordsAndComments) {
  const AofManifest manifest = Parsed(
      "# a comment\n"
      "  TYPE incr SEQ  7abc file i1 \t \r\n"
      "#\n"
      "Seq 1 Type base size 12 File \"b 1\" \n"
      "file i2 seq 8 type i file i3 seq 9\n"
      "# the end");
  EXPECT_EQ(manifest.base(), (Part{"b 1", 1}));
  EXPECT_THAT(manifest.incrementals(), ElementsAre(Part{"i1", 7}, Part{"i3", 9}));
  EXPECT_FALSE(manifest.IsEmpty());
}

TEST(AofManifest, CommentsOnlyAreAnEmptyManifest) {
  const AofManifest manifest = Parsed("# nothing\n");
  EXPECT_TRUE(manifest.IsEmpty());
  EXPECT_EQ(manifest, AofManifest());
  EXPECT_EQ(manifest.Text(), "");
}

TEST(AofManifest, QuotesNamesThatNeedIt) {
  for (const std::string name : {"a b", "a\"b", "a'b", "a\nb", "a\x01\xff", "", " "}) {
    AofManifest manifest;
    manifest.UseOldFileAsBase(name);
    EXPECT_EQ(Parsed(manifest.Text()), manifest) << manifest.Text();
  }
  AofManifest manifest;
  manifest.UseOldFileAsBase("an old\tfile");
  EXPECT_EQ(manifest.Text(), "file \"an old\\tfile\" seq 1 type b\n");
}

TEST(AofManifest, RefusesWhatRedisRefuses) {
  EXPECT_EQ(Refused(""), "Found an empty AOF manifest");
  EXPECT_EQ(Refused("\n"), "line 1 '': " + std::string(kInvalid));
  EXPECT_EQ(Refused("file a seq 1 type b\n \t\r\n"), "line 2 '': " + std::string(kInvalid));
  for (const char* line :
       {"file a seq 1 type", "file a seq 1 kind b", "file a seq 0 type b", "file a seq x type b",
        "file a seq \"\" type b", "file a seq 1 type \"\"", "file a seq 1 type b more", "file \"a seq 1 type b",
        "nonsense", "file a seq 1 file b seq 2", "file a seq 99999999999999999999 type i", "name a seq 1 type b"}) {
    ExpectRefused(line, kInvalid);
  }
  ExpectRefused("file a/b seq 1 type b", "File can't be a path, just a filename");
  ExpectRefused("file a\\b seq 1 type b", "File can't be a path, just a filename");
  ExpectRefused("file a seq 1 type x", "Unknown AOF file type");
  ExpectRefused("file a seq 1 type B", "Unknown AOF file type");
  ExpectRefused("file a seq -1 type i", "Found a non-monotonic sequence number");
  EXPECT_EQ(Refused("file a seq 1 type b\nfile b seq 2 type b\n"),
            "line 2 'file b seq 2 type b': Found duplicate base file information");
  EXPECT_EQ(Refused("file a seq 2 type i\nfile b seq 2 type i\n"),
            "line 2 'file b seq 2 type i': Found a non-monotonic sequence number");
}

TEST(AofManifest, RefusesLinesThatDoNotEnd) {
  const std::string why = "The AOF manifest file contains too long line";
  EXPECT_EQ(Refused("file a seq 1 type b"), why);
  EXPECT_EQ(Refused(std::string("file a seq 1\0 type b\n", 21)), why);
  const std::string line = "file a seq 1 type b";
  EXPECT_EQ(Refused(line + std::string(1023 - line.size(), ' ') + "\n"), "accepted");
  EXPECT_EQ(Refused(line + std::string(1024 - line.size(), ' ') + "\n"), why);
}

TEST(AofManifest, EveryTruncationIsRefusedOrMeansFewerFiles) {
  const std::string text = "file b seq 2 type b\nfile h seq 1 type h\nfile i seq 3 type i\n";
  for (size_t size = 1; size < text.size(); ++size) {
    const bool whole = text[size - 1] == '\n';
    const auto manifest = AofManifest::Parse(Bytes(text).substr(0, size));
    ASSERT_EQ(manifest.ok(), whole) << size;
    if (whole) {
      EXPECT_EQ(manifest.value().Text(), text.substr(0, size));
    }
  }
}

TEST(AofManifest, ARewriteMakesHistoryOfTheOldFiles) {
  AofManifest manifest;
  EXPECT_EQ(manifest.AddBase("f", AofBaseFormat::kRdb), "f.1.base.rdb");
  EXPECT_EQ(manifest.AddIncremental("f"), "f.1.incr.aof");
  EXPECT_EQ(manifest.AddIncremental("f"), "f.2.incr.aof");
  EXPECT_EQ(manifest.AddIncremental("f"), "f.3.incr.aof");
  const AofManifest before = manifest;
  EXPECT_EQ(manifest.AddBase("f", AofBaseFormat::kCommands), "f.2.base.aof");
  manifest.RetireIncrementals(1);
  EXPECT_EQ(manifest.Text(),
            "file f.2.base.aof seq 2 type b\n"
            "file f.1.incr.aof seq 1 type h\n"
            "file f.2.incr.aof seq 2 type h\n"
            "file f.1.base.rdb seq 1 type h\n"
            "file f.3.incr.aof seq 3 type i\n");
  EXPECT_FALSE(manifest == before);
  manifest.DropHistory();
  EXPECT_EQ(manifest.Text(), "file f.2.base.aof seq 2 type b\nfile f.3.incr.aof seq 3 type i\n");
}

TEST(AofManifest, WithoutAFileToWriteToAllIncrementalsRetire) {
  AofManifest manifest = Parsed("file f.4.incr.aof seq 4 type i\n");
  manifest.RetireIncrementals(1);
  EXPECT_THAT(manifest.history(), IsEmpty());
  manifest.RetireIncrementals(0);
  EXPECT_THAT(manifest.incrementals(), IsEmpty());
  EXPECT_EQ(manifest.AddIncremental("f"), "f.5.incr.aof");
}

TEST(AofManifest, NoNewFileHasTheNameOfOneThatIsToBeRemoved) {
  AofManifest manifest = Parsed("file f.1.incr.aof seq 1 type h\nfile f.1.base.rdb seq 1 type h\n");
  EXPECT_EQ(manifest.AddIncremental("f"), "f.2.incr.aof");
  EXPECT_EQ(manifest.AddBase("f", AofBaseFormat::kRdb), "f.2.base.rdb");
}

TEST(AofManifest, NumbersContinueAfterTheFile) {
  AofManifest manifest = Parsed("file x seq 7 type b\nfile y seq 12 type i\n");
  EXPECT_EQ(manifest.AddBase("new", AofBaseFormat::kRdb), "new.8.base.rdb");
  EXPECT_EQ(manifest.AddIncremental("new"), "new.13.incr.aof");
}

TEST(AofManifest, NoNumberIsBelowOne) {
  AofManifest manifest = Parsed("file x seq -1 type b\n");
  EXPECT_EQ(manifest.AddBase("f", AofBaseFormat::kRdb), "f.1.base.rdb");
  EXPECT_EQ(Parsed(manifest.Text()).Text(), manifest.Text());
}

TEST(AofManifest, AnOldFileBecomesTheBase) {
  AofManifest manifest;
  manifest.UseOldFileAsBase("appendonly.aof");
  manifest.AddIncremental("appendonly.aof");
  EXPECT_EQ(manifest.Text(), "file appendonly.aof seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n");
  EXPECT_EQ(manifest.AddBase("appendonly.aof", AofBaseFormat::kRdb), "appendonly.aof.2.base.rdb");
}

TEST(AofManifest, NamesOfManifests) {
  EXPECT_EQ(AofManifest::Name("f"), "f.manifest");
  EXPECT_EQ(AofManifest::TemporaryName("f"), "temp-f.manifest");
  EXPECT_EQ(AofManifest::TemporaryIncrementalName("f"), "temp-f.incr");
}

}  // namespace
}  // namespace respite
