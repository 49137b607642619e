import type { Request } from './requester.js'

/** How a request for an object, or for the bucket (`key` null), is written and signed. */
export type S3Addressing = (
  method: Request['method'],
  key: string | null,
  more?: { readonly query?: Readonly<Record<string, string>>; readonly sha256?: string },
) => Pick<Request, 'method' | 'path' | 'headers'>
