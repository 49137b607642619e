import type { Bounds } from '@gateway/contracts/basemap.js'
import { useTexts } from '../../texts/texts.js'
import { isWorld } from './differences.js'

/** Bounds as west, south, east and north in degrees. */
export function BoundsText({ bounds }: { bounds: Bounds | null }) {
  const t = useTexts()
  if (bounds === null) return <>–</>
  if (isWorld(bounds)) return <>{t.basemaps.world}</>
  return <span className="mono">{bounds.map((degrees) => degrees.toFixed(2)).join(', ')}</span>
}
