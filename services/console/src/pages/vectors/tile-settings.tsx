import type { AdminVector } from '@gateway/contracts/vector.js'
import { Group, NativeSelect, TagsInput } from '@mantine/core'
import { useState } from 'react'
import { updateVector } from '../../api/catalog.js'
import { useWrite } from '../../api/use-write.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'
import { ActionButton } from '../../ui/write-button.js'

/** As in the API (`tile_max_zoom`). */
const MAX_ZOOM = 18
/** Stands for a zoom that is chosen by the density of the data. */
const BY_DATA = ''

const textOf = (zoom: number | null) => (zoom === null ? BY_DATA : String(zoom))
const zoomOf = (text: string) => (text === BY_DATA ? null : Number(text))

/** Zooms and attributes of a vector's tiles. What is set builds the tiles again. */
export function TileSettings({ vector }: { vector: AdminVector }) {
  const t = useTexts().vectors
  const { code, name, fields: all } = vector
  const now = {
    from: textOf(vector.tile_min_zoom),
    to: textOf(vector.tile_max_zoom),
    fields: vector.tile_fields ?? [],
  }
  const [chosen, choose] = useState(now)
  const body = {
    tile_min_zoom: zoomOf(chosen.from),
    tile_max_zoom: zoomOf(chosen.to),
    tile_fields: chosen.fields.length === 0 ? null : [...chosen.fields],
  }
  const write = useWrite(() => updateVector(code, body), { changes: ['vectors'] })
  const isReversed = chosen.from !== BY_DATA && chosen.to !== BY_DATA && Number(chosen.from) > Number(chosen.to)
  const zooms = [
    { value: BY_DATA, label: t.zoomByData },
    ...Array.from({ length: MAX_ZOOM + 1 }, (_, zoom) => ({ value: String(zoom), label: String(zoom) })),
  ]
  return (
    <Group gap="sm" align="end">
      <NativeSelect
        label={t.firstZoom}
        value={chosen.from}
        onChange={({ currentTarget: { value } }) => choose((before) => ({ ...before, from: value }))}
        data={zooms}
      />
      <NativeSelect
        label={t.lastZoom}
        value={chosen.to}
        error={isReversed ? t.zoomsReversed : undefined}
        onChange={({ currentTarget: { value } }) => choose((before) => ({ ...before, to: value }))}
        data={zooms}
      />
      <TagsInput
        label={t.tileFields}
        placeholder={chosen.fields.length === 0 ? t.allFields : ''}
        value={[...chosen.fields]}
        onChange={(fields) => choose((before) => ({ ...before, fields }))}
        data={(all ?? []).map((field) => field.name)}
        miw={240}
      />
      <ActionButton
        needs="operator"
        variant="default"
        disabled={isReversed || JSON.stringify(chosen) === JSON.stringify(now)}
        write={write}
        onDone={() => notifyDone(t.rebuilt(shortText(name)))}
        failed={t.tileSettingsFailed}
      >
        {t.setTiles}
      </ActionButton>
    </Group>
  )
}
