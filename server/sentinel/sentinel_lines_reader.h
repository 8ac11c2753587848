// SentinelLinesReader: reads the `sentinel …` directives of sentinel.conf into a Sentinel's state. LinesOf
// (sentinel_lines.h) writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/config/config_text.h"
#include "server/sentinel/instance_list.h"
#include "server/sentinel/sentinel_core.h"

namespace respite {

struct InvalidLine {  // a wrong directive of sentinel.conf, and why it is wrong
  const ConfigLine* line;
  std::string reason;  // why the line is wrong, for the error message
};

class SentinelLinesReader {  // reads the directives `sentinel …` of sentinel.conf
 public:
  SentinelLinesReader(const SentinelCore& core, InstanceList& list) : core_(core), list_(list) {}

  // Reads all lines, in any order. Returns the first invalid line with the reason, or nullopt if all are valid.
  std::optional<InvalidLine> Read(const std::vector<ConfigLine>& lines);

 private:
  using Words = std::vector<std::string>;
  using Objection = std::optional<std::string>;  // why a line is wrong; nullopt: it is right
  // kGlobal: about no single primary. kMonitor: adds a primary. kPrimary: about a primary that was added before.
  enum class Rank : uint8_t { kGlobal, kMonitor, kPrimary };

  static Rank RankOf(const std::string& keyword);  // in which of three passes the directive is read
  Objection ReadLine(const Words& words);          // reads one directive, without the word `sentinel`
  // Each of the following functions reads one kind of line; `words` begins with the word after `sentinel`. Those that
  // return optional<Objection> return nullopt if the line is of another kind, and otherwise an Objection, which is
  // empty if the line is right.
  std::optional<Objection> ReadGlobalLine(const std::string& keyword,  // reads a directive such as `myid`
                                          const Words& words);
  Objection ReadMonitorLine(const Words& words);                        // reads `monitor`, which adds a primary
  std::optional<Objection> ReadPrimaryLine(const std::string& keyword,  // reads a directive about one primary
                                           const Words& words);
  std::optional<Objection> ReadNumber(const std::string& keyword,  // reads a number, such as failover-timeout
                                      Primary& primary, const std::string& value);
  std::optional<Objection> ReadText(const std::string& keyword,  // reads a text, such as auth-pass
                                    Primary& primary, const std::string& value);
  std::optional<Objection> ReadLongPrimaryLine(const std::string& keyword,  // reads known-replica and the like
                                               Primary& primary, const Words& words);

  const SentinelCore core_;
  InstanceList& list_;
};

}  // namespace respite
