// Parts of a page, asked of the hub anew: <form data-swap="id"> and <a data-swap="id"> fetch their own address and put the
// element of that id in place of the one here. Without script they are a form and a link. The only place that parses HTML.
import { times } from './times.js';

const policy = globalThis.trustedTypes?.createPolicy('hub', { createHTML: (html) => html });

export async function swap(url, id, push) {
  const part = document.getElementById(id);
  part.setAttribute('aria-busy', 'true');
  try {
    const answer = await fetch(url, { headers: { 'X-Part': id }, signal: AbortSignal.timeout(15_000) });
    if (!answer.ok || !answer.headers.get('Content-Type')?.startsWith('text/html')) { location.assign(url); return; }
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html').getElementById(id);
    if (!fresh) { location.assign(url); return; }
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    part.replaceWith(document.adoptNode(fresh));
    times(document.getElementById(id));
    if (focused) document.getElementById(focused)?.focus();
    history[push ? 'pushState' : 'replaceState'](null, '', url);
  } catch { part.removeAttribute('aria-busy'); location.assign(url); }
}

// The same for parts that are out of date: all in one request, and what cannot be had stays as it is.
export async function refresh(ids, at = location.href) {
  try {
    const answer = await fetch(new URL(at, location.href), { headers: { 'X-Part': ids.join(',') }, signal: AbortSignal.timeout(15_000) });
    if (!answer.ok || answer.redirected) return;
    const text = await answer.text();
    const page = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');
    for (const id of ids) {
      const part = document.getElementById(id), fresh = page.getElementById(id);
      if (part && fresh && part.innerHTML !== fresh.innerHTML) { part.replaceWith(document.adoptNode(fresh)); times(document.getElementById(id)); }
    }
  } catch { /* The next event asks again. */ }
}

const address = (form) => {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  return `${form.getAttribute('action') ?? location.pathname}${query.size ? `?${query}` : ''}`;
};
let wait;
document.addEventListener('input', (e) => {
  const form = e.target.closest?.('form[data-swap]');
  if (!form) return;
  clearTimeout(wait);
  wait = setTimeout(() => swap(address(form), form.dataset.swap, false), 250);
});
document.addEventListener('submit', (e) => {
  const form = e.target.closest('form[data-swap]');
  if (form) { e.preventDefault(); clearTimeout(wait); swap(address(form), form.dataset.swap, true); }
});
document.addEventListener('click', (e) => {
  const link = e.target.closest?.('a[data-swap]');
  if (link && !e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) { e.preventDefault(); swap(link.href, link.dataset.swap, true); }
});
addEventListener('popstate', () => location.reload());
