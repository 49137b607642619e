import { buildIndex, type IndexTask } from './index-file/build-index.js'
import { type BuiltTiles, buildTiles, type TilesTask } from './tiles/build-tiles.js'

export type BuildTask = IndexTask & Pick<TilesTask, 'name' | 'minZoom' | 'maxZoom' | 'fields'>

/** Writes the index of a vector and its tiles into the task's folder. Returns null if the index has no geometry to make tiles of. */
export async function buildVector(task: BuildTask, onStep: () => void): Promise<BuiltTiles | null> {
  const description = await buildIndex(task, onStep)
  return buildTiles({ ...task, folder: task.output, description, memoryMb: task.limits.memoryMb }, onStep)
}
