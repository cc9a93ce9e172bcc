// Forgets what the call allocated, once its answer has been read.
#include <stdint.h>

void hub_forget(void);

__attribute__((__export_name__("cabi_post_network-hub:module/economy@1.1.0#review")))
void __wasm_export_exports_economy_review_post_return(uint8_t *answer) {
  (void)answer;
  hub_forget();
}
