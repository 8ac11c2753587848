// The graph of vectors: recall beside brute force, removals, and the forms of vectors.
#include "datatypes/vectors/hnsw_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/random.h"

namespace respite {
namespace {

constexpr uint32_t kDimensions = 24;

// A random vector of length 1. The sum of several numbers makes all directions about equally likely.
std::vector<float> AnyVector(Random& random, uint32_t dimensions = kDimensions) {
  std::vector<float> vector(dimensions);
  for (float& x : vector) x = static_cast<float>(random.Unit() + random.Unit() + random.Unit() - 1.5);
  NormalizeVector(vector);
  return vector;
}

class GraphWithVectors {
 public:
  explicit GraphWithVectors(VectorEncoding encoding, uint64_t seed = 1)
      : random_(seed), graph_(VectorFormat(encoding, kDimensions), 16, 8) {}

  HnswGraph& graph() { return graph_; }
  Random& random() { return random_; }

  struct Encoded {
    std::vector<uint64_t> words;
    float scale;
    StoredVector View() const { return {words.data(), scale}; }
  };
  Encoded Encode(const std::vector<float>& vector) const {
    Encoded encoded{std::vector<uint64_t>((graph_.format().Bytes() + 7) / 8), 0};
    encoded.scale = graph_.format().Encode(vector, encoded.words.data());
    return encoded;
  }
  uint32_t Add() {
    const Encoded encoded = Encode(AnyVector(random_));
    return graph_.Insert(encoded.View(), 1, graph_.LevelFor(random_.Next()), 100);
  }
  std::vector<VectorHit> Nearest(const StoredVector& query, uint32_t ef) const {
    const VectorHit entry = graph_.Descend(query, 0);
    return graph_.SearchLayer(query, std::span(&entry, 1), ef, 0);
  }
  std::vector<VectorHit> NearestOfAll(const StoredVector& query, size_t count) const {
    std::vector<VectorHit> all;
    for (uint32_t slot = 0; slot < graph_.SlotLimit(); ++slot) {
      if (graph_.IsUsed(slot)) all.push_back({graph_.DistanceOf(slot, query), slot});
    }
    std::sort(all.begin(), all.end());
    all.resize(std::min(all.size(), count));
    return all;
  }
  // Returns which share of the ten nearest nodes a search finds, for 100 random queries.
  double Recall(uint32_t ef) {
    size_t found = 0, wanted = 0;
    for (int i = 0; i < 100; ++i) {
      const Encoded query = Encode(AnyVector(random_));
      const std::vector<VectorHit> hits = Nearest(query.View(), ef);
      for (const VectorHit& hit : NearestOfAll(query.View(), 10)) {
        ++wanted;
        found += std::any_of(hits.begin(), hits.end(), [&](const VectorHit& other) { return other.slot == hit.slot; });
      }
    }
    return static_cast<double>(found) / static_cast<double>(wanted);
  }

