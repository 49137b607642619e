import type { Token } from '@gateway/contracts/token.js'
import { Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { findBasemaps, findVectors } from '../../api/catalog.js'
import { listQuery } from '../../api/list.js'
import { TOKENS } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import type { BulkAction } from '../../ui/bulk.js'
import { GrantField } from './grant-field.js'
import { grantCodes, NO_GRANT } from './token-values.js'

type FieldsProps = Parameters<NonNullable<BulkAction['Fields']>>[0]

/** The day until which tokens shall be valid: never shorter than they are. */
export function ExtendFields({ onChange }: FieldsProps) {
  return <ExpiryFields onChange={onChange} />
}

/** The day until which tokens shall be valid, with the number of those that lose time. */
export function ExpireFields({ onChange, selection }: FieldsProps) {
  const t = useTexts().work.bulk
  const [at, setAt] = useState<string | null>(null)
  const { choice, rowOf } = selection
  const filter = { ...('filter' in choice && choice.filter), limit: 1, ...(at !== null && { expires_after: at }) }
  const counted = useQuery({ ...listQuery(TOKENS, filter), enabled: at !== null && 'filter' in choice })
  const isShortened = (id: string) => {
    const { expires_at: end } = rowOf(id) as unknown as Token
    return at !== null && (end === null || Date.parse(end) > Date.parse(at))
  }
  const shortened = 'ids' in choice ? choice.ids.filter(isShortened).length : counted.data?.total
  return (
    <>
      <ExpiryFields
        onChange={(params) => {
          setAt(typeof params?.expires_at === 'string' ? params.expires_at : null)
          onChange(params)
        }}
      />
      {at !== null && shortened !== undefined && (
        <Text size="sm" role="status">
          {t.shortens(shortened)}
        </Text>
      )}
    </>
  )
}

function ExpiryFields({ onChange }: Pick<FieldsProps, 'onChange'>) {
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
