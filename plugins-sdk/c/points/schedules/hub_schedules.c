// In the place of what a module does not declare in its module.toml, and must not have.
#include "hub_effects.h"

#ifdef HUB_NO_SCHEDULES
bool exports_schedules_tick(exports_schedules_call_context_t *context, exports_schedules_schedule_tick_t *tick,
                            exports_schedules_list_effect_t *answer, exports_schedules_failure_t *failure) {
  (void)context, (void)tick, (void)answer;
  return hub_reject(failure, hub_text("module.toml declares no schedules"));
}
#endif

#ifdef HUB_NO_TIMERS
bool exports_timers_fire(exports_timers_call_context_t *context, exports_timers_timer_t *timer,
                         exports_timers_list_effect_t *answer, exports_timers_failure_t *failure) {
  (void)context, (void)timer, (void)answer;
  return hub_reject(failure, hub_text("module.toml declares no timers"));
}
#endif
