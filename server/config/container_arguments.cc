#include "server/config/container_arguments.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

constexpr char kCertificates[] = "/redis/work/tls";
constexpr std::array kServers = {"redis-server", "respite-server", "valkey-server", "redis-sentinel",
                                 "valkey-sentinel"};
constexpr int64_t kNodes = 6;

Bytes NameOf(Bytes path) { return path.substr(path.rfind('/') == Bytes::npos ? 0 : path.rfind('/') + 1); }

bool MeansServer(Bytes argument) { return argument.starts_with('-') || argument.ends_with(".conf"); }

int64_t NumberIn(const std::string& text, int64_t otherwise) {
  return text.empty() ? otherwise : ParseInteger(text).value_or(otherwise);
}

// Builds the server's command-line options from environment variables.
class Options {
 public:
  explicit Options(const Variables& variables) : variables_(variables) {}

  void AddEqual(const char* variable, const char* option) {
    const std::string value = variables_(variable);
    if (!value.empty()) Add(option, value);
  }

  void AddTls() {
    const std::string port = variables_("TLS_PORT");
    Add("--tls-port", port.empty() ? "6666" : port);
    const std::string folder = kCertificates;
    Add("--tls-cert-file", folder + "/redis.crt");
    Add("--tls-key-file", folder + "/redis.key");
    Add("--tls-ca-cert-file", folder + "/ca.crt");
  }

  // Adds the option `--nodes` according to the variables NODES and REPLICAS. NODES is the number of all nodes, but
  // `--nodes` needs the number of primaries and the number of replicas per primary.
  void AddCluster() {
    AddEqual("REDIS_PASSWORD", "--masterauth");
    const int64_t replicas = std::max<int64_t>(NumberIn(variables_("REPLICAS"), 0), 0);
    const int64_t primaries = NumberIn(variables_("NODES"), kNodes) / (replicas + 1);
    Add("--nodes", StrCat(std::max<int64_t>(primaries, 1), "x", replicas));
  }

  std::vector<std::string> Take() { return std::move(options_); }

 private:
  void Add(const char* option, const std::string& value) {
    options_.emplace_back(option);
    options_.push_back(value);
  }

  const Variables& variables_;
  std::vector<std::string> options_;
};

std::vector<std::string> OptionsFrom(const Variables& variables) {
  Options options(variables);
  options.AddEqual("PORT", "--port");
  options.AddEqual("REDIS_PASSWORD", "--requirepass");
  options.AddEqual("PROTECTED_MODE", "--protected-mode");
  if (variables("TLS_ENABLED") == "yes") options.AddTls();
  if (variables("REDIS_CLUSTER") == "yes") options.AddCluster();
  return options.Take();
}

std::vector<std::string> WordsIn(const std::string& text) {
  std::vector<std::string> words;
  for (Bytes word : SplitOn(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

}  // namespace

bool IsContainerEntry(const std::string& program) { return NameOf(program) == "docker-entrypoint"; }

bool StartsServer(const ContainerPlan& plan) { return std::ranges::count(kServers, NameOf(plan.arguments[0])) > 0; }

ContainerPlan PlanContainer(ConfigWords arguments, const Variables& variables) {
  ContainerPlan plan;
  plan.arguments.assign(arguments.begin() + 1, arguments.end());
  if (plan.arguments.empty() || MeansServer(plan.arguments[0])) {
    plan.arguments.insert(plan.arguments.begin(), "redis-server");
  }
  if (!StartsServer(plan)) return plan;
  // Inserts the options from the environment before the other options, but after a configuration file, which must be
  // the first argument of the program.
  const bool has_file = plan.arguments.size() > 1 && !plan.arguments[1].starts_with("--");
  const std::vector<std::string> options = OptionsFrom(variables);
  plan.arguments.insert(plan.arguments.begin() + (has_file ? 2 : 1), options.begin(), options.end());
  if (variables("TLS_ENABLED") == "yes") {
    plan.certificate_folder = kCertificates;
    plan.client_common_names = WordsIn(variables("TLS_CLIENT_CNS"));
  }
  return plan;
}

}  // namespace respite
