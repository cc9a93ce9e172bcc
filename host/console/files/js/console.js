// The console's only entry. Every page works without it; it adds what follows the user's hand.
import './live.js';
import './keys.js';
import './swap.js';
import { times } from './times.js';
import { toast } from './toast.js';

const $ = (s, root = document) => root.querySelector(s);
const on = (type, selector, act) =>
  document.addEventListener(type, (e) => { const el = e.target.closest?.(selector); if (el) act(el, e); });

// Parts with a behaviour of their own name its module: <section data-use="log">.
for (const el of document.querySelectorAll('[data-use]'))
  import(`./${el.dataset.use}.js`).then((module) => module.default(el));

// Dialogs open by commandfor="id" command="show-modal", without script where the browser knows that.
if (!('command' in HTMLButtonElement.prototype)) on('click', '[command=show-modal]', (el) => $(`#${el.getAttribute('commandfor')}`)?.showModal());
// Typed confirmation: <form data-confirm="text to type">; the hub checks the field again.
on('click', 'dialog', (el, e) => { if (e.target === el) el.close(); });
on('input', 'form[data-confirm] [name=confirm]', (input) => {
  const form = input.form;
  $('[value=ok]', form).disabled = input.value.trim() !== form.dataset.confirm;
});

// Menus are <details>: one open at a time, closed by Escape and by a click elsewhere.
document.addEventListener('click', (e) => {
  for (const menu of document.querySelectorAll('.menu[open]'))
    if (!menu.contains(e.target) || e.target.closest('.menu > div')) menu.open = false;
});
document.addEventListener('keydown', (e) => {
  const menu = e.key === 'Escape' && e.target.closest?.('.menu[open]');
  if (menu) { menu.open = false; $('summary', menu).focus(); }
});

// Copying: an id, or the same request as a line for the shell.
on('click', '[data-copy]', async (el) => {
  await navigator.clipboard.writeText(el.dataset.copy);
  toast(el.dataset.copy.startsWith('curl') ? 'Copied. Set HUB_URL and HUB_KEY first.' : 'Copied');
});

// The theme is a setting of the person; here it is kept in this browser.
const theme = localStorage.getItem('theme');
if (theme) document.documentElement.dataset.theme = theme;
on('click', '[data-theme-next]', () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark'
    || (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
  localStorage.setItem('theme', document.documentElement.dataset.theme = dark ? 'light' : 'dark');
});

// Phones: "More" opens the navigation.
on('click', '[data-side]', (el, e) => {
  e.preventDefault();
  const side = $('#side'), open = side.toggleAttribute('data-open');
  el.setAttribute('aria-expanded', open);
  if (open) $('a[aria-current], a', side).focus();
});

// The current tab is in sight, also where tabs scroll.
$('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// What a form did is said for a while, and not again when the page is reloaded.
for (const said of document.querySelectorAll('#toasts > div')) setTimeout(() => said.remove(), 5_000);
if (new URLSearchParams(location.search).has('done')) {
  const url = new URL(location.href);
  url.searchParams.delete('done');
  history.replaceState(null, '', url);
}

// <a data-show="id"> opens a dialog where there is script; <button data-sure="…"> asks before it sends.
on('click', '[data-show]', (el, e) => { e.preventDefault(); $(`#${el.dataset.show}`).showModal(); });
on('click', '[data-close]', (el, e) => { e.preventDefault(); el.closest('dialog').close(); });
on('click', '[data-sure]', (el, e) => { if (!confirm(el.dataset.sure)) e.preventDefault(); });
times(document);
