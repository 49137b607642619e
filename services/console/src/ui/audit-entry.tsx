import { Text } from '@mantine/core'
import { segment } from '../api/client.js'
import type { AuditEntry } from '../api/system.js'
import { useTexts } from '../texts/texts.js'
import { TextLink } from './links.js'
import { Name } from './name.js'
import { shownText } from './shown-text.js'

/** What was done, in words; an action that this console does not know as the service calls it. */
export function useActionName(): (action: string) => string {
  const { actions } = useTexts().audit
  return (action) => actions[action] ?? action
}

/** What was acted upon, by its name, as a link to its page where it has one. */
export function AuditSubject({ entry }: { entry: AuditEntry }) {
  const place = placeOf(entry)
  const name = subjectOf(entry)
  return place === null ? (
    <Name>{name}</Name>
  ) : (
    <TextLink to={place}>
      <Name>{name}</Name>
    </TextLink>
  )
}

/** Details of a change that say more to a person than an id does. */
const NAMING = ['name', 'basemap', 'version', 'vector', 'target', 'target_code']

export function subjectOf({ subject, detail }: AuditEntry): string {
  const names = NAMING.map((name) => detail[name]).filter((value) => typeof value === 'string')
  return names.length === 0 ? subject : names.join(' · ')
}

/** The page of what was acted upon; null: it has none, or was deleted. */
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

/** Each field that was changed, as it was and as it is. */
export function AuditDetail({ detail, lines }: { detail: AuditEntry['detail']; lines?: number }) {
  const { fields } = useTexts().audit
  const { before, after, ...others } = detail
  const changes = changedFields(before, after)
  return (
    <Text size="sm" component="div" className="wrap" {...(lines !== undefined && { lineClamp: lines })}>
      {changes.map(([name, was, is]) => (
        <div key={name}>
          {fields[name] ?? name}: {was !== undefined && <Value value={was} as="del" />}{' '}
          {is !== undefined && <Value value={is} as="ins" />}
        </div>
      ))}
      {Object.entries(others).map(([name, value]) => (
        <div key={name}>
          {fields[name] ?? name}: <Value value={value} as="bdi" />
        </div>
      ))}
      {changes.length === 0 && Object.keys(others).length === 0 && '–'}
    </Text>
  )
}

function Value({ value, as: Element }: { value: unknown; as: 'del' | 'ins' | 'bdi' }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <Element>
      <bdi>{shownText(text) || '–'}</bdi>
    </Element>
  )
}

/** Name, before and after, of what an entry says was changed. */
function changedFields(before: unknown, after: unknown): readonly (readonly [string, unknown, unknown])[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].map((name) => [name, was[name], is[name]] as const)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {}
  // Entries of the version before have a plain value here.
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : { '': value }
}
