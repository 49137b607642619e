import { seededRandom, shuffled } from '../data/random.js'
import { bearer, CONNECTIONS, mixPaths, type Scenario, shoot, tilePath } from './scenario.js'

const MANY_TOKENS = 2_000

export const hotTile: Scenario = {
  name: 'hot-tile',
  title: 'one tile of the mean size, again and again',
  run: (context) => shoot(context, [{ path: tilePath('mix', context.data.hotTile), headers: bearer(context.token) }]),
}

export const mix: Scenario = {
  name: 'mix',
  title: 'tiles of 1 to 60 KB, by a zoom distribution like that of map traffic',
  run: (context) =>
    shoot(
      context,
      mixPaths(context.data).map((path) => ({ path, headers: bearer(context.token) })),
    ),
}

/** The page cache may hold the archive: what is cold is the edge. It runs once for a start of the gateway, or it would be warm. */
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

export const notModified: Scenario = {
  name: 'not-modified',
  title: 'the mix, every request with the tag that the client has: 304',
  async run(context) {
    const headers = bearer(context.token)
    const tags = new Map<string, string>()
    const paths = mixPaths(context.data).slice(0, CONNECTIONS * 100)
    for (const path of new Set(paths)) {
      const answer = await fetch(context.gateway.url + path, { headers })
      await answer.arrayBuffer()
      tags.set(path, answer.headers.get('etag') ?? '')
    }
    const requests = paths.map((path) => ({ path, headers: { ...headers, 'if-none-match': tags.get(path) as string } }))
    return shoot(context, requests, { status: 304 })
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
    // Every token once: what the first request of each costs is another scenario's.
    await shoot(context, requests, { amount: MANY_TOKENS })
    return shoot(context, requests)
  },
}

export const download: Scenario = {
  name: 'download',
  title: 'a GeoJSON file of 4 MB',
  run: (context) =>
    shoot(context, [{ path: '/vectors/medium/download', headers: bearer(context.token) }], { connections: 4 }),
}
