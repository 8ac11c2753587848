// Dialect: one version of Redis or Valkey that a server can emulate, and how it differs from the others. VersionMarks
// decide which commands, options and directives exist. All other differences are members of DialectTraits.
//
// Each version that the directive `emulate` accepts has a Dialect. One more Dialect is for servers without emulation:
// Redis 7.2 with the commands, options and some traits of later versions. The code of commands tests traits and
// VersionMarks, not version numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/catalogue/version_mark.h"

namespace respite {

struct KeySpecs;

struct DirectiveDefault {  // a directive whose default in one version differs from that in Redis 7.2
  std::string_view name;
  std::string_view value;  // the default, as a line of redis.conf writes it
};

struct FlagChange {          // how a command's flags in one version differ from its CommandSpec
  std::string_view command;  // full name, such as "get" or "client|list"
  uint32_t added = 0;        // CommandFlag bits that the CommandSpec lacks
  uint32_t removed = 0;      // CommandFlag bits that the version lacks
  uint32_t hidden = 0;       // CommandFlag bits that take effect here, although COMMAND does not show them
};

struct CategoryChange {          // the ACL categories of a command in one version, if its CommandSpec declares others
  std::string_view command;      // full name
  uint32_t declared_categories;  // AclCategory bits in place of CommandSpec::categories; the flags add more
};

struct LegacyKeysChange {    // the keys that COMMAND INFO of one version shows for a container
  std::string_view command;  // full name
  int first = 0;             // position of the first key in argv
  int last = 0;              // position of the last key in argv
  int step = 0;              // distance between two keys
};

struct KeyFlagChange {       // how the flags of a key spec in one version differ from the CommandSpec
  std::string_view command;  // full name
  uint8_t key_spec = 0;      // index of the key spec
  uint16_t added = 0;        // KeyFlag bits that COMMAND INFO shows in addition
  uint16_t removed = 0;      // KeyFlag bits that COMMAND INFO does not show
};

struct TextChange {          // a text that COMMAND of one version shows, where the CommandSpec has another
  std::string_view command;  // full name
  std::string_view text;     // what this version shows
};

struct TokenChange {            // how COMMAND DOCS of one version shows a token, which is a fixed word such as EX
  std::string_view command;     // full name
  std::string_view token;       // the token, in capitals
  std::string_view since = {};  // version number to show; empty: COMMAND DOCS does not list the token
};

// The data that one version shows of its commands, where it differs from the CommandSpecs. Flags, categories and
// deprecations take effect. The other members change only the replies of COMMAND.
struct CommandChanges {
  std::span<const FlagChange> flags = {};              // flags of commands
  std::span<const std::string_view> revived = {};      // full names of commands that the version does not deprecate
  std::span<const KeyFlagChange> key_flags = {};       // flags of key specs
  std::span<const TokenChange> tokens = {};            // tokens that are shown with a version, or not at all
  std::span<const TextChange> tips = {};               // tips, separated by one space
  std::span<const TextChange> since = {};              // `since` of COMMAND DOCS
  std::span<const std::string_view> system = {};       // full names of commands with the doc flag `syscmd`
  std::span<const CategoryChange> categories = {};     // ACL categories
  std::span<const LegacyKeysChange> legacy_keys = {};  // keys that COMMAND INFO shows for containers
};

// The arguments of HEXPIRE and its variants, HSETEX and HGETEX, and their errors: Redis 7.4 to 8.4 (FIELDS comes last,
// after one option), Redis 8.6 (options and FIELDS in any order), or Valkey 9 (options may be repeated, then FIELDS).
enum class HashFieldGrammar : uint8_t { kFixed, kFree, kValkey };

// The side effects of SCAN with TYPE on a key that matches the pattern. kCounted: counts a hit or a miss, and removes
// the key if it has expired. kAlive: removes the key if it has expired. kOfType: removes the key if it has expired and
// has the type.
enum class ScanTypeCheck : uint8_t { kCounted, kAlive, kOfType };

// The defaults of the members are the values of Redis 7.2.
struct DialectTraits {  // formats, texts and behaviours that differ between versions
  // --- Names and version numbers of the server.
  std::string_view title = "Redis";            // name of the product in sentences: "LOADING Redis is loading …"
  std::string_view hello_name = "redis";       // `server` in the reply to HELLO
  std::string_view version = "7.2.4";          // version number that HELLO and LOLWUT show
  bool lolwut_draws_fractal = false;           // LOLWUT draws a Julia set, and says "Valkey ver.", not "Redis ver."
  std::string_view mode_field = "redis_mode";  // INFO field with the mode: standalone, cluster …
  std::string_view redis_version = "7.2.4";    // version number that INFO and scripts show
  int version_number = 0x070204;               // redis.REDIS_VERSION_NUM in scripts: one byte per part of the version
  std::string_view valkey_version = {};        // Valkey's version in INFO and scripts; empty: not Valkey
  int valkey_version_number = 0;               // server.VALKEY_VERSION_NUM in scripts, one byte per part; 0: absent
  std::string_view command_in_script_errors = "Redis command";  // words in "Unknown Redis command called from script"
  std::string_view call_in_script_errors = "redis lib call";    // in "at least one argument for this redis lib call"
  std::string_view caller_in_argument_errors = "Lua redis lib command";  // "Lua redis lib command arguments must be …"
  std::string_view table_in_script_errors = "redis";            // word in "redis.log() requires two arguments or more."
  std::string_view log_level_in_script_errors = "debug level";  // what "Invalid debug level." calls a log level

