import type { AdminBasemap, CachePolicy } from '@gateway/contracts/basemap.js'
import { Group, NativeSelect, NumberInput } from '@mantine/core'
import { useState } from 'react'
import { useUpdateBasemap } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { reported } from '../../ui/reported.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'

const DAY = 86_400
const YEAR = 365 * DAY

/** Shows and sets the cache policy of a basemap: which caches may store its tiles. */
export function CachePolicyField({ basemap }: { basemap: AdminBasemap }) {
  const { caching: t } = useTexts()
  const { code, name, cache_policy: now, s_maxage: nowMaxAge } = basemap
  const [policy, setPolicy] = useState(now)
  const [maxAge, setMaxAge] = useState<number | string>(nowMaxAge ?? DAY)
  const write = useUpdateBasemap(code)
  const isSame = policy === now && (policy !== 'shared' || maxAge === nowMaxAge)
  const body = { cache_policy: policy, ...(policy === 'shared' && { s_maxage: Number(maxAge) }) }
  return (
    <Group gap="xs">
      <NativeSelect
        size="xs"
        aria-label={t.policy}
        value={policy}
        onChange={(event) => setPolicy(event.currentTarget.value as CachePolicy)}
        data={Object.entries(t.policies).map(([value, label]) => ({ value, label }))}
      />
      {policy === 'shared' && (
        <NumberInput
          size="xs"
          w={120}
          aria-label={t.maxAge}
          min={0}
          max={YEAR}
          allowDecimal={false}
          value={maxAge}
          onChange={setMaxAge}
        />
      )}
      <WriteButton
        needs="operator"
        size="compact-xs"
        variant="default"
        disabled={isSame || maxAge === ''}
        loading={write.isPending}
        onClick={() =>
          reported(
            write.mutateAsync(body),
            () => notifyDone(t.done(shortText(name))),
            (error) => notifyFailed(t.failed, error),
          )
        }
      >
        {t.set}
      </WriteButton>
    </Group>
  )
}
