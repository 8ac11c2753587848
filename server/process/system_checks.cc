#include "server/process/system_checks.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "base/descriptor.h"
#include "base/str_cat.h"

namespace respite {

namespace {

constexpr char kClockSource[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
constexpr char kClockSources[] = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

SystemCheck Skipped(const char* name) { return {name, CheckResult::kSkipped, {}}; }
SystemCheck Passed(const char* name) { return {name, CheckResult::kPassed, {}}; }
SystemCheck Warning(const char* name, std::string advice) { return {name, CheckResult::kWarning, std::move(advice)}; }

int64_t Us(const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }
int64_t Us(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000; }

int64_t NowUs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Us(now);
}

// Reads the clock for 50 ms, and warns if much of this time is spent in system calls. With a good clock source, reading
// the clock needs none.
SystemCheck CheckClockSpeed() {
  constexpr char kName[] = "slow-clocksource";
  constexpr int64_t kTestUs = 50'000;
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  for (int64_t end_us = NowUs() + kTestUs; NowUs() < end_us;) {
  }
  getrusage(RUSAGE_SELF, &after);
  int64_t system_us = Us(after.ru_stime) - Us(before.ru_stime);
  int64_t user_us = Us(after.ru_utime) - Us(before.ru_utime);
  if (system_us * 10 <= system_us + user_us) return Passed(kName);
  return Warning(kName, "Reading the clock needs a system call, which slows every command down. The clock source is '" +
                            FirstLineOf(kClockSource).value_or("") +
                            "', available: " + FirstLineOf(kClockSources).value_or("") +
                            ". Select a faster one by writing its name (often tsc) to " + kClockSource +
                            ", and permanently with the kernel parameter clocksource=.");
}

SystemCheck CheckXenClock() {
  constexpr char kName[] = "xen-clocksource";
  auto source = FirstLineOf(kClockSource);
  if (!source) return Skipped(kName);
  if (*source != "xen") return Passed(kName);
  return Warning(kName,
                 "The clock source of this machine is 'xen', which may be slow. Run with --check-system to see "
                 "whether it is.");
}

SystemCheck CheckOvercommit() {
  constexpr char kName[] = "overcommit";
  auto mode = FirstLineOf("/proc/sys/vm/overcommit_memory");
  if (!mode) return Skipped(kName);
  if (*mode == "1") return Passed(kName);
  return Warning(kName,
                 "Memory overcommit must be enabled! Otherwise the kernel may refuse memory for a background save "
                 "or replication although there is enough. Run 'sysctl vm.overcommit_memory=1' now and add "
                 "'vm.overcommit_memory = 1' to /etc/sysctl.conf for the next boot.");
}

SystemCheck CheckHugePages() {
  constexpr char kName[] = "THP";
  auto mode = FirstLineOf("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!mode) return Skipped(kName);
  if (mode->find("[always]") == std::string::npos) return Passed(kName);
  return Warning(kName,
                 "Transparent Huge Pages (THP) are always on in this kernel, which costs latency and memory. Write "
                 "'madvise' to /sys/kernel/mm/transparent_hugepage/enabled, then restart the server.");
}

bool TurnHugePagesOff(const Settings& settings) {
  return settings.disable_thp && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
}

void Warn(const SystemCheck& check, Logger& log) {
  if (check.result == CheckResult::kWarning) log.Warning("WARNING " + check.advice);
}

}  // namespace

std::vector<SystemCheck> CheckSystem() {
  return {CheckClockSpeed(), CheckXenClock(), CheckOvercommit(), CheckHugePages()};
}

int PrintSystemChecks() {
  int exit_code = 0;
  for (const SystemCheck& check : CheckSystem()) {
    const char* result = check.result == CheckResult::kSkipped  ? "skipped"
                         : check.result == CheckResult::kPassed ? "OK"
                                                                : "WARNING:";
    std::printf("[%s]...%s\n", check.name.c_str(), result);
    if (check.result != CheckResult::kWarning) continue;
    std::printf("%s\n", check.advice.c_str());
    exit_code = 1;
  }
  std::fflush(stdout);
  return exit_code;
}

void WarnAboutSystem(const Settings& settings, Logger& log) {
  Warn(CheckOvercommit(), log);
  SystemCheck huge_pages = CheckHugePages();
  if (huge_pages.result == CheckResult::kWarning && !TurnHugePagesOff(settings)) Warn(huge_pages, log);
  Warn(CheckXenClock(), log);
}

void WarnAboutBacklog(const Settings& settings, Logger& log) {
  int granted = std::atoi(FirstLineOf("/proc/sys/net/core/somaxconn").value_or("0").c_str());
  if (granted <= 0 || granted >= settings.tcp_backlog) return;
  log.Warning(StrCat("WARNING: The TCP backlog setting of ", settings.tcp_backlog,
                     " cannot be enforced because /proc/sys/net/core/somaxconn is set to the lower value of ", granted,
                     "."));
}

}  // namespace respite
