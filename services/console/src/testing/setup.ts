import { afterEach } from 'vitest'
import { tidyUp } from './render.js'

afterEach(tidyUp)
