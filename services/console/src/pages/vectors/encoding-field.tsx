import type { AdminVector } from '@gateway/contracts/vector.js'
import { WITH_ENCODING } from '@gateway/contracts/without-schemas.js'
import { Group, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useSetEncoding } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'
import { ActionButton } from '../../ui/write-button.js'

/** The most common encodings of tables; the API accepts every name of the Encoding Standard. */
const COMMON = [
  'UTF-8',
  'GBK',
  'GB18030',
  'Big5',
  'Shift_JIS',
  'EUC-KR',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'ISO-8859-1',
]

/** Stands for the encoding that the files declare. */
const OWN = ''

/** Shows the text encoding of a vector and its origin. It can be set unless the format prescribes it. */
export function EncodingField({ vector }: { vector: AdminVector }) {
  const t = useTexts().vectors
  const { code, name, kind, encoding, encoding_source: source } = vector
  const now = source === 'operator' && encoding !== null ? encoding : OWN
  const [chosen, choose] = useState(now)
  const write = useSetEncoding(code, chosen)
  const from = source === null ? t.encodingGuessed : t.encodingSources[source]
  const told = encoding === null ? '–' : `${encoding} (${from})`
  if (!WITH_ENCODING.has(kind)) return <bdi>{told}</bdi>
  return (
    <Group gap="xs">
      <bdi>{told}</bdi>
      <NativeSelect
        size="xs"
        aria-label={t.encoding}
        value={chosen}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[{ value: OWN, label: t.ownEncoding }, ...new Set([...COMMON, ...(now === OWN ? [] : [now])])]}
      />
      <ActionButton
        needs="operator"
        size="compact-xs"
        variant="default"
        disabled={chosen === now}
        write={write}
        onDone={() => notifyDone(t.encodingDone(shortText(name)))}
        failed={t.encodingFailed}
      >
        {t.setEncoding}
      </ActionButton>
    </Group>
  )
}
