// A happy hour each evening: a schedule begins it, a timer ends it.
#include "hub_effects.h"

bool exports_schedules_tick(exports_schedules_call_context_t *context, exports_schedules_schedule_tick_t *tick,
                            exports_schedules_list_effect_t *answer, exports_schedules_failure_t *failure) {
  hub_config_fields(context->config, "message", "minutes", NULL);
  hub_string_t message = hub_config_text(context->config, "message", "Happy hour!");
  // Duration; 0: it has no end.
  uint64_t minutes = hub_config_whole(context->config, "minutes", 60);

  if (tick->missed > 0) hub_info(hub_join("", hub_decimal(tick->missed), " happy hours were missed"));
  hub_string_t key = hub_text("count");
  hub_option_string_t count;
  hub_host_error_t error;
  int64_t number;
  if (!hub_state_get(&key, &count, &error)) return hub_failed(failure, error);
  if (!count.is_some || !hub_whole(count.val, &number)) number = 0;
  number += 1;
  // Committed with the effects: all or nothing.
  hub_string_t counted = hub_decimal(number);
  if (!hub_state_set(&key, &counted, NULL, &error)) return hub_failed(failure, error);

  hub_effects_t effects = {0};
  hub_announce(&effects, message);
  if (minutes > 0) {
    // Replaces the timer of a happy hour that goes on.
    hub_set_timer(&effects, (hub_effects_set_timer_t){.key = hub_text("end"),
                                                      .at_ms = tick->due_at_ms + minutes * 60000,
                                                      .payload = hub_join("{\"number\":", counted, "}")});
  }
  return hub_done(answer, effects);
}

bool exports_timers_fire(exports_timers_call_context_t *context, exports_timers_timer_t *timer,
                         exports_timers_list_effect_t *answer, exports_timers_failure_t *failure) {
  (void)context;
  double number = hub_data_number(timer->payload, "number", -1);
  // One that another version set.
  if (number < 0) return hub_reject(failure, hub_join("the timer ", timer->key, " has no number"));
  hub_effects_t effects = {0};
  hub_announce(&effects, hub_join("Happy hour number ", hub_decimal((int64_t)number), " is over."));
  return hub_done(answer, effects);
}
