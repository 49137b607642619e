import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'

/**
 * A tile that cannot be made now, and of which no older one may be sent. The edge answers with the status and the reason, `Cache-Control: no-store` and
 * `Retry-After`. `status`: 502 for a wrong answer of what it is made from, 503 while the gateway or a dependency has no room for it, 504 if there was no
 * answer in time.
 */
export class TileNotMade extends Error {
  override readonly name = 'TileNotMade'
  readonly status: 502 | 503 | 504
  /** reason, for clients */
  readonly said: CodedMessage
  /** whole seconds, at least 1 */
  readonly retryAfterSeconds: number
  /** false if nothing was asked for it, because what it is made from failed before or has no room */
  readonly wasTried: boolean

  /** @param detail `words` are for the log and the record, not for clients; without credentials */
  constructor(
    status: 502 | 503 | 504,
    said: CodedMessage,
    detail: {
      readonly words?: string | undefined
      readonly retryAfterSeconds?: number
      readonly wasTried?: boolean
    } = {},
  ) {
    const { words, retryAfterSeconds = 5, wasTried = true } = detail
    super(words ?? textOf(said))
    this.status = status
    this.said = said
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds))
    this.wasTried = wasTried
  }
}
