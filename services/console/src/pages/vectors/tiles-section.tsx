import type { AdminVector, VECTOR_TILE_STATUSES } from '@gateway/contracts/vector.js'
import { Group, List, Text } from '@mantine/core'
import IconRefresh from '~icons/refresh'
import { updateVector } from '../../api/catalog.js'
import { useWrite } from '../../api/use-write.js'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import type { Filter } from '../../ui/filter-field.js'
import { notifyDone } from '../../ui/notify.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { shortText } from '../../ui/shown-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { ActionButton } from '../../ui/write-button.js'
import { TileSettings } from './tile-settings.js'

type Tiles = AdminVector['tiles']

const TONES: Readonly<Record<(typeof VECTOR_TILE_STATUSES)[number], Tone>> = {
  none: 'off',
  building: 'busy',
  ready: 'good',
  failed: 'bad',
}

export function TilesStatus({ tiles: { status } }: { tiles: Tiles }) {
  return <Status tone={TONES[status]}>{useTexts().vectors.tilesStates[status]}</Status>
}

/** The status only if the tiles are being built or could not be built: in a list, the normal state needs no text. */
export function UnfinishedTiles({ tiles }: { tiles: Tiles }) {
  return tiles.status === 'building' || tiles.status === 'failed' ? <TilesStatus tiles={tiles} /> : null
}

/** Filter of vectors by the status of their tiles. */
export function useTilesFilter(): Filter<'tiles_status'> {
  const t = useTexts().vectors
  return { name: 'tiles_status', label: t.tilesStatus, options: Object.entries(t.tilesStates) }
}

/** Number of features that no tile shows, for each zoom that has any. */
export function LeftOut({ tiles: { left_out: leftOut } }: { tiles: Tiles }) {
  const t = useTexts().vectors
  const formats = useFormats()
  const counts = countsOf(leftOut)
  if (counts.length === 0) return '–'
  return (
    <List size="sm">
      {counts.map(([zoom, count]) => (
        <List.Item key={zoom}>{t.leftOutAt(formats.number(count), zoom)}</List.Item>
      ))}
    </List>
  )
}

/** The same in a few words. */
export function LeftOutSummary({ tiles: { left_out: leftOut } }: { tiles: Tiles }) {
  const t = useTexts().vectors
  const formats = useFormats()
  const counts = countsOf(leftOut)
  const [first, last] = [counts[0], counts.at(-1)]
  if (first === undefined || last === undefined) return '–'
  return t.leftOutUpTo(formats.number(Math.max(...counts.map(([, count]) => count))), first[0], last[0])
}

function countsOf(leftOut: Tiles['left_out']) {
  return Object.entries(leftOut).sort(([one], [other]) => Number(one) - Number(other))
}

/** The build of a vector's tiles: its outcome, the features that it left out, and a button for a new build. */
export function TilesSection({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const { code, name, tiles } = vector
  const { min_zoom: first, max_zoom: last, built_at: builtAt, message } = tiles
  return (
    <Section
      title={t.vectors.tiles}
      actions={
        <ActionButton
          needs="operator"
          size="compact-sm"
          variant="default"
          icon={IconRefresh}
          disabled={tiles.status === 'building' || !vector.available}
          write={useWrite(() => updateVector(code, { tiles: true }), { changes: ['vectors'] })}
          onDone={() => notifyDone(t.vectors.rebuilt(shortText(name)))}
          failed={t.vectors.rebuildFailed}
        >
          {t.vectors.rebuild}
        </ActionButton>
      }
    >
      <Group gap="xs">
        <TilesStatus tiles={tiles} />
        {message !== '' && (
          <Text size="sm" className="wrap" role="alert">
            <ServerText text={message} code={tiles.message_code} params={tiles.message_params} />
          </Text>
        )}
      </Group>
      {builtAt !== null && (
        <Facts>
          <Fact name={t.common.zooms}>{`${first}–${last}`}</Fact>
          <Fact name={t.vectors.built}>
            <Ago at={builtAt} />
          </Fact>
          <Fact name={t.vectors.leftOutOfTiles} wide>
            <LeftOut tiles={tiles} />
          </Fact>
        </Facts>
      )}
      <TileSettings
        key={JSON.stringify([vector.tile_min_zoom, vector.tile_max_zoom, vector.tile_fields])}
        vector={vector}
      />
    </Section>
  )
}