  // --- Errors. unknown_word_quotes has three characters: the opening quote, the closing quote, and the separator of
  // arguments in the error "unknown command 'x', with args beginning with: 'y' 'z'".
  std::string_view unknown_word_quotes = "'' ";  // for "unknown command 'x' …": opening and closing quote, separator
  bool unknown_command_lists_arguments = true;   // the error says ", with args beginning with: " also without arguments
  bool errors_name_subcommands = true;           // errors and CLIENT LIST name subcommands, not only containers
  bool expire_errors_quote_commands = true;  // the error is "invalid expire time in 'set' command", not "… in set"
  bool config_set_has_old_errors = false;    // errors of CONFIG SET have the texts of Redis 6.2, and name one parameter
  bool unsubscribing_needs_subscription = false;  // (P|S)UNSUBSCRIBE without subscriptions is an error
  bool checks_bit_ranges_first = false;           // BITCOUNT and BITPOS check the range before the key
  bool unbalanced_names_xread = false;            // XREADGROUP has the error of XREAD: "Unbalanced XREAD list of …"
  bool unbalanced_names_last_entry = false;       // the error "Unbalanced XREAD list …" says "an ID, '+', or '$'"
  bool xreadgroup_explains_last_entry = false;    // XREADGROUP with + gets the error "The + ID is meaningless …"
  std::string_view no_script_error = "NOSCRIPT No matching script. Please use EVAL.";  // error for an unknown SHA-1
  bool scan_refuses_unknown_types = false;       // SCAN … TYPE with an unknown type name is an error
  bool expiry_is_checked_first = false;          // GETEX checks its expiry time even if the key is absent
  bool geo_errors_name_member = false;           // GEOSEARCH … FROMMEMBER x: the error is "member x does not exist"
  bool transaction_errors_name_command = false;  // MULTI in MULTI: "Command 'multi' not allowed inside a transaction"
  bool keyslot_needs_cluster = true;             // CLUSTER KEYSLOT is an error without cluster mode
  std::string_view sort_in_cluster = {};  // what follows "ERR BY option of SORT denied in Cluster mode" in this error

