/** The list of the basemaps and vectors that a token may read. A choice changes the address, which reloads the page. */
import { colourOf } from './layers.js'
import { t } from './texts.js'

/** Limit: entries of each list; the search finds the others. */
const MOST = 100
const TYPED_MS = 250

const panel = document.getElementById('layers')
const [summary, search, form] = panel.children

/**
 * Shows the lists of basemaps and vectors.
 * @param asked the parameters of the address
 * @param choose called with the new parameters after a choice
 */
export async function showPanel(asked, choose) {
  summary.textContent = t.layers
  search.placeholder = t.search
  search.setAttribute('aria-label', t.search)
  panel.open = innerWidth > 700
  panel.hidden = false
  let timer
  search.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void list(asked, choose), TYPED_MS)
  })
  form.addEventListener('submit', (event) => event.preventDefault())
  return list(asked, choose)
}

async function list(asked, choose) {
  const [basemaps, vectors] = await Promise.all(['basemaps', 'vectors'].map((kind) => read(kind, asked.get('token'))))
  const parts = []
  const none = { code: '', name: t.none }
  if (basemaps.items.length > 0)
    parts.push(group(t.basemaps, basemaps, [none, ...basemaps.items], 'radio', 'code', asked, choose))
  if (vectors.items.length > 0)
    parts.push(group(t.vectors, vectors, vectors.items, 'checkbox', 'vector', asked, choose))
  if (parts.length === 0) parts.push(element('p', search.value === '' ? t.nothing : '–'))
  form.replaceChildren(...parts)
}

async function read(kind, token) {
  const query = new URLSearchParams({
    limit: MOST,
    available: true,
    ...(search.value.trim() && { q: search.value.trim() }),
  })
  const answer = await fetch(`../api/v1/catalog/${kind}?${query}`, { headers: { 'X-Access-Token': token } })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error)
  return body
}

function group(title, { items, total }, entries, type, name, asked, choose) {
  const set = element('fieldset')
  set.append(element('legend', title))
  const chosen = asked.getAll(name)
  for (const { code, name: shown } of entries) {
    const label = element('label')
    const input = Object.assign(element('input'), { type, name, value: code })
    input.checked = code === '' ? chosen.length === 0 : chosen.includes(code)
    input.addEventListener('change', () => choose(changed(asked, name, code, type === 'checkbox' && !input.checked)))
    label.append(input, element('span', shown))
    const at = name === 'vector' ? chosen.indexOf(code) : -1
    if (at >= 0) label.lastChild.before(swatch(at))
    set.append(label)
  }
  if (total > items.length) set.append(element('small', t.some(items.length, total)))
  return set
}

function swatch(n) {
  const mark = element('span')
  mark.style.setProperty('--colour', colourOf(n))
  return mark
}

function changed(asked, name, code, isRemoved) {
  const next = new URLSearchParams(asked)
  if (name === 'vector') {
    const others = asked.getAll(name).filter((one) => one !== code)
    next.delete(name)
    for (const one of isRemoved ? others : [...others, code]) next.append(name, one)
    return next
  }
  next.delete('version')
  if (code === '') next.delete(name)
  else next.set(name, code)
  return next
}

export function element(name, text = '') {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
