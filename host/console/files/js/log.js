// The log: find, level, follow. Lines arrive at the end; whoever scrolls up stops following, the button brings them back.
export default function log(root) {
  const list = root.querySelector('ol'), find = root.querySelector('[type=search]'), follow = root.querySelector('[data-follow]');
  const toEnd = () => { list.scrollTop = list.scrollHeight; };
  const level = () => root.querySelector('[name=level]:checked')?.value ?? '';
  const filter = () => {
    const word = find.value.trim().toLowerCase(), rank = { INFO: 0, CMD: 0, WARN: 1, ERROR: 2 };
    for (const line of list.children) {
      const span = line.querySelector('span'), text = span.textContent;
      const hit = word ? text.toLowerCase().indexOf(word) : -1;
      line.hidden = (word && hit < 0) || (rank[line.className] ?? 0) < (rank[level()] ?? 0);
      span.replaceChildren(text);
      if (hit >= 0) { const mark = document.createElement('mark'); mark.textContent = text.slice(hit, hit + word.length); span.replaceChildren(text.slice(0, hit), mark, text.slice(hit + word.length)); }
    }
    if (follow.checked) toEnd();
  };
  root.addEventListener('input', (e) => { if (e.target === find || e.target.name === 'level') filter(); });
  list.addEventListener('scroll', () => { follow.checked = list.scrollTop + list.clientHeight > list.scrollHeight - 24; }, { passive: true });
  follow.addEventListener('change', () => { if (follow.checked) toEnd(); });
  // New lines come by a stream of their own; the oldest leave.
  if (root.dataset.stream) {
    const stream = new EventSource(root.dataset.stream);
    let first = true;
    stream.addEventListener('LOG', (e) => {
      // The newest line is on the page already.
      if (first) { first = false; return; }
      const said = JSON.parse(e.data), line = document.createElement('li'), time = document.createElement('time');
      line.className = said.stream === 'stderr' ? 'ERROR' : 'INFO';
      time.textContent = new Date(said.at).toISOString().slice(11, 19);
      line.append(time, document.createElement('b'), Object.assign(document.createElement('span'), { textContent: said.text }));
      list.append(line);
      while (list.children.length > 2_000) list.firstElementChild.remove();
      filter();
    });
    addEventListener('pagehide', () => stream.close());
  }
  toEnd();
}
