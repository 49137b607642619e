import { seededRandom, shuffled } from '../data/random.js'
import { bearer, mixPaths, type Scenario, shoot, tilePath } from './scenario.js'

const MANY_TOKENS = 2_000

/** Tiles that are not in the edge's memory; the page cache may hold the archive. Runs once per start of the gateway, since it is warm afterwards. */
export const coldTiles: Scenario = {
  name: 'cold-tiles',
  title: 'every tile for the first time, from a PMTiles archive',
  run: (context) => {
    const requests = shuffled(seededRandom(1), context.data.coldTiles).map((tile) => ({
      path: tilePath('cold', tile),
      headers: bearer(context.token),
    }))
    return shoot(context, requests, { amount: requests.length })
  },
}

export const manyTokens: Scenario = {
  name: 'many-tokens',
  title: `the mix, asked for with ${MANY_TOKENS} different tokens`,
  async run(context) {
    const tokens = await context.gateway.admin.issueTokens(MANY_TOKENS)
    const requests = mixPaths(context.data).map((path, i) => ({
      path,
      headers: bearer(tokens[i % MANY_TOKENS]?.token as string),
    }))
    // Each token once: another scenario measures their first requests.
    await shoot(context, requests, { amount: MANY_TOKENS })
    return shoot(context, requests)
  },
}
