import { Checkbox, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { findBasemaps, findVectors } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import type { BulkAction } from '../../ui/bulk.js'
import { GrantField } from './grant-field.js'
import { grantCodes, NO_GRANT } from './token-values.js'

type FieldsProps = Parameters<NonNullable<BulkAction['Fields']>>[0]

/** Until when tokens shall be valid: never shorter than they are. */
export function ExtendFields({ onChange }: FieldsProps) {
  const t = useTexts().work.bulk
  const [never, setNever] = useState(false)
  const [day, setDay] = useState('')
  const tell = (never: boolean, day: string) => {
    const at = Date.parse(`${day}T23:59`)
    const isLater = !Number.isNaN(at) && at > Date.now()
    onChange(never ? { expires_at: 0 } : isLater ? { expires_at: new Date(at).toISOString() } : null)
  }
  return (
    <Stack gap="xs">
      <TextInput
        type="date"
        label={t.untilWhen}
        value={day}
        disabled={never}
        onChange={({ currentTarget: { value } }) => {
          setDay(value)
          tell(never, value)
        }}
      />
      <Checkbox
        label={t.never}
        checked={never}
        onChange={({ currentTarget: { checked } }) => {
          setNever(checked)
          tell(checked, day)
        }}
      />
    </Stack>
  )
}

/** Which maps tokens get, or lose. */
export function GrantFields({ onChange }: FieldsProps) {
  const t = useTexts().tokens
  const [grants, setGrants] = useState({ basemaps: NO_GRANT, vectors: NO_GRANT })
  const set = (change: Partial<typeof grants>) => {
    const next = { ...grants, ...change }
    setGrants(next)
    const [basemaps, vectors] = [grantCodes(next.basemaps), grantCodes(next.vectors)]
    const isEmpty = basemaps.length + vectors.length === 0
    onChange(
      isEmpty
        ? null
        : {
            ...(basemaps.length > 0 && { basemap_codes: basemaps }),
            ...(vectors.length > 0 && { vector_codes: vectors }),
          },
    )
  }
  return (
    <Stack>
      <GrantField
        label={t.basemaps}
        kind="basemaps"
        find={findBasemaps}
        value={grants.basemaps}
        onChange={(basemaps) => set({ basemaps })}
      />
      <GrantField
        label={t.vectors}
        kind="vectors"
        find={findVectors}
        value={grants.vectors}
        onChange={(vectors) => set({ vectors })}
      />
    </Stack>
  )
}
