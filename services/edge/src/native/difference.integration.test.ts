import { compareDecisions } from '../testing/difference.js'

// The same requests in every run. To run others, and more: FUZZ_REQUESTS=50000 FUZZ_SEED=7 npm test -- native/difference
compareDecisions({
  isEncrypted: false,
  requests: Number(process.env.FUZZ_REQUESTS ?? 3_000),
  seed: Number(process.env.FUZZ_SEED ?? 1),
})
