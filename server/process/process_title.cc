#include "server/process/process_title.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/str_cat.h"

namespace respite {

namespace {

std::string ListenAddress(const Settings& settings) {
  int port = settings.MainPort();
  if (port == 0) return "unixsocket:" + settings.unixsocket;
  return StrCat(settings.bind.empty() ? "*" : settings.bind[0], ":", port);
}

std::string Variable(std::string_view name, const Config& config, const std::string& program) {
  const Settings& settings = config.settings();
  if (name == "title") return program;
  if (name == "listen-addr") return ListenAddress(settings);
  if (name == "server-mode" && config.mode() == ServerMode::kSentinel) return "[sentinel]";
  if (name == "server-mode") return settings.cluster_enabled ? "[cluster]" : "";
  if (name == "config-file") return config.file().empty() ? "-" : config.file();
  if (name == "port") return std::to_string(settings.bound_port);
  if (name == "tls-port") return std::to_string(settings.tls_port);
  if (name == "unixsocket") return settings.unixsocket;
  return {};  // the directive accepts no other variables
}

std::string Trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Returns a copy of a text, which is never freed, because other code may hold pointers from getenv.
char* KeptCopy(const char* text) { return strdup(text); }

}  // namespace

std::string ProcessTitleText(const Config& config, const std::string& program) {
  std::string_view rest = config.settings().proc_title_template;
  std::string title;
  while (!rest.empty()) {
    size_t open = rest.find('{');
    title += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    rest.remove_prefix(open + 1);
    if (rest.starts_with('{')) {  // "{{" is a literal brace
      title += '{';
      rest.remove_prefix(1);
      continue;
    }
    size_t close = std::min(rest.find('}'), rest.size());
    title += Variable(rest.substr(0, close), config, program);
    rest.remove_prefix(std::min(close + 1, rest.size()));
  }
  return Trimmed(title);
}

void ProcessTitle::ClaimTitleMemory() {
  if (argc_ == 0) return;
  char* end = argv_[0];
  for (int i = 0; i < argc_ && argv_[i] == end; ++i) end += std::strlen(argv_[i]) + 1;
  size_t count = 0;
  for (; environ[count] != nullptr; ++count) {
    if (environ[count] == end) end += std::strlen(environ[count]) + 1;
  }
  char** moved = new char*[count + 1]();  // never freed, since it is now the environment
  for (size_t i = 0; i < count; ++i) moved[i] = KeptCopy(environ[i]);
  environ = moved;
  program_invocation_name = KeptCopy(program_invocation_name);
  program_invocation_short_name = KeptCopy(program_invocation_short_name);
  area_ = {argv_[0], end};
  argv_[0] = KeptCopy(argv_[0]);  // stack traces use it to name the program
  for (int i = 1; i < argc_; ++i) argv_[i] = end - 1;
}

void ProcessTitle::Set(const std::string& title) {
  if (area_.empty()) ClaimTitleMemory();
  if (area_.empty()) return;
  // Clears the whole memory of the title first. Otherwise ps would show parts of old environment variables.
  std::fill(area_.begin(), area_.end(), '\0');
  std::copy_n(title.begin(), std::min(title.size(), area_.size() - 1), area_.begin());
}

}  // namespace respite
