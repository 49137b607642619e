import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../texts/texts.js'
import { Copyable } from '../ui/copy.js'
import { addressText, type TileSet, tileAt } from './tile-address.js'

/** A place of a map, and how far the map is zoomed. */
export interface Place {
  readonly lon: number
  readonly lat: number
  readonly zoom: number
}

/** How tiles of the topmost map are addressed. `template` has `{z}`, `{x}` and `{y}`. */
export interface AddressedTiles {
  readonly set: TileSet
  readonly template: string
}

/** The last place of the cursor, and the place of a click, which stays until it is released. */
export function useCursor() {
  const [over, setOver] = useState<Place | null>(null)
  const [kept, setKept] = useState<Place | null>(null)
  return { place: kept ?? over, isKept: kept !== null, point: setOver, keep: setKept, release: () => setKept(null) }
}

interface UnderCursorProps {
  readonly cursor: ReturnType<typeof useCursor>
  readonly tiles: AddressedTiles | null
}

/** Coordinates and the tile's URL below the cursor. */
export function UnderCursor({ cursor: { place, isKept, release }, tiles }: UnderCursorProps) {
  const t = useTexts().maps.cursor
  if (place === null) {
    return (
      <Text size="sm" c="dimmed" className="under-cursor">
        {t.hint}
      </Text>
    )
  }
  const tile = tiles === null ? null : tileAt(place.lon, place.lat, place.zoom, tiles.set)
  const url = tile && tiles?.template.replace(/\{([xyz])\}/g, (_, name: 'x' | 'y' | 'z') => String(tile[name]))
  return (
    <Group gap="xs" className="under-cursor" component="output">
      <Copyable text={`${place.lat.toFixed(5)}, ${place.lon.toFixed(5)}`} what={t.coordinates} />
      <Text size="sm" c="dimmed" component="span">
        {t.zoom(place.zoom.toFixed(1))}
        {tile !== null && ` · ${t.tile(addressText(tile))}`}
      </Text>
      {url !== null && url !== undefined && <Copyable text={url} what={t.url} />}
      {isKept && (
        <Button size="compact-xs" variant="default" onClick={release}>
          {t.release}
        </Button>
      )}
    </Group>
  )
}
