import { serve } from '@gateway/core/processes/serve.js'
import { composeMap } from './compose.js'
import type { MapAnswer, MapTask } from './map-pool.js'

serve<MapTask, MapAnswer>(composeMap)
