import type { Request } from './requester.js'

/** Builds and signs the request for an object, or for the bucket (`key` null). */
export type S3Addressing = (
  method: Request['method'],
  key: string | null,
  more?: { readonly query?: Readonly<Record<string, string>>; readonly sha256?: string },
) => Pick<Request, 'method' | 'path' | 'headers'>
