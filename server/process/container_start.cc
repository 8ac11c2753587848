#include "server/process/container_start.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "server/config/container_arguments.h"
#include "server/net/tls/made_certificates.h"

namespace respite {

namespace {

// The IDs of the user and the group `redis` in the image `redis`.
constexpr uid_t kUser = 999;
constexpr gid_t kGroup = 999;
constexpr mode_t kPrivate = 0077;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

void GiveFolderToUser() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (lchown(".", kUser, kGroup) != 0) return;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(".", fs::directory_options::skip_permission_denied, error)) {
    if (lchown(entry.path().c_str(), kUser, kGroup) != 0) return;  // the file system does not support owners
  }
}

// Gives the current folder to the user `redis` and becomes that user, if this process is root and is allowed to change
// its user. Otherwise keeps its user.
void BecomeUser() {
  if (geteuid() != 0) return;
  GiveFolderToUser();
  if (setgroups(0, nullptr) != 0 || setgid(kGroup) != 0) return;
  if (setuid(kUser) == 0) setenv("HOME", "/data", 1);
}

std::string RunOther(std::vector<std::string> arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words[0], words.data());
  return "exec " + arguments[0] + ": " + std::strerror(errno) + "\n";
}

bool IsOwnName(const std::string& program) {
  return program.find("-cli") != std::string::npos || program.find("-check-") != std::string::npos;
}

}  // namespace

PreparedArguments PrepareContainerProgram(const std::vector<std::string>& arguments) {
  ContainerPlan plan = PlanContainer(arguments, Variable);
  if (!StartsServer(plan)) {
    if (IsOwnName(plan.arguments[0])) return {std::move(plan.arguments), {}};
    std::string error = RunOther(plan.arguments);
    return {std::move(plan.arguments), std::move(error)};
  }
  if (!plan.certificate_folder.empty()) {
    if (auto error = MakeCertificates(plan.certificate_folder, plan.client_common_names)) return {{}, *error + "\n"};
  }
  umask(kPrivate);
  BecomeUser();
  return {std::move(plan.arguments), {}};
}

}  // namespace respite
