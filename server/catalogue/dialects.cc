// The dialects: the traits of each version that a server can emulate. dialect_tables.h has what they say about commands
// and directives.
#include <array>

#include "server/catalogue/dialect.h"
#include "server/catalogue/dialect_tables.h"

namespace respite {

namespace {

constexpr ServerVersion Redis(Version version) { return {ServerFamily::kRedis, version}; }
constexpr ServerVersion Valkey(Version version) { return {ServerFamily::kValkey, version}; }

constexpr std::string_view kSortInClusterOf74 = " when keys formed by the pattern may be in different slots";

// --- Each function below returns the traits of one version. TraitsOfRedis72, TraitsOfValkey72 and TraitsOfAll change
// the defaults of DialectTraits. The others change the traits of the previous version (Redis before 7.2: of the next).

constexpr DialectTraits TraitsOfRedis72() {
  DialectTraits traits;
  traits.version = traits.redis_version = "7.2.6";
  traits.version_number = 0x070206;
  return traits;
}

constexpr DialectTraits TraitsOfRedis74() {
  DialectTraits traits = TraitsOfRedis72();
  traits.version = traits.redis_version = "7.4.1";
  traits.version_number = 0x070401;
  traits.xread_knows_last_entry = true;
  traits.xread_needs_last_entry = true;
  traits.large_sets_count_offsets_from_end = true;
  traits.xread_takes_block_in_scripts = true;
  traits.xreadgroup_explains_last_entry = true;
  traits.checks_bit_ranges_first = true;
  traits.cursors_are_lenient = false;
  traits.lrem_takes_any_count = false;
  traits.client_text_has_watch = true;
  traits.counts_watching_clients = true;
  traits.sort_may_use_own_slot = true;
  traits.sort_in_cluster = kSortInClusterOf74;
  traits.scripts_have_clock = true;
  traits.max_eval_scripts = 500;
  traits.logs_of_length_zero_stay = true;
  traits.slowlog_hides_users = true;
  traits.acl_load_keeps_clients = true;
  traits.log_level_in_script_errors = "log level";
  return traits;
}

constexpr DialectTraits TraitsOfRedis80() {
  DialectTraits traits = TraitsOfRedis74();
  traits.version = traits.redis_version = "8.0.2";
  traits.version_number = 0x080002;
  traits.xread_needs_last_entry = false;
  traits.scores_in_ranges_are_decimal = true;
  traits.scripts_have_environments = false;
  traits.unbalanced_names_last_entry = true;
  traits.positions_have_shortest_digits = true;
  traits.client_text_has_io_thread = true;
  traits.empty_qbuf_has_no_free_bytes = true;
  traits.json_paths_compute = false;
  return traits;
}

constexpr DialectTraits TraitsOfRedis82() {
  DialectTraits traits = TraitsOfRedis80();
  traits.version = traits.redis_version = "8.2.9";
  traits.version_number = 0x080209;
  return traits;
}

constexpr DialectTraits TraitsOfRedis84() {
  DialectTraits traits = TraitsOfRedis82();
  traits.version = traits.redis_version = "8.4.6";
  traits.version_number = 0x080406;
  traits.cluster_info_has_migrations = true;
  traits.scripts_have_json_arrays = true;
  return traits;
}

// Redis' documents do not mention every change below, so some of them may have come with 8.2 or 8.4 already.
constexpr DialectTraits TraitsOfRedis86() {
  DialectTraits traits = TraitsOfRedis84();
  traits.version = traits.redis_version = "8.6.3";
  traits.version_number = 0x080603;
  traits.unknown_command_lists_arguments = false;
  traits.client_text_has_traffic = true;
  traits.streams_show_idempotency = true;
  traits.slot_stats_have_memory = true;
  traits.scan_type_check = ScanTypeCheck::kAlive;
  traits.hash_field_grammar = HashFieldGrammar::kFree;
  traits.large_sets_count_offsets_from_end = false;
  return traits;
}

constexpr DialectTraits TraitsOfRedis88() {
  DialectTraits traits = TraitsOfRedis86();
  traits.version = traits.redis_version = "8.8.2";
  traits.version_number = 0x080802;
  traits.client_text_has_batches = true;
  traits.groups_show_released = true;
  return traits;
}

constexpr DialectTraits TraitsOfRedis810() {
  DialectTraits traits = TraitsOfRedis88();
  traits.version = traits.redis_version = "8.10.1";
  traits.version_number = 0x080a01;
  traits.slowlog_counts_arguments = true;
  traits.json_paths_compute = true;
  return traits;
}

constexpr DialectTraits TraitsOfRedis70() {
  DialectTraits traits = TraitsOfRedis72();
  traits.version = traits.redis_version = "7.0.15";
  traits.version_number = 0x07000f;
  traits.unbalanced_names_xread = true;
  traits.counts_reads_as_redis_7_2_9 = false;
  traits.huge_timeouts_are_negative = true;
  traits.small_lists_are_listpacks = false;
  traits.small_sets_are_listpacks = false;
  traits.consumers_have_active_time = false;
  traits.users_show_sanitize_payload = false;
  traits.denials_name_users = false;
  traits.client_text_has_library = false;
  return traits;
}

constexpr DialectTraits TraitsOfRedis62() {
  DialectTraits traits = TraitsOfRedis70();
  traits.version = traits.redis_version = "6.2.16";
  traits.version_number = 0x060210;
  traits.unknown_word_quotes = "``, ";
  traits.errors_name_subcommands = false;
  traits.expire_errors_quote_commands = false;
  traits.config_set_has_old_errors = true;
  traits.describes_commands_fully = false;
  traits.set_nx_may_get = false;
  traits.autoclaim_lists_deleted = false;
  traits.streams_count_entries = false;
  traits.slots_have_metadata = false;
  traits.has_listpacks = false;
  traits.users_have_selectors = false;
  traits.scripts_know_version = false;
  traits.scripts_have_headers = false;
  traits.commands_for_subscribers = "(P)SUBSCRIBE / (P)UNSUBSCRIBE";
  traits.script_errors_begin_with_call = true;
  traits.client_text_has_shards = false;
  traits.client_text_has_usage = false;
  traits.client_kill_needs_positive_ids = false;
  traits.client_kill_id_error = "ERR value is not an integer or out of range";
  traits.readwrite_needs_cluster = false;
  traits.log_counts_are_checked = false;
  return traits;
}

constexpr DialectTraits TraitsOfValkey72() {
  DialectTraits traits;
  traits.valkey_version = "7.2.11";
  traits.counts_reads_as_redis_7_2_9 = false;
  return traits;
}

constexpr DialectTraits TraitsOfValkey80() {
  DialectTraits traits = TraitsOfValkey72();
  traits.title = "Valkey";
  traits.hello_name = "valkey";
  traits.mode_field = "server_mode";
  traits.version = traits.valkey_version = "8.0.1";
  traits.valkey_version_number = 0x080001;
  traits.command_in_script_errors = "command";
  traits.call_in_script_errors = "call";
  traits.caller_in_argument_errors = "Command";
  traits.table_in_script_errors = "server";
  traits.scripts_have_clock = true;
  traits.max_eval_scripts = 500;
  traits.sort_may_use_own_slot = true;
  traits.sort_in_cluster = kSortInClusterOf74;
  traits.logs_of_length_zero_stay = true;
  traits.scripts_commands_have_client = true;
  traits.slowlog_hides_users = true;
  traits.acl_load_keeps_clients = true;
  traits.qbuf_omits_running_request = true;
  traits.empty_qbuf_has_no_free_bytes = true;
  traits.unsubscribing_needs_subscription = true;
  traits.scan_refuses_unknown_types = true;
  traits.no_script_error = "NOSCRIPT No matching script.";
  traits.cursors_are_lenient = false;
  traits.lrem_takes_any_count = false;
  traits.stores_nothing_with_a_past_deadline = true;
  traits.bitcount_takes_start_alone = true;
  traits.bitcount_reads_unit_before_end = true;
  traits.checks_bit_ranges_first = true;
  traits.xread_knows_last_entry = true;
  traits.xread_needs_last_entry = true;
  traits.xread_misses_deleted_last_entry = true;
  traits.large_sets_count_offsets_from_end = true;
  traits.xreadgroup_explains_last_entry = true;
  traits.xread_takes_block_in_scripts = true;
  traits.client_text_has_watch = true;
  traits.counts_watching_clients = true;
  traits.client_text_has_traffic = true;
  traits.log_level_in_script_errors = "log level";
  traits.readonly_needs_cluster = false;
  traits.readwrite_needs_cluster = false;
  traits.acl_file_error_names_redis = false;
  return traits;
}

constexpr DialectTraits TraitsOfValkey81() {
  DialectTraits traits = TraitsOfValkey80();
  traits.version = traits.valkey_version = "8.1.1";
  traits.valkey_version_number = 0x080101;
  traits.unsubscribing_needs_subscription = false;
  traits.past_deadlines_expire = true;
  traits.scan_type_check = ScanTypeCheck::kOfType;
  traits.zadd_considers_lengths = true;
  traits.lag_considers_all_deletions = true;
  traits.client_list_combines_filters = true;
  traits.client_list_needs_positive_ids = true;
  traits.client_kill_takes_many_ids = true;
  traits.client_ids_are_a_set = true;
  traits.comparisons_combine = false;
  traits.client_list_id_error = traits.client_kill_id_error = "ERR syntax error";
  traits.knows_other_engines = true;
  traits.scripts_have_environments = false;
  traits.client_text_has_capabilities = true;
  traits.shows_commandlog_flag = true;
  return traits;
}

constexpr DialectTraits TraitsOfValkey90() {
  DialectTraits traits = TraitsOfValkey81();
  traits.version = traits.valkey_version = "9.0.0";
  traits.valkey_version_number = 0x090000;
  traits.transaction_errors_name_command = true;
  traits.hash_field_grammar = HashFieldGrammar::kValkey;
  return traits;
}

// Returns the traits of Valkey 9.1. Valkey's documents do not mention all changes since Valkey 9.0 that are listed
// here, so some of them may have come with 9.0 already.
constexpr DialectTraits TraitsOfValkey91() {
  DialectTraits traits = TraitsOfValkey90();
  traits.version = traits.valkey_version = "9.1.2";
  traits.valkey_version_number = 0x090102;
  traits.lolwut_draws_fractal = true;
  traits.expiry_is_checked_first = true;
  traits.xread_needs_last_entry = false;
  traits.geo_errors_name_member = true;
  traits.keyslot_needs_cluster = false;
  traits.unix_addresses_have_brackets = true;
  traits.lua_is_a_module = true;
  traits.cluster_info_counts_nodes_and_bytes = true;
  traits.shards_have_ids = true;
  traits.geo_numbers_are_decimal = true;
  traits.requests_are_strict = true;
  traits.users_have_databases = true;
  traits.users_show_payload_flags = false;
  traits.new_scores_are_decimal = true;
  traits.scores_in_ranges_are_decimal = true;
  traits.script_errors_name_script = false;
  traits.scripts_name_unknown_subcommands = true;
  traits.refused_in_scripts = "Valkey";
  traits.msetex_reports_expire_first = false;
  traits.invalid_numkeys_of_msetex = "ERR invalid numkeys value or out of range";
  traits.too_few_pairs_of_msetex = "ERR syntax error";
  return traits;
}

constexpr DialectTraits TraitsOfValkey92() {
  DialectTraits traits = TraitsOfValkey91();
  traits.version = traits.valkey_version = "9.2.0";
  traits.valkey_version_number = 0x090200;
  return traits;
}

// Returns the traits of a server without the directive `emulate`: the traits of Redis 7.2, with some traits of later
// versions.
constexpr DialectTraits TraitsOfAll() {
  DialectTraits traits;
  traits.xread_knows_last_entry = true;
  traits.sort_may_use_own_slot = true;
  traits.client_list_combines_filters = true;
  traits.client_kill_takes_many_ids = true;
  return traits;
}

constexpr std::array<Dialect, kEmulatedCount> kDialects = {{
    {.traits = TraitsOfAll()},
    {"redis:6.2", Redis({6, 2, 16}), TraitsOfRedis62(), kDefaultsOfRedis62, kCommandsOfRedis62},
    {"redis:7.0", Redis({7, 0, 15}), TraitsOfRedis70(), {}, kCommandsOfRedis70},
    {"redis:7.2", Redis({7, 2, 6}), TraitsOfRedis72()},
    {"redis:7.4", Redis({7, 4, 1}), TraitsOfRedis74(), {}, kCommandsOfRedis74},
    {"redis:8.0", Redis({8, 0, 2}), TraitsOfRedis80(), kDefaultsOfRedis80, kCommandsOfRedis80},
    {"redis:8.2", Redis({8, 2, 9}), TraitsOfRedis82(), kDefaultsOfRedis80, kCommandsOfRedis82},
    {"redis:8.4", Redis({8, 4, 6}), TraitsOfRedis84(), kDefaultsOfRedis80, kCommandsOfRedis82},
    {"redis:8.6", Redis({8, 6, 3}), TraitsOfRedis86(), kDefaultsOfRedis80, kCommandsOfRedis86},
    {"redis:8.8", Redis({8, 8, 2}), TraitsOfRedis88(), kDefaultsOfRedis80, kCommandsOfRedis86},
    {"redis:8.10", Redis({8, 10, 1}), TraitsOfRedis810(), kDefaultsOfRedis80, kCommandsOfRedis86},
    {"valkey:7.2", Valkey({7, 2, 11}), TraitsOfValkey72()},
    {"valkey:8.0", Valkey({8, 0, 1}), TraitsOfValkey80(), kDefaultsOfValkey80, kCommandsOfValkey80},
    {"valkey:8.1", Valkey({8, 1, 1}), TraitsOfValkey81(), kDefaultsOfValkey80, kCommandsOfValkey81},
    {"valkey:9.0", Valkey({9, 0, 0}), TraitsOfValkey90(), kDefaultsOfValkey80, kCommandsOfValkey90},
    {"valkey:9.1", Valkey({9, 1, 2}), TraitsOfValkey91(), kDefaultsOfValkey80, kCommandsOfValkey91},
    {"valkey:9.2", Valkey({9, 2, 0}), TraitsOfValkey92(), kDefaultsOfValkey80, kCommandsOfValkey91},
}};

}  // namespace

const Dialect& DialectOf(Emulated emulated) { return kDialects[static_cast<size_t>(emulated)]; }

std::span<const Dialect> AllDialects() { return kDialects; }

}  // namespace respite
