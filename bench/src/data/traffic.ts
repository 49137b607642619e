import { below, type Random } from './random.js'

export interface Address {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** An address of the set, and its share of the requests. */
export interface Weighted extends Address {
  readonly weight: number
}

/**
 * Shares of requests by zoom, zoom 0 first: few at the top, most at street level, as from map viewers. An assumption that follows published
 * logs of tile servers, not a measurement.
 */
const ZOOM_SHARES = [
  0.005, 0.005, 0.01, 0.015, 0.025, 0.04, 0.05, 0.055, 0.06, 0.07, 0.08, 0.09, 0.11, 0.12, 0.125, 0.14,
] as const
/** Longitude and latitude of the requested cities, the most visited first. */
const CITIES = [
  [13.4, 52.5],
  [-74, 40.7],
  [139.7, 35.7],
  [2.35, 48.86],
  [-46.6, -23.5],
] as const
/** Exponent of Zipf's law by which interest falls with the distance from a city's centre. */
const ZIPF = 0.8

/** Returns `count` addresses of a map of some cities at all zooms, the most requested first within each zoom. */
export function mapAddresses(count: number): Weighted[] {
  const addresses: Weighted[] = []
  for (const [z, share] of ZOOM_SHARES.entries()) {
    const zoomsLeft = ZOOM_SHARES.length - z
    const wanted = Math.min(4 ** z, Math.ceil((count - addresses.length) / zoomsLeft))
    const atZoom = aroundCities(z, wanted)
    const weights = atZoom.map((_, rank) => 1 / (rank + 1) ** ZIPF)
    const sum = weights.reduce((a, b) => a + b, 0)
    for (const [rank, address] of atZoom.entries()) {
      addresses.push({ ...address, weight: (share * (weights[rank] as number)) / sum })
    }
  }
  return addresses
}

/** Returns addresses in rings around each city in turn, until there are `count`. */
function aroundCities(z: number, count: number): Address[] {
  const size = 2 ** z
  const found = new Map<string, Address>()
  for (let radius = 0; found.size < count; radius++) {
    for (const [longitude, latitude] of CITIES) {
      const centre = tileOf(longitude, latitude, z)
      for (const { x, y } of ring(centre, radius)) {
        if (x < 0 || y < 0 || x >= size || y >= size || found.size >= count) continue
        found.set(`${x}/${y}`, { z, x, y })
      }
    }
  }
  return [...found.values()]
}

function* ring(centre: { x: number; y: number }, radius: number): Generator<{ x: number; y: number }> {
  for (let dx = -radius; dx <= radius; dx++) {
    for (let dy = -radius; dy <= radius; dy++) {
      if (Math.max(Math.abs(dx), Math.abs(dy)) === radius) yield { x: centre.x + dx, y: centre.y + dy }
    }
  }
}

function tileOf(longitude: number, latitude: number, z: number): { x: number; y: number } {
  const radians = (latitude * Math.PI) / 180
  const mercator = Math.asinh(Math.tan(radians)) / Math.PI
  return {
    x: Math.floor(((longitude + 180) / 360) * 2 ** z),
    y: Math.floor(((1 - mercator) / 2) * 2 ** z),
  }
}

/** Returns `count` requests in the order in which a map's visitors would send them. */
export function sampleTraffic(random: Random, addresses: readonly Weighted[], count: number): Address[] {
  const cumulated: number[] = []
  let sum = 0
  for (const { weight } of addresses) {
    sum += weight
    cumulated.push(sum)
  }
  return Array.from({ length: count }, () => addresses[firstAbove(cumulated, random() * sum)] as Address)
}

/** Returns every address equally often. */
export function sampleEvenly(random: Random, addresses: readonly Address[], count: number): Address[] {
  return Array.from({ length: count }, () => addresses[below(random, addresses.length)] as Address)
}

/** Returns the index of the first number above `wanted` in ascending numbers. */
export function firstAbove(cumulated: ArrayLike<number>, wanted: number): number {
  let low = 0
  let high = cumulated.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cumulated[middle] as number) > wanted) high = middle
    else low = middle + 1
  }
  return low
}
