import { REFUSED_FOR, type RefusedFor } from './responses.js'

/** Usage of tokens and versions since the last call of `takeUsage`. */
export interface TakenUsage {
  /**
   * Names, each followed by NUL, which no name contains, since a path cannot. The name of a pair is the token's name, a space, and the version's
   * name. Requests counted for a pair are not counted for the two names separately.
   */
  readonly names: string
  /**
   * Five numbers for each name: requests, responses with a tile or 304, responses that no such tile exists, refusals, and bytes of all bodies as far
   * as they were sent.
   */
  readonly amounts: Float64Array
}

/** A sampled response for a tile, and the number of responses that it represents. */
export interface SampledTile {
  /** Name under which the usage of the version is counted, from `TileResponse.usage`. */
  readonly name: string
  readonly z: number
  readonly x: number
  readonly y: number
  /** Number of responses that this one represents. */
  readonly weight: number
  /** True if the response was that no such tile exists. */
  readonly missing: boolean
}

export interface ResponseCounts {
  /** Requests since the start that were answered with a tile or 304 and did not reach the App. */
  readonly answers: number
  /** Responses among `answers` whose tile was read from its folder or archive, 304 included. */
  readonly cold: number
  /** 304 responses among `answers`. */
  readonly notModified: number
  /** Documents, which are not part of the counts above: those counted among the responses of tiles, and those of the catalog. */
  readonly tileDocuments: number
  readonly catalogDocuments: number
  /** Refused requests by reason. */
  readonly refusals: Readonly<Record<RefusedFor, number>>
  /** Bytes of all bodies. */
  readonly bodyBytes: number
  readonly tiles: number
  readonly tileBytes: number
  /** Tiles that were evicted. */
  readonly evictions: number
  readonly tokens: number
  /** Bodies that were cut: `truncated`, because their file ended early; `stalled`, because the client read nothing for too long. */
  readonly truncated: number
  readonly stalled: number
}

/** Returns the counts that the addon lists in this order; of an empty list, all are 0. */
export function responseCounts(numbers: readonly number[]): ResponseCounts {
  const [answers = 0, bodyBytes = 0, tiles = 0, tileBytes = 0, tokens = 0, ...more] = numbers
  const [truncated = 0, stalled = 0, cold = 0, notModified = 0, evictions = 0, ...documents] = more
  const [tileDocuments = 0, catalogDocuments = 0, ...refused] = documents
  const refusals = Object.fromEntries(REFUSED_FOR.map((why, i) => [why, refused[i] ?? 0])) as ResponseCounts['refusals']
  return {
    answers,
    cold,
    notModified,
    tileDocuments,
    catalogDocuments,
    refusals,
    bodyBytes,
    tiles,
    tileBytes,
    evictions,
    tokens,
    truncated,
    stalled,
  }
}

/** Sampling interval: one response in this many is timed. */
export const TIMED_EVERY = 64

/** Timed responses since the start. */
export interface TimedAnswers {
  /** Total time of all timed responses. */
  readonly seconds: number
  /** Counts by ANSWER_TIME_BOUNDS of the contracts; the last number counts longer times. */
  readonly counts: readonly number[]
}

export interface AnswerTimes {
  readonly memory: TimedAnswers
  readonly pageCache: TimedAnswers
  readonly refused: TimedAnswers
  readonly tileDocuments: TimedAnswers
  readonly catalogDocuments: TimedAnswers
}

/** Returns the times that the addon lists in this order, each followed by its counts; of an empty list, all are 0. */
export function answerTimes(numbers: readonly number[]): AnswerTimes {
  const size = numbers.length / 5
  const timed = (from: number): TimedAnswers => {
    const [seconds = 0, ...counts] = numbers.slice(from * size, (from + 1) * size)
    return { seconds, counts }
  }
  return {
    memory: timed(0),
    pageCache: timed(1),
    refused: timed(2),
    tileDocuments: timed(3),
    catalogDocuments: timed(4),
  }
}