 private:
  Random random_;
  HnswGraph graph_;
};

TEST(HnswGraphTest, FindsTheNearestVectors) {
  for (const VectorEncoding encoding : {VectorEncoding::kFloat, VectorEncoding::kInt8}) {
    GraphWithVectors vectors(encoding);
    for (int i = 0; i < 3000; ++i) vectors.Add();
    EXPECT_TRUE(vectors.graph().IsConsistent());
    EXPECT_GT(vectors.Recall(100), 0.97);
    EXPECT_GT(vectors.Recall(400), 0.995);
  }
}

TEST(HnswGraphTest, FindsBinaryVectors) {
  GraphWithVectors vectors(VectorEncoding::kBinary);
  for (int i = 0; i < 1000; ++i) vectors.Add();
  EXPECT_TRUE(vectors.graph().IsConsistent());
  const auto query = vectors.Encode(AnyVector(vectors.random()));
  // Many distances are equal, so the test compares distances instead of nodes.
  const std::vector<VectorHit> hits = vectors.Nearest(query.View(), 200);
  const std::vector<VectorHit> truth = vectors.NearestOfAll(query.View(), 3);
  for (size_t i = 0; i < truth.size(); ++i) EXPECT_EQ(hits[i].distance, truth[i].distance);
}

TEST(HnswGraphTest, StaysSearchableWhenNodesAreRemoved) {
  GraphWithVectors vectors(VectorEncoding::kInt8);
  std::vector<uint32_t> slots(2000);
  for (uint32_t& slot : slots) slot = vectors.Add();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const size_t at = vectors.random().Below(slots.size());
      vectors.graph().Erase(slots[at]);
      slots[at] = slots.back();
      slots.pop_back();
    }
    ASSERT_TRUE(vectors.graph().IsConsistent());
    EXPECT_GT(vectors.Recall(100), 0.95);
    for (int i = 0; i < 1000; ++i) slots.push_back(vectors.Add());
    ASSERT_TRUE(vectors.graph().IsConsistent());
    EXPECT_GT(vectors.Recall(100), 0.95);
  }
  EXPECT_EQ(vectors.graph().SlotLimit(), 2000u);  // the records of removed nodes are used again
  for (const uint32_t slot : slots) vectors.graph().Erase(slot);
  EXPECT_EQ(vectors.graph().Count(), 0u);
  EXPECT_TRUE(vectors.graph().IsConsistent());
  vectors.Add();
  EXPECT_TRUE(vectors.graph().IsConsistent());
}

TEST(HnswGraphTest, TheSameRandomNumbersMakeTheSameGraph) {
  GraphWithVectors one(VectorEncoding::kInt8, 7), other(VectorEncoding::kInt8, 7);
  for (int i = 0; i < 500; ++i) {
    one.Add();
    other.Add();
  }
  for (uint32_t slot = 0; slot < 500; ++slot) {
    const auto links = one.graph().LinksOf(slot, 0), other_links = other.graph().LinksOf(slot, 0);
    ASSERT_TRUE(std::equal(links.begin(), links.end(), other_links.begin(), other_links.end()));
  }
}

TEST(HnswGraphTest, ACopyIsIndependent) {
  GraphWithVectors vectors(VectorEncoding::kInt8);
  for (int i = 0; i < 300; ++i) vectors.Add();
  const HnswGraph copy(vectors.graph());
  for (uint32_t slot = 0; slot < 300; ++slot) vectors.graph().Erase(slot);
  EXPECT_EQ(copy.Count(), 300u);
  EXPECT_TRUE(copy.IsConsistent());
}

