// Forgets what the call allocated, once its answer has been read.
#include <stdint.h>

void hub_forget(void);

__attribute__((__export_name__("cabi_post_network-hub:module/matchmaking@1.0.0#rank-servers")))
void __wasm_export_exports_matchmaking_rank_servers_post_return(uint8_t *answer) {
  (void)answer;
  hub_forget();
}

__attribute__((__export_name__("cabi_post_network-hub:module/matchmaking@1.0.0#rank-worlds")))
void __wasm_export_exports_matchmaking_rank_worlds_post_return(uint8_t *answer) {
  (void)answer;
  hub_forget();
}
