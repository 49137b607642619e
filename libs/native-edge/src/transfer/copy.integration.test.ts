import { proveTier } from './testing/prove-tier.js'

proveTier('copy')
