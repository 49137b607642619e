import { type BuildTask, buildVector } from '@gateway/vectors/build.js'
import type { BuiltTiles } from '@gateway/vectors/tiles/build-tiles.js'
import { serve } from '@gateway/core/processes/serve.js'

/** Each step is a tile. */
serve<BuildTask, BuiltTiles | null>((task, progress) => buildVector(task, progress))
