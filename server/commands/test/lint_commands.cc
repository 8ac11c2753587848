// TEST LINT reports mistakes in the requests of clients. TEST MISSING reports features that clients tried to use and
// that this server lacks.
#include <array>
#include <string>
#include <vector>

#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

std::string RuleNames() {
  std::string names;
  for (const LintRuleInfo& info : AllLintRules()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

Lint& TheLint(Call& call) { return call.services.lab.lint; }

LintRule RuleNamed(Bytes name) {
  const auto rule = FindLintRule(name);
  if (!rule) RefuseArgument(name, "rule", "one of " + RuleNames());
  return *rule;
}

// Parses the name of a rule. Also stores the value of the rule in `limits` if there is one, as in `big-value=100kb`.
LintRule TakeRule(Bytes word, LintLimits& limits) {
  const size_t sign = word.find('=');
  const LintRule rule = RuleNamed(word.substr(0, sign));
  const LintRuleInfo& info = GetLintRuleInfo(rule);
  const std::string name(info.name);
  if (sign == Bytes::npos) {
    if (!info.NeedsValue()) return rule;
    throw Refusal{"ERR " + name + " needs a " + std::string(info.value) + ". Write " + name + "=" +
                  std::string(info.example)};
  }
  if (info.value.empty()) throw Refusal{"ERR " + name + " has no value"};
  const Bytes value = word.substr(sign + 1);
  if (!SetLintLimit(rule, value, limits)) RefuseArgument(value, std::string(info.value), std::string(info.example));
  return rule;
}

std::vector<LintRule> TakeRules(Call& call, LintLimits& limits) {
  std::vector<LintRule> rules;
  while (!call.args.AtEnd()) rules.push_back(TakeRule(call.args.Next(), limits));
  return rules;
}

// Sets the mode of `rules`, and the limits of all rules. Must be called only after all arguments were parsed, so that
// an invalid argument changes nothing.
void SetMode(Call& call, const std::vector<LintRule>& rules, LintMode mode, const LintLimits& limits) {
  TheLint(call).limits() = limits;
  TheLint(call).SetMode(rules, mode);
  call.reply.Ok();
}

// Turns on the named rules. Without names, turns on all rules that need no value.
void TurnRulesOn(Call& call) {
  LintLimits limits = TheLint(call).limits();
  std::vector<LintRule> rules = TakeRules(call, limits);
  if (rules.empty()) {
    for (size_t i = 0; i < kLintRuleCount; ++i) {
      if (!AllLintRules()[i].NeedsValue()) rules.push_back(static_cast<LintRule>(i));
    }
  }
  SetMode(call, rules, LintMode::kOn, limits);
}

void MakeRulesStrict(Call& call) {
  LintLimits limits = TheLint(call).limits();
  const std::vector<LintRule> rules = TakeRules(call, limits);
  if (rules.empty()) throw Refusal{"ERR name the rules that are to refuse requests. There are " + RuleNames()};
  SetMode(call, rules, LintMode::kStrict, limits);
}

void TurnRulesOff(Call& call) {
  std::vector<LintRule> rules;
  while (!call.args.AtEnd()) rules.push_back(RuleNamed(call.args.Next()));
  if (rules.empty()) {
    TheLint(call).Stop();
  } else {
    TheLint(call).SetMode(rules, LintMode::kOff);
  }
  call.reply.Ok();
}

void ClearFindings(Call& call) {
  call.args.ExpectEnd();
  TheLint(call).Clear();
  call.reply.Ok();
}

void ShowFinding(Call& call, const LintFinding& finding) {
  const LintRuleInfo& info = GetLintRuleInfo(finding.rule);
  ReplyFields(call.reply, 9 + ReplyFields::kClientFields)
      .Text("rule", info.name)
      .Text("why", finding.why)
      .Text("instead", info.instead)
      .Text("command", finding.command)
      .Text("request", finding.request)
      .Text("key", finding.key)
      .Client(*finding.client)
      .Number("count", static_cast<int64_t>(finding.count))
      .Number("first", finding.first_ms)
      .Number("last", finding.last_ms);
}

void ReportFindings(Call& call) {
  std::vector<LintRule> rules;
  while (!call.args.AtEnd()) rules.push_back(RuleNamed(call.args.Next()));
  if (!TheLint(call).HasBegun()) throw Refusal{"ERR no rule has been on. TEST LINT ON begins"};
  std::vector<const LintFinding*> shown = TheLint(call).Report();
  if (!rules.empty()) {
    std::erase_if(shown,
                  [&](const LintFinding* finding) { return std::ranges::find(rules, finding->rule) == rules.end(); });
  }
  call.reply.Array(shown.size());
  for (const LintFinding* finding : shown) ShowFinding(call, *finding);
}

void ShowRules(Call& call) {
  call.args.ExpectEnd();
  constexpr std::array<Bytes, 3> kModes = {"off", "on", "strict"};
  call.reply.Array(kLintRuleCount);
  for (size_t i = 0; i < kLintRuleCount; ++i) {
    const LintRuleInfo& info = AllLintRules()[i];
    const auto rule = static_cast<LintRule>(i);
    ReplyFields(call.reply, 5)
        .Text("rule", info.name)
        .Text("mode", kModes[static_cast<size_t>(TheLint(call).ModeOf(rule))])
        .Text("value", info.value.empty() ? "" : LintLimitText(rule, TheLint(call).limits()))
        .Text("finds", info.finds)
        .Text("instead", info.instead);
  }
}

constexpr std::array kLintActions = {TestAction{"on", TurnRulesOn},      TestAction{"strict", MakeRulesStrict},
                                     TestAction{"off", TurnRulesOff},    TestAction{"report", ReportFindings},
                                     TestAction{"clear", ClearFindings}, TestAction{"rules", ShowRules}};

struct TestLint {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|LINT action(on{ON [on-rule<rule[=value]>:string...]}|strict{STRICT "
      "strict-rule<rule[=value]>:string...}|off{OFF "
      "[off-rule<rule>:string...]}|report{REPORT [shown-rule<rule>:string...]}|CLEAR|RULES)",
      "Finds requests that work in a test and fail in production, or refuses them.");
  static void Run(Call& call) { RunTestAction(call, kLintActions); }
};

struct TestMissing {
  static constexpr CommandSpec spec =
      TestSpec("TEST|MISSING [CLEAR]", "Shows features that clients have requested and this server lacks.");
  static void Run(Call& call) {
    MissingFeatures& missing = call.services.lab.missing;
    if (call.args.TakeToken("CLEAR")) {
      call.args.ExpectEnd();
      missing.Clear();
      return call.reply.Ok();
    }
    call.args.ExpectEnd();
    constexpr std::array<Bytes, 4> kKinds = {"command", "subcommand", "option", "directive"};
    call.reply.Array(missing.All().size());
    for (const MissingFeature* feature : missing.All()) {
      ReplyFields(call.reply, 6 + ReplyFields::kClientFields)
          .Text("kind", kKinds[static_cast<size_t>(feature->kind)])
          .Text("what", feature->name)
          .Text("request", feature->request)
          .Client(*feature->first_client)
          .Number("count", static_cast<int64_t>(feature->count))
          .Number("first", feature->first_ms)
          .Number("last", feature->last_ms);
    }
  }
};

constexpr auto kTestLintCommands = Family<TestLint, TestMissing>();

}  // namespace

std::span<const CommandCard> TestLintCommands() { return kTestLintCommands; }

}  // namespace respite
