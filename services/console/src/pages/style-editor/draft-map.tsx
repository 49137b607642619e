import { dependenciesOf } from '@gateway/styles/dependencies.js'
import type { StyleJson } from '@gateway/styles/style-json.js'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type Previewed, previewTokenQuery } from '../../api/preview.js'
import type { StyleDocument } from '../../api/styles.js'
import { StyleMap, useMapLibrary } from '../../map/lazy.js'
import { MapSkeleton } from '../../map/skeleton.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { servedForm, storedForm } from './style-forms.js'

interface DraftMapProps {
  readonly code: string
  readonly opened: StyleDocument
  /** the last valid document, as it is stored; null: none yet */
  readonly style: StyleJson | null
  readonly previewed: Previewed
}

/** The map of a style that is being edited. It keeps its place, and changes only what differs. */
export function DraftMap({ code, opened, style, previewed }: DraftMapProps) {
  const t = useTexts()
  useMapLibrary('style')
  // A document that was saved in the meantime must not make another map.
  const [first] = useState(opened)
  const valid = useLast(style)
  const draft = useMemo(
    () => (valid === null ? undefined : { ...servedForm(valid, first.bases, code) }),
    [valid, first, code],
  )
  const saved = useMemo(() => storedForm(first.document, first.bases, code), [first, code])
  const { data, error } = useQuery(previewTokenQuery(readFor(valid, saved, previewed)))
  const token = useLast(data?.token ?? null)
  if (token === null) return error === null ? <MapSkeleton tall /> : <Problem title={t.map.failed} error={error} />
  return <StyleMap label={code} of={first} token={token} draft={draft} />
}

/** Returns what a token must read. A draft with further sources needs them too, next to those that the icons of the saved style need. */
function readFor(style: StyleJson | null, saved: StyleJson, previewed: Previewed): Previewed {
  const before = dependenciesOf(saved).sources
  const now = style === null ? [] : dependenciesOf(style).sources
  if (now.every(({ kind, code }) => before.some((one) => one.kind === kind && one.code === code))) return previewed
  const codes = (kind: string) =>
    [...new Set([...before, ...now].filter((one) => one.kind === kind).map(({ code }) => code))].sort()
  return { basemap_codes: codes('basemap'), vector_codes: codes('vector') }
}

/** Returns the last value that was there. */
function useLast<T>(value: T | null): T | null {
  const [last, setLast] = useState(value)
  if (value !== null && value !== last) setLast(value)
  return value ?? last
}
