// The reference: the chosen language stays chosen, and an operation can be tried. Pages can be read without it.
const $ = (selector, root = document) => root.querySelector(selector);
const radios = [...document.querySelectorAll('.samples [name=language]')];
const chosen = radios.find((one) => one.value === localStorage.getItem('language'));
if (chosen) chosen.checked = true;
for (const one of radios) one.addEventListener('change', () => localStorage.setItem('language', one.value));

// Bounds of what is shown of an answer.
const MOST_TEXT = 200_000, MOST_LINES = 500;
const form = $('#try');
if (form) {
  const key = $('[name=key]', form), network = $('[name=network]', form);
  const status = $('.status', form), answer = $('.answered', form), stop = $('[data-stop]', form);
  let running, person;
  form.hidden = false;
  if (key) {
    // A key is kept for this tab alone.
    key.value = sessionStorage.getItem('hub_key') ?? '';
    key.addEventListener('input', () => sessionStorage.setItem('hub_key', key.value.trim()));
  }
  const asPerson = () => form.elements.as?.value === 'person';
  const tell = (tone, words) => {
    status.textContent = words;
    status.className = `status badge ${tone}`;
    status.hidden = false;
  };
  form.addEventListener('change', async (e) => {
    if (e.target.name !== 'as') return;
    $('.as-key', form).hidden = asPerson();
    $('.as-person', form).hidden = !asPerson();
    if (!asPerson() || person) return;
    const response = await fetch('/api/people/me');
    if (!response.ok) { tell('warn', 'Nobody is signed in: open the console first.'); return; }
    person = await response.json();
    $('.person', form).textContent = person.name;
    network.replaceChildren(...person.networks.map((one) => new Option(one.name, one.networkId)));
  });

  const address = () => {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const input of form.querySelectorAll('[data-in]')) {
      const value = input.value.trim();
      if (input.dataset.in === 'path') path = path.replace(`{${input.name}}`, encodeURIComponent(value));
      else if (input.dataset.in === 'query' && value) query.append(input.name, value);
    }
    return query.size ? `${path}?${query}` : path;
  };
  const headers = () => {
    const all = new Headers();
    for (const input of form.querySelectorAll('[data-in=header]')) if (input.value.trim()) all.set(input.name, input.value.trim());
    if (form.dataset.kind) all.set('Content-Type', form.dataset.kind);
    if (form.dataset.stream) all.set('Accept', 'text/event-stream');
    if (asPerson() && person) {
      all.set('X-CSRF-Token', person.csrfToken);
      if (network.value) all.set('X-Network-Id', network.value);
    } else if (key?.value.trim()) all.set('X-Service-Api-Key', key.value.trim());
    return all;
  };
  const follow = async (body) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let lines = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      lines = (lines.join('\n') + value).split('\n').slice(-MOST_LINES);
      answer.textContent = lines.join('\n');
      answer.scrollTop = answer.scrollHeight;
    }
  };
  const show = async (response, took) => {
    tell(response.ok ? 'good' : 'bad', `${response.status} ${response.statusText} · ${took} ms`);
    const kind = response.headers.get('Content-Type') ?? '';
    if (kind.startsWith('text/event-stream')) { tell('good', `${response.status} · listening`); await follow(response.body); tell('', 'The stream ended.'); return; }
    if (kind && !/json|text|xml/.test(kind)) { answer.textContent = `${(await response.blob()).size} bytes of ${kind}`; return; }
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* It is no JSON. */ }
    answer.textContent = shown.length > MOST_TEXT ? `${shown.slice(0, MOST_TEXT)}\n…` : shown || 'No body.';
  };
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    running?.abort();
    const own = running = new AbortController();
    const { method } = form.dataset, body = $('[name=body]', form)?.value ?? $('[name=file]', form)?.files[0];
    answer.hidden = false; answer.textContent = '';
    stop.hidden = false;
    tell('', 'Sent …');
    const begun = performance.now();
    try {
      const response = await fetch(address(), { method, headers: headers(), body: method === 'GET' ? undefined : body, signal: own.signal });
      await show(response, Math.round(performance.now() - begun));
    } catch (error) {
      if (!own.signal.aborted) tell('bad', `No answer: ${error.message}`);
    }
    // One that the next request has stopped says nothing more.
    if (running !== own) return;
    if (own.signal.aborted) tell('', 'Stopped.');
    stop.hidden = true;
    running = undefined;
  });
  stop.addEventListener('click', () => running?.abort());
}
