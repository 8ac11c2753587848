#include "server/config/container_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace respite {
namespace {

using testing::ElementsAre;

using Variables = std::map<std::string, std::string>;

ContainerPlan PlanFor(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  std::vector<std::string> words{"/usr/local/bin/docker-entrypoint"};
  for (const std::string& argument : arguments) words.push_back(argument);
  return PlanContainer(words, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(ContainerArguments, TheEntryPointIsKnownByItsName) {
  EXPECT_TRUE(IsContainerEntry("/usr/local/bin/docker-entrypoint"));
  EXPECT_TRUE(IsContainerEntry("docker-entrypoint"));
  EXPECT_FALSE(IsContainerEntry("/docker-entrypoint/redis-server"));
}

TEST(ContainerArguments, OptionsAndFilesMeanTheServer) {
  EXPECT_THAT(PlanFor({}).arguments, ElementsAre("redis-server"));
  EXPECT_THAT(PlanFor({"--port", "7000"}).arguments, ElementsAre("redis-server", "--port", "7000"));
  EXPECT_THAT(PlanFor({"/etc/redis.conf"}).arguments, ElementsAre("redis-server", "/etc/redis.conf"));
  EXPECT_THAT(PlanFor({"redis-sentinel", "/s.conf"}).arguments, ElementsAre("redis-sentinel", "/s.conf"));
}

TEST(ContainerArguments, OtherProgramsAreLeftAlone) {
  const ContainerPlan plan = PlanFor({"redis-cli", "ping"}, {{"PORT", "7000"}, {"TLS_ENABLED", "yes"}});
  EXPECT_FALSE(StartsServer(plan));
  EXPECT_THAT(plan.arguments, ElementsAre("redis-cli", "ping"));
  EXPECT_EQ(plan.certificate_folder, "");
}

TEST(ContainerArguments, TheEnvironmentComesBeforeOptionsAndBehindAFile) {
  const Variables variables = {{"PORT", "7000"}, {"REDIS_PASSWORD", "a b"}, {"PROTECTED_MODE", "yes"}};
  EXPECT_THAT(PlanFor({"/r.conf", "--port", "1"}, variables).arguments,
              ElementsAre("redis-server", "/r.conf", "--port", "7000", "--requirepass", "a b", "--protected-mode",
                          "yes", "--port", "1"));
}

TEST(ContainerArguments, ClustersAreCountedInPrimariesAndReplicas) {
  const auto nodes = [](const Variables& more) {
    Variables variables = {{"REDIS_CLUSTER", "yes"}};
    variables.insert(more.begin(), more.end());
    return PlanFor({}, variables).arguments.back();
  };
  EXPECT_EQ(nodes({}), "6x0");
  EXPECT_EQ(nodes({{"NODES", "6"}, {"REPLICAS", "1"}}), "3x1");
  EXPECT_EQ(nodes({{"NODES", "x"}, {"REPLICAS", "-1"}}), "6x0");
  EXPECT_EQ(nodes({{"NODES", "1"}, {"REPLICAS", "1"}}), "1x1");
  EXPECT_THAT(PlanFor({}, {{"REDIS_CLUSTER", "no"}, {"NODES", "6"}}).arguments, ElementsAre("redis-server"));
}

TEST(ContainerArguments, ReplicasOfAClusterLogIn) {
  EXPECT_THAT(
      PlanFor({}, {{"REDIS_CLUSTER", "yes"}, {"REDIS_PASSWORD", "x"}, {"NODES", "2"}, {"REPLICAS", "1"}}).arguments,
      ElementsAre("redis-server", "--requirepass", "x", "--masterauth", "x", "--nodes", "1x1"));
}

TEST(ContainerArguments, TlsNeedsCertificates) {
  const ContainerPlan plan =
      PlanFor({}, {{"TLS_ENABLED", "yes"}, {"TLS_PORT", "7001"}, {"TLS_CLIENT_CNS", " ada  bob"}});
  EXPECT_THAT(plan.arguments, ElementsAre("redis-server", "--tls-port", "7001", "--tls-cert-file",
                                          "/redis/work/tls/redis.crt", "--tls-key-file", "/redis/work/tls/redis.key",
                                          "--tls-ca-cert-file", "/redis/work/tls/ca.crt"));
  EXPECT_EQ(plan.certificate_folder, "/redis/work/tls");
  EXPECT_THAT(plan.client_common_names, ElementsAre("ada", "bob"));
  EXPECT_THAT(PlanFor({}, {{"TLS_PORT", "7001"}}).arguments, ElementsAre("redis-server"));
}

}  // namespace
}  // namespace respite
