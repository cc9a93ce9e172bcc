// Keyboard: Ctrl K and / search, g and a letter goes, j k walk rows, x selects, Enter opens, n makes, ? shows the keys.
const palette = document.getElementById('palette');
const typing = (el) => el.matches?.('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
let going = 0;

document.addEventListener('keydown', (e) => {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') { e.preventDefault(); palette?.showModal(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector('dialog[open]')) return;
  if (Date.now() - going < 1200) {
    going = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(e.key)}"]`);
    if (link) { e.preventDefault(); link.click(); }
    return;
  }
  if (e.key === 'g') going = Date.now();
  else if (e.key === '/') { e.preventDefault(); const filter = document.querySelector('[data-slash]'); filter ? filter.focus() : palette?.showModal(); }
  else if (e.key === '?') document.getElementById('keys')?.showModal();
  else if (e.key === 'n') { const made = document.querySelector('[data-new]'); if (made) { e.preventDefault(); made.matches('input') ? made.focus() : made.click(); } }
  else if (/^[a-z]$/.test(e.key) && document.querySelector(`[data-key=${e.key}]`)) document.querySelector(`[data-key=${e.key}]`).click();
  else if (e.key === 'j' || e.key === 'k') walk(e.key === 'j' ? 1 : -1);
  else if (e.key === 'x') document.activeElement.closest('tr')?.querySelector('input[type=checkbox]')?.click();
});

function walk(step) {
  const rows = [...document.querySelectorAll('[data-rows] :is(tbody tr, li)')];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement.closest?.('[data-rows] :is(tr, li)'));
  const row = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step))];
  row.querySelector('a')?.focus();
  row.scrollIntoView({ block: 'nearest' });
}

// Selected rows show in the bar of actions for all of them.
document.addEventListener('change', (e) => {
  const table = e.target.matches?.('[type=checkbox]') && e.target.closest('[data-rows]');
  if (!table) return;
  const boxes = [...table.querySelectorAll('tbody [type=checkbox]')];
  if (e.target.closest('thead')) for (const box of boxes) box.checked = e.target.checked;
  for (const box of boxes) box.closest('tr').setAttribute('aria-selected', box.checked);
  const bar = document.getElementById('bulk'), count = boxes.filter((box) => box.checked).length;
  if (bar) { bar.hidden = !count; bar.querySelector('[data-count]').textContent = `${count} selected`; }
});

// The palette finds what the page links to; servers, players and more come from the hub as one types (GET /api/manage/search).
const pages = { SERVER: ['servers/', 'server'], PLAYER: ['players/', 'players'], MODULE: ['modules/', 'module'], GROUP: ['permissions/', 'shield'] };
const page = (one) => one.kind === 'DOCUMENT'
  ? [`config?group=${encodeURIComponent(one.id.split('/')[0])}&namespace=${encodeURIComponent(one.id.slice(one.id.indexOf('/') + 1))}`, 'config']
  : [pages[one.kind][0] + encodeURIComponent(one.id), pages[one.kind][1]];
if (palette) {
  const input = palette.querySelector('input'), list = palette.querySelector('ul');
  let items = [], at = 0, found = [], asked = '', waits = 0;
  const ask = async () => {
    const q = input.value.trim();
    if (!input.dataset.network || q === asked) return;
    asked = q;
    const answer = q ? await fetch(`/api/manage/search?q=${encodeURIComponent(q)}`, { headers: { 'X-Network-Id': input.dataset.network } }).catch(() => null) : null;
    const items = answer?.ok ? (await answer.json()).items : [];
    if (q === input.value.trim()) { found = items.filter((one) => one.kind === 'DOCUMENT' || pages[one.kind]); show(); }
  };
  const all = () => [...document.querySelectorAll('.side li a, .acts :is(a, button), [data-command]')].map((el) => ({
    text: (el.getAttribute('aria-label') ?? el.textContent).replace(/\d+ open|\s+/g, ' ').trim(), el, key: el.dataset.go ? `g ${el.dataset.go}` : el.closest('.acts') ? 'on this page' : '',
    icon: el.querySelector('use')?.getAttribute('href'),
  })).filter((item) => item.text);
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    items = all().filter((item) => words.every((word) => item.text.toLowerCase().includes(word))).slice(0, 12);
    // Whatever it is, players and servers may have it in their names.
    for (const one of words.length ? found : []) {
      const [path, icon] = page(one);
      items.push({ text: one.name, icon: `#i-${icon}`, key: one.name === one.id ? '' : one.id, el: { click: () => location.assign(`${input.dataset.base}/${path}`) } });
    }
    for (const [icon, list] of [['#i-players', input.dataset.players], ['#i-server', input.dataset.servers]])
      if (list && words.length) items.push({ text: input.value.trim(), icon, key: '', el: { click: () => location.assign(list + encodeURIComponent(input.value.trim())) } });
    at = Math.min(at, Math.max(items.length - 1, 0));
    list.replaceChildren(...items.map((item, i) => {
      const li = document.createElement('li');
      li.id = `found-${i}`; li.role = 'option'; li.setAttribute('aria-selected', i === at);
      if (item.icon) {
        const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), use = document.createElementNS(svg.namespaceURI, 'use');
        svg.setAttribute('class', 'icon'); svg.setAttribute('aria-hidden', 'true'); use.setAttribute('href', item.icon); svg.append(use); li.append(svg);
      }
      li.append(item.text);
      if (item.key) li.append(Object.assign(document.createElement('small'), { textContent: item.key }));
      li.onclick = () => { palette.close(); item.el.click(); };
      return li;
    }));
    input.setAttribute('aria-activedescendant', items.length ? `found-${at}` : '');
  };
  input.addEventListener('input', () => { at = 0; show(); clearTimeout(waits); waits = setTimeout(ask, 150); });
  input.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { e.preventDefault(); at = (at + (e.key === 'ArrowDown' ? 1 : items.length - 1)) % (items.length || 1); show(); }
    else if (e.key === 'Enter') { e.preventDefault(); const item = items[at]; palette.close(); if (item) item.el.click(); }
  });
  palette.addEventListener('toggle', () => { if (palette.open) { input.value = asked = ''; found = []; at = 0; show(); } });
}
