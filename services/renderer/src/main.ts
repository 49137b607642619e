import type { DrawAnswer, DrawTask } from '@gateway/contracts/drawing.js'
import { serve } from '@gateway/core/processes/serve.js'
import { encode } from './encode.js'
import { Studio } from './studio.js'

const studio = new Studio()

serve<DrawTask, DrawAnswer>(async (task, progress) => {
  const drawn = await studio.draw(task, () => progress('drawing'))
  if (!drawn.ok) return drawn
  return { ok: true, pieces: await encode(drawn.pixels, task) }
})
