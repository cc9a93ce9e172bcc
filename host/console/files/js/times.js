// Times in the reader's own zone and language: today's by the clock, others with their day.
const clock = new Intl.DateTimeFormat(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(document.documentElement.lang, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const whole = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'full', timeStyle: 'long' });

export function times(root) {
  for (const el of root.querySelectorAll('time[title]')) {
    const at = new Date(el.dateTime);
    if (Number.isNaN(at.valueOf())) continue;
    el.textContent = (at.toDateString() === new Date().toDateString() ? clock : day).format(at);
    el.title = whole.format(at);
  }
}
