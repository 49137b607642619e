import { proveTier } from './proof/prove-tier.js'

proveTier('copy')
