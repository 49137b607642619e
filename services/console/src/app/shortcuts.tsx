import { Kbd, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { useAllowed } from '../api/session.js'
import { useNavigate } from '../router/hooks.js'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import Modal from '../ui/modal.js'

/** Milliseconds between the two keys of a shortcut. */
const SECOND_KEY_WITHIN_MS = 1_500

/** Pages by the key after `g`. */
const PAGES = (t: Texts) =>
  ({
    o: ['/', t.nav.overview],
    e: ['/edges', t.work.edges.title],
    b: ['/basemaps', t.nav.basemaps],
    v: ['/vectors', t.nav.vectors],
    y: ['/styles', t.nav.styles],
    m: ['/preview', t.maps.preview.title],
    c: ['/sources', t.nav.sources],
    s: ['/slicing', t.nav.slicing],
    f: ['/seeds', t.seeds.title],
    t: ['/tokens', t.nav.tokens],
    p: ['/pushes', t.nav.pushes],
    k: ['/signing-keys', t.nav.signing],
    n: ['/notifications', t.work.notifications.title],
    a: ['/audit', t.nav.audit],
    i: ['/settings', t.nav.settings],
    d: [t.nav.documentationHome, t.nav.documentation],
    r: ['/admin/docs/', t.nav.reference],
  }) as const satisfies Readonly<Record<string, readonly [to: string, label: string]>>

/** Forms by the key after `n`. */
const FORMS = (t: Texts) =>
  ({
    t: ['/tokens/new', t.work.shortcuts.newToken, 'admin'],
    p: ['/pushes/new', t.work.shortcuts.newPush, 'operator'],
    s: ['/slicing/new', t.slicing.submit, 'operator'],
    u: ['/upload', t.upload.title, 'operator'],
  }) as const

export const SHOW_SHORTCUTS = 'show-shortcuts'

/** Handles keys that lead to pages, outside of fields, and shows their list. */
export function Shortcuts() {
  const t = useTexts()
  const go = useNavigate()
  const [opened, { open, close }] = useDisclosure()
  const allowed = { admin: useAllowed('admin'), operator: useAllowed('operator') }
  const first = useRef<{ readonly key: string; readonly atMs: number } | null>(null)
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || hasDialog()) return
    const before = first.current
    first.current = null
    if (event.key === '?') return open()
    const isSecond = before !== null && performance.now() - before.atMs < SECOND_KEY_WITHIN_MS
    if (!isSecond) {
      if (event.key === 'g' || event.key === 'n') first.current = { key: event.key, atMs: performance.now() }
      return
    }
    const page = before.key === 'g' ? (PAGES(t) as Keyed)[event.key] : (FORMS(t) as Keyed)[event.key]
    const [to, , needs] = page ?? []
    if (to === undefined || (needs !== undefined && !allowed[needs])) return
    event.preventDefault()
    // The documentation and the API reference are not pages of the console.
    if (before.key === 'g' && 'dr'.includes(event.key)) window.location.assign(to)
    else void go(to)
  }
  const latest = useRef(onKey)
  latest.current = onKey
  useEffect(() => {
    const listener = (event: KeyboardEvent) => latest.current(event)
    window.addEventListener('keydown', listener)
    window.addEventListener(SHOW_SHORTCUTS, open)
    return () => {
      window.removeEventListener('keydown', listener)
      window.removeEventListener(SHOW_SHORTCUTS, open)
    }
  }, [open])
  return (
    <Modal opened={opened} onClose={close} title={t.work.shortcuts.title}>
      <Table>
        <Table.Tbody>
          <Line keys={['Ctrl K']} label={t.work.shortcuts.search} />
          <Line keys={['/']} label={t.work.shortcuts.search} />
          {Object.entries(PAGES(t)).map(([key, [, label]]) => (
            <Line key={key} keys={['g', key]} label={label} />
          ))}
          {Object.entries(FORMS(t)).map(([key, [, label, needs]]) =>
            allowed[needs] ? <Line key={key} keys={['n', key]} label={label} /> : null,
          )}
          <Line keys={['?']} label={t.work.shortcuts.help} />
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

type Keyed = Readonly<Record<string, readonly [to: string, label: string, needs?: 'admin' | 'operator']>>

function Line({ keys, label }: { keys: readonly string[]; label: string }) {
  const { go } = useTexts().work.shortcuts
  return (
    <Table.Tr>
      <Table.Td>{label}</Table.Td>
      <Table.Td ta="end">
        {keys.map((key, i) => (
          <span key={key}>
            {i > 0 && ` ${go} `}
            <Kbd>{key}</Kbd>
          </span>
        ))}
      </Table.Td>
    </Table.Tr>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role="listbox"]') !== null
  )
}

/** True while a dialog is open, in which shortcuts must not leave the page. */
function hasDialog(): boolean {
  return document.querySelector('[role="dialog"][aria-modal="true"]') !== null
}
