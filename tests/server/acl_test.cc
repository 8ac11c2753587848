// ACL: tests in addition to tests/transcripts/acl.resp, which has the rules, the checks and their exact replies.
#include <iterator>
#include <string>

#include "base/random.h"
#include "base/str_cat.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kAclFile[] = "users.acl";

class Acl : public CommandTest {
 protected:
  explicit Acl(std::vector<std::string> directives = {}) : CommandTest(std::move(directives)) {}

  void LogIn(TestClient& client, const std::string& name) { EXPECT_THAT(client.Run("AUTH " + name + " x"), Ok()); }
  std::string Info(const std::string& field) {
    const std::string text = Run("INFO stats").Text();
    const size_t at = text.find("\n" + field + ":") + field.size() + 2;
    return text.substr(at, text.find('\r', at) - at);
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, Acl, BothVersions(), VersionName);

// Each new rule is compared with all existing ones.
TEST_P(Acl, TheNumberOfRulesIsLimited) {
  const auto set = [this](const std::string& sign, size_t from, size_t count) {
    std::vector<std::string> words = {"ACL", "SETUSER", "ann"};
    for (size_t i = from; i < from + count; ++i) words.push_back(StrCat(sign, i));
    return Run(words);
  };
  for (const std::string sign : {"~", "&", ">", "+select|"}) {
    EXPECT_THAT(set(sign, 0, kMaxAclEntries), Ok()) << sign;
    EXPECT_THAT(set(sign, 0, kMaxAclEntries), Ok()) << sign;
    EXPECT_THAT(set(sign, kMaxAclEntries, 1), Error("ERR Error in ACL SETUSER modifier '" + sign + "5000" +
                                                    "': Too many rules of this kind, at most 5000 are possible"))
        << sign;
  }
  EXPECT_THAT(set("~", 0, 10'001), Error("ERR Too many rules, at most 10000 are possible in one request"));
  EXPECT_THAT(Run("ACL SETUSER ann reset ~x"), Ok());
}

// A script can be refused hundreds of keys of many megabytes.
TEST_P(Acl, TheLogKeepsTheBeginningOfLongTexts) {
  Run("ACL SETUSER ann on >x ~a +@all");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  EXPECT_THAT(ann.Run({"GET", std::string(5000, 'k')}), ErrorStartsWith("NOPERM"));
  EXPECT_EQ(Run("ACL LOG")[0][7].Text(), std::string(4096, 'k'));
  EXPECT_THAT(ann.Run({"AUTH", std::string(5000, 'u'), "x"}), ErrorStartsWith("WRONGPASS"));
  EXPECT_EQ(Run("ACL LOG")[0][9].Text(), std::string(4096, 'u'));
  Run({"CLIENT", "SETNAME", std::string(5000, 'n')});
  Run("AUTH nobody x");
  EXPECT_EQ(Run("ACL LOG")[0][13].Text().size(), 4096U);
}

// ACL SAVE writes what ACL LIST shows, so it must describe the same user again.
TEST_P(Acl, RulesThatCouldNotBeReadBackAreRefusedOrRewritten) {
  EXPECT_THAT(Run("ACL SETUSER ann ~a %RW~*"), Ok());
  EXPECT_THAT(Run("ACL LIST")[0].Text(), HasSubstr(" ~* resetchannels"));
  EXPECT_THAT(Run("ACL SETUSER ann ~b"),
              ErrorStartsWith("ERR Error in ACL SETUSER modifier '~b': Adding a pattern after"));
  EXPECT_THAT(Run("ACL SETUSER bob %R~* ~a %W~*"), Ok());
  EXPECT_THAT(Run("ACL LIST")[1].Text(), HasSubstr(" ~* resetchannels"));
  EXPECT_THAT(Run({"ACL", "SETUSER", "cid", "+select|0 1"}),
              Error("ERR Error in ACL SETUSER modifier '+select|0 1': Syntax error"));
  EXPECT_THAT(Run({"ACL", "SETUSER", "cid", "(+get ~a) )"}), Ok());
  EXPECT_THAT(Run("ACL LIST")[2].Text(), HasSubstr(" -@all (\"~a)\" resetchannels -@all +get)"));
}

// The arguments of a selector are split like a line of redis.conf: quotes are no part of a pattern.
TEST_P(Acl, QuotesInSelectors) {
  struct Case {
    const char* rule;
    const char* shown;  // in ACL LIST
    const char* key;    // a key that GET may read; empty: none
  };
  for (const Case& one :
       {Case{"(~'x' +get)", "(~x resetchannels -@all +get)", "x"},
        Case{"(+get \"~k\")", "(~k resetchannels -@all +get)", "k"},
        Case{"(~a\"b\" +get)", "(~ab resetchannels -@all +get)", "ab"},
        Case{"(\"~a\\x41\" +get)", "(~aA resetchannels -@all +get)", "aA"},
        Case{"(~a\\x41 +get)", "(~a\\x41 resetchannels -@all +get)", "ax41"},
        Case{"(~k\t+get)", "(~k resetchannels -@all +get)", "k"}, Case{"(~\"q +get)", "(resetchannels -@all)", ""},
        Case{"(\"~'x\" +get)", "(\"~'x\" resetchannels -@all +get)", "'x"},
        Case{"(~k) +get)", "(\"~k)\" resetchannels -@all +get)", "k)"},
        Case{"(+select|a) ~k +get)", "(~k resetchannels -@all \"+select|a)\" +get)", "k"}}) {
    SCOPED_TRACE(one.rule);
    EXPECT_THAT(Run({"ACL", "SETUSER", "ann", "reset", "on", "nopass", one.rule}), Ok());
    EXPECT_THAT(Run("ACL LIST")[0].Text(), testing::EndsWith(std::string("-@all ") + one.shown));
    TestClient ann(server(), GetParam());
    LogIn(ann, "ann");
    for (const char* key : {"x", "'x'", "k", "\"~k\"", "ab", "aA", "ax41", "q", "\"q", "'x", "k)"}) {
      const TestReply reply = ann.Run({"GET", key});
      if (Bytes(key) == one.key) {
        EXPECT_THAT(reply, Nil()) << key;
      } else {
        EXPECT_THAT(reply, ErrorStartsWith("NOPERM")) << key;
      }
    }
  }
  EXPECT_THAT(Run({"ACL", "SETUSER", "ann", "(~\"a b\" +get)"}),
              Error("ERR Error in ACL SETUSER modifier '(~\"a b\" +get)': Syntax error"));
}

TEST_P(Acl, AnUnmatchedParenthesisIsNamedWithItsWholeWord) {
  EXPECT_THAT(Run({"ACL", "SETUSER", "ann", "(+get ~a"}),
              Error("ERR Unmatched parenthesis in acl selector starting at '(+get ~a'."));
  EXPECT_THAT(Run({"ACL", "SETUSER", "ann", "(+get", "~a"}),
              Error("ERR Unmatched parenthesis in acl selector starting at '(+get'."));
}

TEST_P(Acl, AccessWithoutAPatternIsTheEmptyPattern) {
  EXPECT_THAT(Run("ACL SETUSER ann %R %W"), Ok());
  EXPECT_THAT(Run("ACL LIST")[0].Text(), HasSubstr(" ~ resetchannels"));
  EXPECT_THAT(Run("ACL SETUSER bob (%R) %W"), Ok());
  EXPECT_THAT(Run("ACL LIST")[1].Text(), HasSubstr(" %W~ resetchannels -@all (%R~ resetchannels -@all)"));
  for (const char* rule : {"%", "%~", "%RR", "%X"}) {
    EXPECT_THAT(Run({"ACL", "SETUSER", "ann", rule}), ErrorStartsWith("ERR Error in ACL SETUSER modifier")) << rule;
  }
}

// Reads the same users from lines of a configuration file and from an ACL file, with hostile names and patterns.
TEST_P(Acl, HostileUsersReadBack) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  const auto hostile = [&](Bytes letters) {
    std::string text;
    for (uint64_t n = random.Below(6); n > 0; --n) {
      text += random.Below(4) == 0 ? static_cast<char>(random.Below(256)) : letters[random.Below(letters.size())];
    }
    return text;
  };
  constexpr Bytes kLetters = "\"'\\()#~%&*ax \x80\xff\x01";
  int made = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> words = {"ACL", "SETUSER", "u" + hostile(kLetters)};
    for (uint64_t n = random.Below(4); n > 0; --n) {
      static constexpr const char* kKinds[] = {"~", "%R~", "%W~", "&", "+select|", "+get", "(", "(~", "(+get ~", ">"};
      const char* kind = kKinds[random.Below(std::size(kKinds))];
      std::string rule = kind + hostile(kLetters);
      if (kind[0] == '(') rule += random.Below(2) == 0 ? " +get)" : ")";
      words.push_back(std::move(rule));
    }
    if (!Run(words).tree->IsError()) ++made;
  }
  EXPECT_GT(made, 20);
  const Users& users = server()->services().clients.users;
  const std::vector<std::string> lines = users.AclFileLines();
  TestServer from_config(TestServer::Options{.directives = users.ConfigLines()});
  EXPECT_EQ(from_config->services().clients.permissions.LoadConfiguredUsers(), std::nullopt);
  EXPECT_EQ(from_config->services().clients.users.AclFileLines(), lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  TestServer from_file;
  EXPECT_EQ(from_file->services().clients.permissions.LoadAclLines(text, "users.acl", nullptr), std::nullopt);
  EXPECT_EQ(from_file->services().clients.users.AclFileLines(), lines);
}

TEST_P(Acl, TheLogHasUserReasonAndObject) {
  Run("ACL SETUSER ann on >x ~k* +get +set +eval +multi &c +publish");
  TestClient ann(server(), GetParam());
  ann.Run("AUTH ann wrong");
  LogIn(ann, "ann");
  ann.Run("DEL k");
  ann.Run("GET other");
  clock().AdvanceMs(1500);
  ann.Run("PUBLISH channel m");
  ann.Run({"EVAL", "return redis.pcall('get','hidden')", "0"});
  ann.Run("MULTI");
  ann.Run("INCR k");
  const TestReply log = Run("ACL LOG");
  ASSERT_EQ(log.Size(), 6u);
  const auto field = [&](size_t entry, size_t at) { return log[entry][2 * at + 1]; };
  const auto expect = [&](size_t entry, const char* reason, const char* context, const char* object) {
    EXPECT_THAT(field(entry, 1), Bulk(reason));
    EXPECT_THAT(field(entry, 2), Bulk(context));
    EXPECT_THAT(field(entry, 3), Bulk(object));
    EXPECT_THAT(field(entry, 4), Bulk("ann"));
  };
  expect(0, "command", "multi", "incr");
  expect(1, "key", "lua", "hidden");
  expect(2, "channel", "toplevel", "channel");
  expect(3, "key", "toplevel", "other");
  expect(4, "command", "toplevel", "del");
  expect(5, "auth", "toplevel", "AUTH");
  EXPECT_THAT(field(3, 5), Double(1.5));
  EXPECT_THAT(field(4, 6).Text(), HasSubstr(" cmd=del user=ann "));
  EXPECT_THAT(field(4, 8), Int(now_ms() - 1500));
  EXPECT_EQ(Info("acl_access_denied_auth") + Info("acl_access_denied_cmd") + Info("acl_access_denied_key") +
                Info("acl_access_denied_channel"),
            "1221");
  EXPECT_EQ(Run("ACL LOG 2").Size(), 2u);
  EXPECT_THAT(Run("ACL LOG RESET"), Ok());
  EXPECT_EQ(Run("ACL LOG").Size(), 0u);
}

TEST_P(Acl, TheSameRefusalWithinAMinuteIsOneEntry) {
  Run("ACL SETUSER ann on >x");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  ann.Run("GET k");
  ann.Run("GET k");
  clock().AdvanceMs(59'000);
  ann.Run("GET k");
  ASSERT_EQ(Run("ACL LOG").Size(), 1u);
  EXPECT_THAT(Run("ACL LOG")[0][1], Int(3));
  clock().AdvanceMs(61'000);
  ann.Run("GET k");
  EXPECT_EQ(Run("ACL LOG").Size(), 2u);
  EXPECT_THAT(Run("CONFIG SET acllog-max-len 1"), Ok());
  EXPECT_EQ(Run("ACL LOG").Size(), 2u);  // until the next entry
  ann.Run("GET k");
  EXPECT_EQ(Run("ACL LOG").Size(), 1u);
}

TEST_P(Acl, ForbiddenSubscriptionsCloseTheClient) {
  Run("ACL SETUSER ann on >x +@all allchannels");
  TestClient channel(server(), GetParam()), pattern(server(), GetParam()), idle(server(), GetParam());
  for (TestClient* client : {&channel, &pattern, &idle}) LogIn(*client, "ann");
  channel.Run("SUBSCRIBE news");
  pattern.Run("PSUBSCRIBE n*");
  EXPECT_THAT(Run("ACL SETUSER ann resetchannels &news &n*"), Ok());
  EXPECT_FALSE(channel.Closed() || pattern.Closed());
  EXPECT_THAT(Run("ACL SETUSER ann resetchannels &n*"), Ok());
  EXPECT_FALSE(channel.Closed() || pattern.Closed());  // the pattern also covers the channel
  EXPECT_THAT(Run("ACL SETUSER ann resetchannels &news"), Ok());
  EXPECT_FALSE(channel.Closed());
  EXPECT_TRUE(pattern.Closed());
  EXPECT_FALSE(idle.Closed());
}

TEST_P(Acl, AUserThatDeletesItselfGetsTheReply) {
  Run("ACL SETUSER ann on >x +@all ~*");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  EXPECT_THAT(ann.Run("ACL DELUSER ann"), Int(1));
  EXPECT_TRUE(ann.Closed());
}

TEST_P(Acl, ATransactionThatDeletesItsUserRunsNothingMore) {
  Run("ACL SETUSER ann on >x +@all ~own*");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  Run("CONFIG SET requirepass p");
  for (const char* line : {"MULTI", "ACL DELUSER ann", "SET own 1", "GET own"}) ann.Run(line);
  constexpr char kNotAuthenticated[] = "NOAUTH Authentication required.";
  EXPECT_THAT(ann.Run("EXEC"), ArrayOf(Int(1), Error(kNotAuthenticated), Error(kNotAuthenticated)));
  EXPECT_TRUE(ann.Closed());
  EXPECT_THAT(Run("EXISTS own"), Int(0));
}

TEST_P(Acl, ClientsAreFoundByTheirUser) {
  Run("ACL SETUSER ann on >x +@all ~*");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  EXPECT_THAT(Run("CLIENT LIST").Text(), HasSubstr(" user=ann "));
  EXPECT_THAT(Run("CLIENT KILL USER nobody"), Error("ERR No such user 'nobody'"));
  EXPECT_THAT(Run("CLIENT KILL USER ann"), Int(1));
  EXPECT_TRUE(ann.Closed());
}

TEST_P(Acl, RulesStayOutOfTheSlowLog) {
  Run("CONFIG SET slowlog-log-slower-than 0");
  Run("ACL SETUSER ann on >secret ~key");
  const TestReply entry = Run("SLOWLOG GET 1");
  EXPECT_THAT(entry[0][3], ArrayOf({Bulk("ACL"), Bulk("SETUSER"), Bulk("(redacted)"), Bulk("(redacted)"),
                                    Bulk("(redacted)"), Bulk("(redacted)")}));
}

TEST_P(Acl, PasswordsOfTheConfigurationStayOutOfTheSlowLog) {
  Run("CONFIG SET slowlog-log-slower-than 0");
  for (const std::string name : {"masterauth", "tls-key-file-pass", "tls-client-key-file-pass"}) {
    EXPECT_THAT(Run({"CONFIG", "SET", name, "secret"}), Ok());
    EXPECT_THAT(Run("SLOWLOG GET 1")[0][3], ArrayOf({Bulk("CONFIG"), Bulk("SET"), Bulk(name), Bulk("(redacted)")}));
  }
}

TEST_P(Acl, ARuleIsAppliedWithAllOthersOrNotAtAll) {
  Run("ACL SETUSER ann on >x +get");
  Run("ACL SETUSER ann +set ~k* foo");
  EXPECT_THAT(Run("ACL GETUSER ann")[5], Bulk("-@all +get"));
}

TEST_P(Acl, ResetForgetsTheUser) {
  Run("ACL SETUSER ann on >x +@all");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  EXPECT_THAT(ann.Run("ACL WHOAMI"), Bulk("ann"));
  ann.Run("RESET");
  EXPECT_THAT(ann.Run("ACL WHOAMI"), Bulk("default"));
}

TEST_P(Acl, ScriptsMayAskAboutRequestsThatAreTooShort) {
  Run("ACL SETUSER ann on >x ~k* +@all resetchannels");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  for (const std::string request : {"'publish'", "'subscribe'", "'sort'", "'set'", "'get'", "'migrate', 'h'"})
    EXPECT_THAT(ann.Run({"EVAL", "return redis.acl_check_cmd(" + request + ")", "0"}), Int(1)) << request;
  EXPECT_THAT(ann.Run({"EVAL", "return redis.acl_check_cmd('publish', 'c', 'm')", "0"}), Nil());
}

TEST_P(Acl, KeysOfEveryKindOfAccess) {
  Run("ACL SETUSER ann on >x +@all %R~r* %W~w*");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  const auto denied = Error("NOPERM No permissions to access a key");
  EXPECT_THAT(ann.Run("GET r"), Nil());
  EXPECT_THAT(ann.Run("SET r v"), denied);
  EXPECT_THAT(ann.Run("SET w v"), Ok());
  EXPECT_THAT(ann.Run("SET w v GET"), denied);  // also reads
  EXPECT_THAT(ann.Run("STRLEN w"), Int(1));     // Redis: does not read the value itself
  EXPECT_THAT(ann.Run("GETDEL w"), denied);
  EXPECT_THAT(ann.Run("COPY r w"), Int(0));
  EXPECT_THAT(ann.Run("LMOVE r w LEFT LEFT"), denied);
  EXPECT_THAT(ann.Run("SORT r STORE w"), Int(0));
  EXPECT_THAT(ann.Run("SORT w STORE r"), denied);
  EXPECT_THAT(ann.Run("DEL w"), Int(0));
}

class AclFromFile : public Acl {
 protected:
  AclFromFile() : Acl({"aclfile users.acl"}) {}

  void Write(const std::string& text) { server().files().Put(kAclFile, text); }
};
INSTANTIATE_TEST_SUITE_P(Resp, AclFromFile, BothVersions(), VersionName);

TEST_P(AclFromFile, IsLoadedAndSaved) {
  Write("user ann on >x ~k* +get (~o* +set)\n\n  user bob off\n");
  EXPECT_THAT(Run("ACL LOAD"), Ok());
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  EXPECT_THAT(ann.Run("GET k"), Nil());
  EXPECT_THAT(Run("ACL USERS"), ArrayOf({Bulk("ann"), Bulk("bob"), Bulk("default")}));
  Write("");
  EXPECT_THAT(Run("ACL SAVE"), Ok());
  const std::string saved = server().files().Content(kAclFile);
  EXPECT_THAT(saved, HasSubstr("user bob off sanitize-payload resetchannels -@all\n"));
  EXPECT_THAT(saved, HasSubstr("user default on nopass sanitize-payload ~* &* +@all\n"));
  EXPECT_THAT(saved, Not(HasSubstr(">x")));
  EXPECT_THAT(Run("ACL LOAD"), Ok());
  EXPECT_EQ(Run("ACL LIST").Size(), 3u);
  EXPECT_TRUE(ann.Closed());  // Redis: every client that has logged in is closed
}

TEST_P(AclFromFile, AclLoadRepliesToARemovedUser) {
  Write("user ann on >x +@all\n");
  Run("ACL LOAD");
  TestClient ann(server(), GetParam());
  LogIn(ann, "ann");
  Write("user default on nopass +acl\n");
  EXPECT_THAT(ann.Run("ACL LOAD"), Ok());
  EXPECT_TRUE(ann.Closed());
  EXPECT_THAT(Run("ACL USERS"), ArrayOf({Bulk("default")}));
  EXPECT_THAT(Run("PING"), Error("NOPERM User default has no permissions to run the 'ping' command"));
  Write("");
  EXPECT_THAT(Run("ACL LOAD"), Ok());
  EXPECT_THAT(Run("PING"), Simple("PONG"));
}

// While users are removed, their sessions get the default user, which must be the one that stays. A removed name may
// sort before or after "default".
TEST_P(AclFromFile, SessionsOfRemovedUsersGetTheDefaultUserThatStays) {
  Users& users = server()->services().clients.users;
  const User* const by_default = &users.Default();
  std::vector<std::string> removed;
  const Users::Replacement replacement = {.keeps_users = false,
                                          .before_removal =
                                              [&](const User& user) {
                                                removed.push_back(user.name());
                                                EXPECT_EQ(&users.Default(), by_default) << user.name();
                                              },
                                          .before_change = [](const User&, const User&) {}};
  ASSERT_TRUE(users.Load("user ann on\nuser operator on\n", "users.acl", replacement));
  ASSERT_TRUE(users.Load("user default on nopass ~* &* +@all\n", "users.acl", replacement));
  EXPECT_THAT(removed, testing::ElementsAre("ann", "operator"));
  EXPECT_EQ(&users.Default(), by_default);
  Write("user operator on >x +@all\n");
  Run("ACL LOAD");
  TestClient client(server(), GetParam());
  LogIn(client, "operator");
  Write("");
  for (const char* line : {"MULTI", "ACL LOAD", "ACL WHOAMI"}) client.Run(line);
  EXPECT_THAT(client.Run("EXEC"), ArrayOf({Ok(), Bulk("default")}));
}

TEST_P(AclFromFile, AclLoadKeepsWhoListensAsTheDefaultUser) {
  TestClient listener(server(), GetParam());
  listener.Run("SUBSCRIBE news");
  Write("user default on nopass ~* resetchannels +@all\n");
  EXPECT_THAT(Run("ACL LOAD"), Ok());
  EXPECT_FALSE(listener.Closed());
}

TEST_P(AclFromFile, AWrongFileChangesNothing) {
  Write("user ann on >x\n");
  Run("ACL LOAD");
  Write("user ann +foo\nusr b\nuser c on\nuser c on\nuser d (+get\nuser e foo\n");
  const std::string at = std::string(kAclFile) + ":";
  EXPECT_THAT(Run("ACL LOAD"),
              Error("ERR " + at + "1: Error in applying operation '+foo': Unknown command or category name in ACL. " +
                    at + "2 should start with user keyword followed by the username. " +
                    "WARNING: Duplicate user 'c' found on line 4. " + at +
                    "5: Unmatched parenthesis in selector definition. " + at +
                    "6: Syntax error. WARNING: ACL errors detected, no change to the previously active ACL rules was "
                    "performed"));
  EXPECT_THAT(Run("ACL USERS"), ArrayOf({Bulk("ann"), Bulk("default")}));
  server().files().Remove(kAclFile);
  EXPECT_THAT(Run("ACL LOAD"), Error("ERR Error loading ACLs, opening file 'users.acl': No such file or directory"));
}

TEST_P(AclFromFile, ThePowerFailsWhileItIsSaved) {
  Random random(7);
  for (uint64_t cut = 1; cut < 12; ++cut) {
    FaultyFiles files;
    files.Put(kAclFile, "user ann on >x\n");
    bool saved = false;
    {
      TestServer other(TestServer::Options{.directives = {"aclfile users.acl"}, .files = &files});
      TestClient client(other, GetParam());
      files.CutAt(cut);
      saved = !client.Run("ACL SAVE").tree->IsError();
    }
    files.Crash(random);
    const std::string content = files.Content(kAclFile);
    const bool is_new = content == "user default on nopass sanitize-payload ~* &* +@all\n";
    EXPECT_TRUE(is_new || (!saved && content == "user ann on >x\n")) << cut << ": " << content;
    EXPECT_FALSE(saved && cut == 1);
    EXPECT_TRUE(saved || cut < 11);
  }
}

// An ACL file must not depend on rename-command, because Redis must be able to read it.
class AclRenamed : public Acl {
 protected:
  AclRenamed()
      : Acl({"rename-command CONFIG CFG", "rename-command FLUSHALL \"\"", "rename-command SET put",
             "rename-command LPUSH SET"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, AclRenamed, BothVersions(), VersionName);

TEST_P(AclRenamed, RulesUseTheNamesBeforeRenameCommand) {
  EXPECT_THAT(Run("ACL SETUSER ann on nopass +@all -config|get -flushall"), Ok());
  EXPECT_THAT(Run("ACL SETUSER bob -cfg"),
              ErrorStartsWith("ERR Error in ACL SETUSER modifier '-cfg': Unknown command"));
  EXPECT_THAT(Run("ACL SETUSER bob on nopass ~* +set"), Ok());
  TestClient ann(server(), GetParam());
  ann.Run("AUTH ann x");
  EXPECT_THAT(ann.Run("CFG GET port"), ErrorStartsWith("NOPERM"));
  TestClient bob(server(), GetParam());
  bob.Run("AUTH bob x");
  EXPECT_THAT(bob.Run("SET list 1"), ErrorStartsWith("NOPERM")) << "it is LPUSH";
}

class AclOpenChannels : public Acl {
 protected:
  AclOpenChannels() : Acl({"acl-pubsub-default allchannels"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, AclOpenChannels, BothVersions(), VersionName);

TEST_P(AclOpenChannels, NewUsersMayUseEveryChannel) {
  Run("ACL SETUSER ann");
  EXPECT_THAT(Run("ACL LIST")[0], Bulk("user ann off sanitize-payload &* -@all"));
  Run("ACL SETUSER ann resetchannels &c reset");
  EXPECT_THAT(Run("ACL LIST")[0], Bulk("user ann off sanitize-payload &* -@all"));
}

}  // namespace
}  // namespace respite
