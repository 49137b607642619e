import type { MapLibre } from './library.js'

/** Makes each map follow the other, as long as both exist. */
export function moveTogether(one: MapLibre, other: MapLibre): void {
  let following = false
  const follow = (leader: MapLibre, follower: MapLibre) => {
    const onMove = () => {
      if (following) return
      following = true
      follower.jumpTo({ center: leader.getCenter(), zoom: leader.getZoom(), bearing: leader.getBearing() })
      following = false
    }
    leader.on('move', onMove)
    follower.once('remove', () => void leader.off('move', onMove))
  }
  follow(one, other)
  follow(other, one)
  other.jumpTo({ center: one.getCenter(), zoom: one.getZoom() })
}
