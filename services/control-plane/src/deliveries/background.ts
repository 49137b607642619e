import type { BackgroundLoop } from '../background.js'

export const deliveryLoops: readonly BackgroundLoop[] = []
