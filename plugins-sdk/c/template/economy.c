// Bonus: players earn more of one currency, and nobody spends too much of it at once.
#include "hub_module.h"

// Amounts are ten-thousandths of a unit.
enum { UNIT = 10000 };

void exports_economy_review(exports_economy_call_context_t *context, exports_economy_change_t *change,
                            exports_economy_decision_t *decision) {
  hub_config_fields(context->config, "currency", "bonusPercent", "mostSpent", NULL);
  // The currency; changes of others are left as they are.
  hub_string_t currency = hub_config_text(context->config, "currency", "coins");
  // Extra that players earn, in percent.
  int64_t bonus_percent = hub_config_whole(context->config, "bonusPercent", 50);
  // The most that one operation may take, in whole units; 0: no limit.
  int64_t most_spent = hub_config_whole(context->config, "mostSpent", 0);

  decision->tag = EXPORTS_ECONOMY_DECISION_ACCEPT;
  for (size_t at = 0; at < change->operations.len; at++) {
    exports_economy_operation_t *operation = &change->operations.ptr[at];
    if (most_spent == 0 || !hub_equal(operation->currency, currency)) continue;
    if (operation->amount >= -most_spent * UNIT) continue;
    decision->tag = EXPORTS_ECONOMY_DECISION_REFUSE;
    hub_string_t most = hub_join("At most ", hub_decimal(most_spent), " ");
    decision->val.refuse = hub_concat(most, hub_join("", currency, " at once."));
    return;
  }
  // One operation alone may be amended.
  if (change->kind != EXPORTS_ECONOMY_CHANGE_KIND_MODIFY || bonus_percent == 0) return;
  exports_economy_operation_t *earned = &change->operations.ptr[0];
  if (earned->amount <= 0 || !hub_equal(earned->owner_type, hub_text("player"))) return;
  if (!hub_equal(earned->currency, currency)) return;
  hub_info(hub_join("", earned->owner_key, " earns a bonus"));
  decision->tag = EXPORTS_ECONOMY_DECISION_AMEND;
  decision->val.amend = earned->amount + earned->amount / 100 * bonus_percent;
}
