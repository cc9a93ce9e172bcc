// Live parts: one EventSource for the page, resumed by the browser with Last-Event-ID. An element with an id and data-live="TYPES"
// is asked for anew when such an event happened, at most every two seconds; after RESYNC all of them are.
import { refresh } from './swap.js';

const PAUSE = 2_000, HIDDEN = 60_000;
const status = document.getElementById('live');
const base = /^\/console\/n\/[^/]+/.exec(location.pathname)?.[0];
const parts = () => [...document.querySelectorAll('[data-live][id]')].filter((el) => el !== status);
const types = [...new Set(parts().flatMap((el) => el.dataset.live.split(',')))];
const stale = new Set();
let source, wait, asleep;

function connect() {
  source = new EventSource(`${base}/live?types=${types.join(',')}`);
  source.onopen = () => tell('good', status.dataset.live);
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) { tell('warn', status.dataset.waiting); return; }
    tell('bad', `${status.dataset.since} ${new Date().toLocaleTimeString()}`);
    setTimeout(() => { if (source?.readyState === EventSource.CLOSED) { connect(); all(); } }, 10_000);
  };
  for (const type of [...types, 'RESYNC', 'TICK']) source.addEventListener(type, () => happened(type));
}
function happened(type) {
  if (type === 'RESYNC' || type === 'TICK') all();
  else { for (const el of parts()) if (el.dataset.live.split(',').includes(type)) stale.add(el.id); later(); }
}
function all() { for (const el of parts()) stale.add(el.id); later(); }
function later() {
  wait ??= setTimeout(async () => {
    // What a person is typing in, or has open, is not taken from under their hands.
    const ids = [...stale].filter((id) => !document.getElementById(id)?.matches(':has(input:focus, select:focus, textarea:focus, details[open])'));
    stale.clear();
    if (ids.length) await refresh(ids, document.getElementById(ids[0])?.dataset.at);
    wait = undefined;
    if (stale.size) later();
  }, PAUSE);
}
function tell(tone, text) {
  status.hidden = false;
  status.querySelector('.dot').className = `dot ${tone}`;
  status.querySelector(':last-child').textContent = text;
}

if (status && base && types.length) {
  connect();
  addEventListener('pagehide', () => source?.close());
  // A tab that nobody sees costs no stream.
  document.addEventListener('visibilitychange', () => {
    clearTimeout(asleep);
    if (document.hidden) asleep = setTimeout(() => { source?.close(); source = undefined; }, HIDDEN);
    else if (!source) { connect(); all(); }
  });
}

// Work that goes on: the part is asked for again until it no longer says so, then the whole page.
for (const el of document.querySelectorAll('[data-poll][id]')) {
  const again = () => setTimeout(async () => {
    await refresh([el.id]);
    if (document.getElementById(el.id)?.matches('[data-poll]')) again(); else location.reload();
  }, Number(el.dataset.poll));
  again();
}
