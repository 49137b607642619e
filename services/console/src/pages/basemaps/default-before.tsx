import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { useQuery } from '@tanstack/react-query'
import IconArrowBackUp from '~icons/arrow-back-up'
import { useSetDefaultVersion } from '../../api/catalog.js'
import { listQuery } from '../../api/list.js'
import { AUDIT, type AuditEntry } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { reported } from '../../ui/reported.js'
import { shortText } from '../../ui/shown-text.js'
import { isServed } from '../../ui/withdrawn.js'
import { WriteButton } from '../../ui/write-button.js'

/** Restores the previous default version with one click. Renders nothing if that version can no longer be the default. */
export function DefaultBeforeButton({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts().basemaps
  const { code } = basemap
  const [entry] =
    useQuery(listQuery(AUDIT, { limit: 1, action: 'basemap.default-version', subject: code })).data?.items ?? []
  const set = useSetDefaultVersion(code)
  const earlier = entry === undefined ? null : defaultBefore(basemap, entry.detail)
  if (earlier === null) return null
  const label = shortText(earlier)
  const give = () =>
    reported(
      set.mutateAsync({ version: earlier }),
      () => notifyDone(t.defaultDone(shortText(code), label)),
      (error) => notifyFailed(t.defaultFailed, error),
    )
  return (
    <WriteButton
      needs="operator"
      variant="default"
      size="compact-sm"
      icon={IconArrowBackUp}
      loading={set.isPending}
      onClick={give}
    >
      {t.defaultBack(label)}
    </WriteButton>
  )
}

/**
 * Returns the version that was the default before the change in an audit entry.
 * @returns null if that version can no longer be the default, or if a scan or slicing has changed the default since
 */
export function defaultBefore(
  { versions, default_version: now }: Pick<AdminBasemap, 'versions' | 'default_version'>,
  detail: AuditEntry['detail'],
): string | null {
  const { before, after } = detail as { readonly before?: Default; readonly after?: Default }
  const earlier = versions.find(({ version }) => version === before?.default_version)
  if (earlier === undefined || earlier.version === now || after?.default_version !== now) return null
  return earlier.available && isServed(earlier) ? earlier.version : null
}

interface Default {
  readonly default_version?: string | null
}