  bool denials_name_users = true;               // a denial says "User joe has no permissions …", not "this user …"
  bool client_list_combines_filters = false;    // CLIENT LIST TYPE normal ID 5 is allowed
  bool client_list_needs_positive_ids = false;  // CLIENT LIST ID 0 is an error
  bool client_kill_needs_positive_ids = true;   // CLIENT KILL ID 0 is an error
  bool client_kill_takes_many_ids = false;      // CLIENT KILL ID 5 6 is allowed
  bool client_ids_are_a_set = false;  // CLIENT KILL and LIST take several ID options, each with any number of IDs
  std::string_view client_list_id_error = "ERR Invalid client ID";                   // error of CLIENT LIST ID x
  std::string_view client_kill_id_error = "ERR client-id should be greater than 0";  // error of CLIENT KILL ID x
  bool readonly_needs_cluster = true;      // READONLY without cluster mode: error, except after CLIENT CAPA redirect
  bool readwrite_needs_cluster = true;     // READWRITE without cluster mode: error, except after CLIENT CAPA redirect
  bool acl_file_error_names_redis = true;  // the error is "This Redis instance is not configured …"
  bool knows_other_engines = false;        // an error names an unknown engine: "Could not find scripting engine 'js'"
  bool log_counts_are_checked = true;      // SLOWLOG GET -2 is an error
  std::string_view commands_for_subscribers = "(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE";  // for the error in subscribed mode

  // Contents and forms of replies.
  bool describes_commands_fully = true;      // COMMAND returns ten elements per command, not seven
  bool shows_commandlog_flag = false;        // COMMAND says skip_commandlog instead of skip_slowlog
  bool autoclaim_lists_deleted = true;       // XAUTOCLAIM returns a third element, with the deleted entries
  bool counts_watching_clients = false;      // INFO has pubsub_clients, watching_clients, total_watched_keys
  bool streams_count_entries = true;         // XINFO has entries-added, entries-read, lag and similar fields
  bool consumers_have_active_time = true;    // XINFO CONSUMERS has `inactive`; XINFO STREAM … FULL has active-time
  bool streams_show_idempotency = false;     // XINFO STREAM has idmp-duration and similar fields for every stream
  bool groups_show_released = false;         // XINFO STREAM … FULL has nacked-count for every group
  bool counts_reads_as_redis_7_2_9 = true;   // entries-read and lag in XINFO: as Redis since 7.2.9 counts them
  bool lag_considers_all_deletions = false;  // XINFO: deletions before the first entry can also make a lag unknown
  bool cluster_info_has_migrations = false;  // CLUSTER INFO has cluster_slot_migration_active_tasks and similar fields
  bool cluster_info_counts_nodes_and_bytes = false;  // CLUSTER INFO has cluster_nodes_pfail, cluster_stats_bytes_sent …
  bool shards_have_ids = false;                      // CLUSTER SHARDS has the ID of each shard
  bool slots_have_metadata = true;                   // CLUSTER SLOTS returns a fourth element per node
  bool users_have_selectors = true;           // ACL rules may have selectors; ACL GETUSER shows patterns as texts
  bool users_show_sanitize_payload = true;    // false: ACL LIST, GETUSER omit sanitize-payload, which is the default
  bool client_text_has_library = true;        // CLIENT LIST shows the fields lib-name and lib-ver
  bool client_text_has_shards = true;         // CLIENT LIST has ssub
  bool client_text_has_usage = true;          // CLIENT LIST has multi-mem, rbs, rbp and resp
  bool client_text_has_traffic = false;       // CLIENT LIST has tot-net-in, tot-net-out, tot-cmds
  bool client_text_has_watch = false;         // CLIENT LIST has `watch`
  bool client_text_has_io_thread = false;     // CLIENT LIST has io-thread
  bool client_text_has_capabilities = false;  // CLIENT LIST shows the field capa
  bool client_text_has_batches = false;       // CLIENT LIST has read-events, parse-batch-cmd-sum, parse-batch-cnt
  bool unix_addresses_have_brackets = false;  // CLIENT LIST shows addr=[/path:0]:0 for a unix socket
  bool lua_is_a_module = false;               // HELLO, MODULE LIST and INFO name the module lua
  bool users_have_databases = false;          // ACL GETUSER always has `databases`; false: only if rules limit them
  bool users_show_payload_flags = true;       // false: no (skip-)sanitize-payload in ACL GETUSER, LIST and SAVE
  bool slowlog_counts_arguments = false;      // SLOWLOG GET returns a seventh element, the number of arguments
  bool qbuf_omits_running_request = false;    // qbuf of CLIENT LIST leaves out what its client runs now (Valkey 8.0)
  bool empty_qbuf_has_no_free_bytes = false;  // qbuf-free of CLIENT LIST is 0 if qbuf is 0

