// Forgets what the call allocated, once its answer has been read.
#include <stdint.h>

void hub_forget(void);

__attribute__((__export_name__("cabi_post_network-hub:module/schedules@1.1.0#tick")))
void __wasm_export_exports_schedules_tick_post_return(uint8_t *answer) {
  (void)answer;
  hub_forget();
}

__attribute__((__export_name__("cabi_post_network-hub:module/timers@1.1.0#fire")))
void __wasm_export_exports_timers_fire_post_return(uint8_t *answer) {
  (void)answer;
  hub_forget();
}
