import { createRequire } from 'node:module'
import type { XMLParser } from 'fast-xml-parser'
import { ObjectRefused } from './errors.js'
import type { ListEntry } from './object-store.js'

const require = createRequire(import.meta.url)
let parser: XMLParser | null = null

/** Loads the parser with the first response in XML. */
function theParser(): XMLParser {
  const loaded = require('fast-xml-parser') as typeof import('fast-xml-parser')
  return new loaded.XMLParser({
    ignoreAttributes: true,
    parseTagValue: false,
    isArray: (name) => name === 'Contents' || name === 'CommonPrefixes' || name === 'Upload',
  })
}

export interface ListPage {
  readonly entries: readonly ListEntry[]
  /** null: this was the last page */
  readonly next: string | null
}

interface Listed {
  readonly Contents?: readonly { Key: string; Size: string; ETag?: string; LastModified?: string }[]
  readonly CommonPrefixes?: readonly { Prefix: string }[]
  readonly EncodingType?: string
  readonly IsTruncated?: string
  readonly NextContinuationToken?: string
}

/** Reads a page of ListObjectsV2 with `encoding-type=url`. Keys are returned without their first `skip` characters, the prefix. */
export function readListPage(body: Buffer, skip: number): ListPage {
  const { ListBucketResult: listed } = parse(body) as { ListBucketResult?: Listed | '' }
  if (listed === undefined) throw new ObjectRefused('the server does not return a list as S3 does')
  const {
    Contents = [],
    CommonPrefixes = [],
    EncodingType,
    IsTruncated,
    NextContinuationToken,
  }: Listed = listed === '' ? {} : listed
  // Some servers do not encode their lists.
  const decode = EncodingType === 'url' ? decodeKey : (key: string) => key
  const objects = Contents.map(({ Key, Size, ETag = '', LastModified = '' }) => ({
    key: decode(Key).slice(skip),
    // The same form as in the header. Some servers write quotes in the header and omit them in a list.
    facts: { size: Number(Size), etag: quoted(ETag), modifiedAt: LastModified === '' ? null : new Date(LastModified) },
  }))
  const folders = CommonPrefixes.map(({ Prefix }) => ({ prefix: decode(Prefix).slice(skip) }))
  return {
    // Omits the location itself, if an object has its name.
    entries: [...folders, ...objects.filter(({ key }) => key !== '')],
    next: IsTruncated === 'true' ? (NextContinuationToken ?? null) : null,
  }
}

/** Returns the uploads of one object, by its full key, of a page of ListMultipartUploads. */
export function readUploads(body: Buffer, key: string): string[] {
  type Page = { readonly Upload?: readonly { Key: string; UploadId: string }[] }
  const { ListMultipartUploadsResult: page } = parse(body) as { ListMultipartUploadsResult?: Page | '' }
  return (page || undefined)?.Upload?.filter(({ Key }) => Key === key).map(({ UploadId }) => UploadId) ?? []
}

/** Returns the text of an `Error` document, or an empty string for other documents. */
export function errorText(body: Buffer): string {
  try {
    const { Error: error } = parse(body) as { Error?: { Code?: string; Message?: string } }
    // Some servers write the used keys into the message, and `StringToSign` into other elements.
    return error === undefined
      ? ''
      : [error.Code, error.Message]
          .filter((part) => part)
          .join(', ')
          .slice(0, 300)
  } catch {
    return ''
  }
}

/** Returns the text of one element, such as the `UploadId` of an InitiateMultipartUploadResult. */
export function textOf(body: Buffer, document: string, element: string): string {
  const read = parse(body) as Record<string, Record<string, string> | undefined>
  const text = read[document]?.[element]
  if (typeof text !== 'string') throw new ObjectRefused(`the server does not return ${document} as S3 does`)
  return text
}

function parse(body: Buffer): unknown {
  try {
    parser ??= theParser()
    return parser.parse(body)
  } catch (error) {
    throw new ObjectRefused('the server does not return XML as S3 does', { cause: error })
  }
}

function quoted(tag: string): string {
  return tag === '' || tag.endsWith('"') ? tag : `"${tag}"`
}

/** Decodes a key, in which a plus stands for a blank. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error) {
    throw new ObjectRefused('the server lists a key that is not percent-encoded UTF-8', { cause: error })
  }
}
