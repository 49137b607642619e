import type { BackgroundLoop } from '../background.js'

export const scanLoops: readonly BackgroundLoop[] = []