  // Encodings of values.
  bool has_listpacks = true;              // OBJECT ENCODING says listpack, not ziplist (hashes, sorted sets)
  bool small_lists_are_listpacks = true;  // OBJECT ENCODING of small lists: listpack; false: quicklist
  bool small_sets_are_listpacks = true;   // OBJECT ENCODING of small sets of texts: listpack; else hashtable

  // Arguments other than tokens.
  bool bitcount_takes_start_alone = false;       // BITCOUNT key start is allowed, without an end
  bool bitcount_reads_unit_before_end = false;   // BITCOUNT key 0 x y reports an error about y, not about x
  bool xread_knows_last_entry = false;           // XREAD accepts + as an ID
  bool xread_needs_last_entry = false;           // XREAD with + is an error for a stream that never had an entry
  bool xread_misses_deleted_last_entry = false;  // XREAD with + finds nothing if the last entry was deleted
  bool xread_takes_block_in_scripts = false;  // XREAD or XREADGROUP … BLOCK in a script is no error, but does not block

  ScanTypeCheck scan_type_check = ScanTypeCheck::kCounted;  // what SCAN with TYPE does with a key that it looks at

  HashFieldGrammar hash_field_grammar = HashFieldGrammar::kFixed;  // arguments and errors of HEXPIRE, HSETEX, HGETEX …

  // Deadlines and numbers.
  bool cursors_are_lenient = true;                   // SCAN -1 and SCAN "" are allowed; false: leading blanks are
  bool lrem_takes_any_count = true;                  // LREM also accepts the smallest 64-bit integer
  bool huge_timeouts_are_negative = false;           // BLPOP with a huge timeout gets the error for a negative one
  bool stores_nothing_with_a_past_deadline = false;  // SET with a time in the past (EXAT 1) deletes the key
  bool past_deadlines_expire = false;                // EXPIRE with a past time causes the event "expired", not "del"
  bool set_nx_may_get = true;                        // SET … NX GET is allowed
  bool comparisons_combine = true;                   // SET … IFEQ v NX is allowed, and IFEQ may be repeated
  bool msetex_reports_expire_first = true;           // event "expire" of MSETEX comes before "set", not after it
  const char* invalid_numkeys_of_msetex = "ERR invalid numkeys value";          // error of MSETEX 0 k v
  const char* too_few_pairs_of_msetex = "ERR wrong number of key-value pairs";  // error of MSETEX 2 k v
  bool new_scores_are_decimal = false;        // scores of ZADD and ZINCRBY, WEIGHTS: 0x1 or leading blanks are an error
  bool scores_in_ranges_are_decimal = false;  // ends of score ranges (ZCOUNT): 0x1 or leading blanks are an error
  bool json_paths_compute = true;             // paths of JSON commands have the operators and functions of Redis 8.10
  bool geo_numbers_are_decimal = false;       // coordinates and distances: 0x1 or leading blanks are an error
  bool requests_are_strict = false;     // CR LF must follow each argument; `"a"b` in an inline request is one word
  bool slot_stats_have_memory = false;  // cluster-slot-stats-enabled yes includes mem, which starts no later
  bool large_sets_count_offsets_from_end = false;  // ZRANGEBYSCORE … LIMIT -1 5 on a large set returns the last element
  bool zadd_considers_lengths = false;             // ZADD with a long member makes a skiplist before it adds any member
  bool positions_have_shortest_digits = false;     // GEOPOS writes coordinates with as few digits as possible
  bool sort_may_use_own_slot = false;  // in a cluster, SORT k allows BY and GET patterns in the slot of k: p{k}*

  // Logs and users.
  bool logs_of_length_zero_stay = false;      // max length 0: SLOWLOG and ACL LOG keep their entries and add none
  bool scripts_commands_have_client = false;  // SLOWLOG shows, for commands of scripts, the client that ran the script
  bool slowlog_hides_users = false;           // SLOWLOG shows the arguments of ACL GETUSER and DELUSER as (redacted)
  bool acl_load_keeps_clients = false;        // ACL LOAD does not close clients whose user still has enough permissions