// Searches in small steps while nodes are added and removed.
TEST(HnswGraphTest, AnInterruptedSearchSurvivesChanges) {
  GraphWithVectors vectors(VectorEncoding::kInt8);
  for (int i = 0; i < 1000; ++i) vectors.Add();
  HnswGraph& graph = vectors.graph();
  for (int round = 0; round < 50; ++round) {
    const auto query = vectors.Encode(AnyVector(vectors.random()));
    const VectorHit entry = graph.Descend(query.View(), 0);
    HnswSearch search(graph, std::span(&entry, 1), 50, 0);
    const auto accepts = [&](uint32_t slot) {
      return slot % 3 == 0 ? HnswSearch::Verdict::kAccept : HnswSearch::Verdict::kReject;
    };
    int left = 0;
    const auto has_time = [&] { return left-- > 0; };
    for (left = 10; !search.Run(graph, query.View(), accepts, has_time); left = 10) {
      const auto slot = static_cast<uint32_t>(vectors.random().Below(graph.SlotLimit()));
      if (graph.IsUsed(slot)) graph.Erase(slot);
      if (vectors.random().Below(3) > 0) vectors.Add();
      while (graph.Count() < 500) vectors.Add();
    }
    for (const VectorHit& hit : search.TakeHits(graph)) EXPECT_EQ(hit.slot % 3, 0u);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Vectors

TEST(VectorFormatTest, KernelsAgree) {
  Random random(3);
  for (const uint32_t dimensions : {1U, 3U, 8U, 31U, 32U, 33U, 64U, 100U, 128U, 1536U}) {
    std::vector<int8_t> one(dimensions), other(dimensions);
    std::vector<float> first(dimensions), second(dimensions);
    std::vector<uint64_t> words(dimensions), more_words(dimensions);
    for (uint32_t i = 0; i < dimensions; ++i) {
      one[i] = static_cast<int8_t>(static_cast<int>(random.Below(255)) - 127);
      other[i] = static_cast<int8_t>(static_cast<int>(random.Below(2)) * 254 - 127);
      first[i] = static_cast<float>(random.Unit()) - 0.5F;
      second[i] = static_cast<float>(random.Unit()) - 0.5F;
      words[i] = random.Next();
      more_words[i] = random.Next();
    }
    const VectorKernels& best = VectorKernels::Best();
    const VectorKernels& plain = VectorKernels::Plain();
    EXPECT_EQ(best.dot_int8(one.data(), other.data(), dimensions),
              plain.dot_int8(one.data(), other.data(), dimensions));
    EXPECT_EQ(best.dot_int8(other.data(), other.data(), dimensions), static_cast<int>(dimensions) * 127 * 127);
    EXPECT_NEAR(best.dot_float(first.data(), second.data(), dimensions),
                plain.dot_float(first.data(), second.data(), dimensions), 1e-4);
    EXPECT_EQ(best.count_different(words.data(), more_words.data(), dimensions),
              plain.count_different(words.data(), more_words.data(), dimensions));
  }
}

TEST(VectorFormatTest, Int8KeepsTheDirection) {
  Random random(4);
  const VectorFormat format(VectorEncoding::kInt8, 100);
  for (int i = 0; i < 100; ++i) {
    const std::vector<float> vector = AnyVector(random, 100);
    std::vector<int8_t> bytes(100);
    const float scale = format.Encode(vector, bytes.data());
    std::vector<float> decoded;
    format.Decode({bytes.data(), scale}, 1, decoded);
    for (size_t k = 0; k < vector.size(); ++k) EXPECT_NEAR(decoded[k], vector[k], scale / 254 + 1e-6F);
    EXPECT_LT(format.Distance({bytes.data(), scale}, {bytes.data(), scale}), 0.01F);
  }
}

TEST(VectorFormatTest, ZerosAndExtremes) {
  std::vector<float> zeros(3);
  EXPECT_EQ(NormalizeVector(zeros), 1);
  EXPECT_EQ(zeros, std::vector<float>(3));
  std::vector<float> huge(4, 3e38F);
  EXPECT_EQ(NormalizeVector(huge), 3.4028234663852886e38F);  // the greatest float, because the length is greater
  for (const float x : huge) EXPECT_FLOAT_EQ(x, 0.5F);
  for (const VectorEncoding encoding : {VectorEncoding::kFloat, VectorEncoding::kInt8, VectorEncoding::kBinary}) {
    const VectorFormat format(encoding, 3);
    uint64_t words[2] = {};
    const float scale = format.Encode(zeros, words);
    const float distance = format.Distance({words, scale}, {words, scale});
    EXPECT_EQ(distance, encoding == VectorEncoding::kBinary ? 0 : 1);
  }
}

// The signs are those that Redis 8.6.3 uses.
TEST(VectorFormatTest, ProjectsAsRedisDoes) {
  const std::vector<float> matrix = HadamardProjection(4, 3);
  const std::vector<float> expected = {.5F, .5F, .5F, .5F, .5F, -.5F, .5F, -.5F, .5F, .5F, -.5F, -.5F};
  EXPECT_EQ(matrix, expected);
  EXPECT_EQ(ProjectVector(std::vector<float>{1, 2, 3, 4}, matrix), (std::vector<float>{5, -1, -2}));
}

}  // namespace
}  // namespace respite
