import { Text } from '@mantine/core'
import { segment } from '../api/client.js'
import type { AuditEntry } from '../api/system.js'
import { useTexts } from '../texts/texts.js'
import { Name, NameLink } from './name.js'
import { shownText } from './shown-text.js'
import { useFormats } from './use-formats.js'

/** Returns a function that names an action. Actions that this console does not know keep the service's name. */
export function useActionName(): (action: string) => string {
  const { actions } = useTexts().audit
  return (action) => actions[action] ?? action
}

/** Shows the name of the changed object, with a link to its page if it has one. */
export function AuditSubject({ entry }: { entry: AuditEntry }) {
  const place = placeOf(entry)
  const name = subjectOf(entry)
  return place === null ? <Name>{name}</Name> : <NameLink to={place} name={name} />
}

/** Details of a change that are more readable than an id. */
const NAMING = ['name', 'basemap', 'version', 'vector', 'target', 'target_code']

export function subjectOf({ subject, detail }: AuditEntry): string {
  const names = NAMING.map((name) => detail[name]).filter((value) => typeof value === 'string')
  return names.length === 0 ? subject : names.join(' · ')
}

/** Returns the page of the changed object; null if it has no page or was deleted. */
function placeOf({ action, subject, detail }: AuditEntry): string | null {
  const [kind, verb] = action.split('.')
  const id = segment(subject)
  if (verb === 'delete') return kind === 'version' ? `/basemaps/${id}` : null
  switch (kind) {
    case 'token':
    case 'preview-link':
      return `/tokens/${id}`
    case 'basemap':
      return `/basemaps/${id}`
    case 'version':
      return `/basemaps/${id}/versions/${segment(String(detail.version))}`
    case 'vector':
      return `/vectors/${id}`
    case 'scan-source':
      return `/sources/${id}`
    case 'target':
      return `/pushes/targets/${id}`
    case 'slice':
      return `/slicing/jobs/${id}`
    case 'push':
      if (typeof detail.job === 'string') return `/slicing/jobs/${segment(detail.job)}`
      if (detail.vector !== undefined) return `/pushes/vector/${id}`
      return detail.basemap === undefined ? null : `/pushes/basemap/${id}`
    default:
      return null
  }
}

interface AuditDetailProps extends Pick<AuditEntry, 'detail'> {
  readonly action?: string
  readonly lines?: number
}

/** Shows each changed field with its old and new value. */
export function AuditDetail({ action = '', detail, lines }: AuditDetailProps) {
  const t = useTexts()
  // The target of slicing is a layer, and not one of pushes.
  const layer = t.slicing.code
  const isSlice = action.startsWith('slice.')
  const fields = isSlice ? { ...t.audit.fields, target: layer, target_code: layer } : t.audit.fields
  const nameOf = (field: string) => (fields as Readonly<Record<string, string>>)[field] ?? field
  const { before, after, ...others } = detail
  const changes = changedFields(before, after)
  return (
    <Text size="sm" component="div" className="wrap audit-detail" {...(lines !== undefined && { lineClamp: lines })}>
      {changes.map(([name, was, is]) => (
        <div key={name}>
          {nameOf(name)}: {was !== undefined && <Value value={was} as="del" />}{' '}
          {is !== undefined && <Value value={is} as="ins" />}
        </div>
      ))}
      {Object.entries(others).map(([name, value]) => (
        <div key={name}>
          {nameOf(name)}: <Value value={value} as="bdi" />
        </div>
      ))}
      {changes.length === 0 && Object.keys(others).length === 0 && '–'}
    </Text>
  )
}

function Value({ value, as: Element }: { value: unknown; as: 'del' | 'ins' | 'bdi' }) {
  const { dateTime } = useFormats()
  const text = wordsOf(value)
  return (
    <Element>
      <bdi>{TIME.test(text) ? dateTime(text) : shownText(text) || '–'}</bdi>
    </Element>
  )
}

/** Lists of names are shown as a list, other values as JSON. */
function wordsOf(value: unknown): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string' || typeof one === 'number')
  return isList ? value.join(', ') : JSON.stringify(value)
}

/** A time as the service and its database write it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** Returns the name, old value and new value of each changed field of an entry. */
function changedFields(before: unknown, after: unknown): readonly (readonly [string, unknown, unknown])[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].map((name) => [name, was[name], is[name]] as const)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {}
  // Entries of the previous release have a plain value here.
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : { '': value }
}