  // What scripts can use.
  bool scripts_know_version = true;               // scripts have redis.REDIS_VERSION and redis.acl_check_cmd()
  bool scripts_have_headers = true;               // EVAL accepts a first line #!lua flags=no-writes
  bool scripts_have_environments = true;          // scripts have getfenv, setfenv, newproxy
  bool scripts_have_json_arrays = false;          // scripts have cjson.decode_array_with_array_mt()
  bool scripts_have_clock = false;                // scripts have os.clock()
  bool script_errors_name_script = true;          // script errors end "script: <SHA-1>, on @user_script:1."
  std::string_view refused_in_scripts = "Redis";  // in "This Redis command is not allowed from script"
  bool scripts_name_unknown_subcommands = false;  // an unknown subcommand in a script: "unknown subcommand 'x'. Try …"
  size_t max_eval_scripts = 0;                    // maximum number of evictable cached scripts (EVAL); 0: no limit
  bool script_errors_begin_with_call = false;     // "Error running script (call to f_…): @user_script:1: …"
};

struct Dialect {                                    // a version of Redis or Valkey, as a server emulates it
  std::string_view name = {};                       // "redis:6.2"; empty without emulation
  std::optional<ServerVersion> version = {};        // the emulated version; nullopt: features of all versions
  DialectTraits traits = {};                        // formats, error texts and behaviours of the version
  std::span<const DirectiveDefault> defaults = {};  // directives whose default differs from the one of Redis 7.2
  CommandChanges commands = {};                     // what the version says about commands, if CommandSpecs differ

  bool EmulatesVersion() const { return version.has_value(); }  // false: no emulation, has features of all versions
  bool Has(const VersionMark& mark) const { return !version || mark.IsIn(*version); }  // true without emulation
  // Returns true if the emulated version is `removed_in` or later, so that the feature is gone. Without emulation, or
  // if `removed_in` is empty, nothing is removed.
  bool HasRemoved(const VersionMark& removed_in) const {  // true: the emulated version no longer has the feature
    return version && !removed_in.IsEmpty() && removed_in.IsIn(*version);
  }
  // Returns whether the emulated version deprecates the command. `mark` says which versions have deprecated it. The
  // commands in CommandChanges::revived are not deprecated. Without emulation, the version is Redis 7.2.
  bool Deprecates(std::string_view command, const VersionMark& mark) const;   // true: this version deprecates `command`
  uint32_t AdjustFlags(std::string_view command, uint32_t spec_flags) const;  // spec_flags, changed for this version
  std::string_view ShownVersion(const VersionMark& mark) const;  // version number for COMMAND DOCS; empty: none

  uint32_t HiddenFlags(std::string_view command) const;  // CommandFlag bits that COMMAND does not show

  // For the replies of COMMAND. Each function takes the full name of a command and what its CommandSpec declares, and
  // returns what this version shows.
  KeySpecs AdjustKeys(std::string_view command, const KeySpecs& spec_keys) const;          // key specs of COMMAND INFO
  std::string_view ShownTips(std::string_view command, std::string_view spec_tips) const;  // tips of COMMAND INFO
  std::string_view ShownSince(std::string_view command, const VersionMark& mark) const;    // `since` of COMMAND DOCS
  bool IsSystemCommand(std::string_view command) const;  // true: this version adds the doc flag `syscmd`
  uint32_t DeclaredCategories(std::string_view command, uint32_t spec_categories) const;  // AclCategory bits
  const TokenChange* FindTokenChange(std::string_view command,  // how COMMAND DOCS shows a token; null: as declared
                                     std::string_view token) const;
  const LegacyKeysChange* FindLegacyKeys(std::string_view command) const;  // keys of a container; null: as declared
};

const Dialect& DialectOf(Emulated emulated);  // the Dialect of this version; kNone: of a server without emulation
std::span<const Dialect> AllDialects();       // the Dialect of each value of Emulated, in this order

std::optional<Emulated> ParseEmulatedVersion(std::string_view name);  // parses "redis:7.0"; nullopt: unknown version
std::string EmulatedNames();  // all versions that can be emulated, for an error text: "redis:6.2, redis:7.0, …"

}  // namespace respite
