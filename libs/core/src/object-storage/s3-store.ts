import type { Settings } from '../settings/load.js'
import { CredentialsMissing, ObjectRefused } from './errors.js'
import { refuseStatus } from './facts.js'
import type { ListEntry, ObjectStore, ObservedRequest, ReadOptions } from './object-store.js'
import { reader } from './reading.js'
import { Requester } from './requester.js'
import type { S3Addressing } from './s3-addressing.js'
import { errorText, readListPage } from './s3-xml.js'
import { type Credentials, encodePart, encodePath, Signer } from './signer.js'
import { writer } from './writing.js'

type KeySettings = Pick<Settings, 's3Region' | 'awsAccessKeyId' | 'awsSecretAccessKey' | 'awsSessionToken'>

type CredentialSource = () => Credentials | Promise<Credentials>

/** The library's words if no place has keys; any other failure names a place that has some. */
const NOTHING_FOUND = /^Could not load credentials from any providers/

/**
 * Returns the keys of the settings, or those that AWS's own tools would find: profile, web identity, container, instance. The library for the
 * latter takes 16 MB of memory and is loaded only if it is needed. It caches keys and renews them before they expire.
 */
function credentialSource(settings: KeySettings): CredentialSource {
  const { s3Region: region, awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey } = settings
  if (accessKeyId !== null && secretAccessKey !== null) {
    const credentials = { accessKeyId, secretAccessKey, sessionToken: settings.awsSessionToken ?? undefined }
    return () => credentials
  }
  let chain: Promise<() => Promise<Credentials>> | null = null
  return async () => {
    chain ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) =>
      defaultProvider({ clientConfig: { region } }),
    )
    try {
      return await (await chain)()
    } catch (error) {
      if (NOTHING_FOUND.test((error as Error).message)) throw new CredentialsMissing({ cause: error })
      throw new ObjectRefused(`cannot find credentials for object storage: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }
}

export type S3Settings = KeySettings & Pick<Settings, 's3Endpoint' | 's3Region' | 's3ForcePathStyle'>

/** Maximum bytes of a page of a list: a thousand keys of maximum length, percent-encoded. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** Maximum number of keys that S3 lists at once. */
const MAX_PAGE_KEYS = 1000

const UNSIGNED = 'UNSIGNED-PAYLOAD'

/** Opens a bucket with a prefix, at AWS or at any server that speaks its protocol. */
export function openS3Store(
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  place: string,
  settings: S3Settings,
  observe: (request: ObservedRequest) => void,
  pageKeys = MAX_PAGE_KEYS,
): ObjectStore {
  const { origin, path } = endpointOf(bucket, settings)
  const requester = new Requester(origin, null, observe)
  const { host } = new URL(origin)
  const signer = new Signer(settings.s3Region)
  const credentials = credentialSource(settings)
  const below = prefix === '' ? '' : `${prefix}/`

  const address: S3Addressing = (method, key, { query = {}, sha256 = UNSIGNED } = {}) => {
    const name = key === null ? '' : key === '' ? prefix : `${below}${key}`
    const whole = name === '' ? path || '/' : `${path}/${encodePath(name)}`
    const sorted = Object.keys(query).sort()
    const text = sorted.map((field) => `${encodePart(field)}=${encodePart(query[field] as string)}`).join('&')
    return {
      method,
      path: text === '' ? whole : `${whole}?${text}`,
      headers: async () =>
        signer.sign({ method, host, path: whole, query: text, payload: sha256 }, await credentials(), new Date()),
    }
  }

  async function* list(
    within: string,
    { delimiter, signal }: { readonly delimiter?: '/' } & ReadOptions = {},
  ): AsyncIterable<ListEntry> {
    const query = {
      'list-type': '2',
      'max-keys': String(pageKeys),
      'encoding-type': 'url',
      prefix: `${below}${within}`,
      ...(delimiter === undefined ? {} : { delimiter }),
    }
    for (let next: string | null = ''; next !== null; ) {
      const asked = next === '' ? query : { ...query, 'continuation-token': next }
      const answer = await requester.send({
        ...address('GET', null, { query: asked }),
        maxBytes: MAX_PAGE_BYTES,
        signal,
      })
      if (answer.status !== 200) return refuseStatus(answer.status, errorText(answer.bytes))
      const page = readListPage(answer.bytes, below.length)
      yield* page.entries
      if (page.next === next) throw new ObjectRefused('the server returns the same page of a list again')
      next = page.next
    }
  }

  return {
    url: place,
    ...reader(requester, (method, key) => address(method, key), errorText),
    list,
    ...writer(requester, address, below),
    get circuit() {
      return requester.circuit.state
    },
    close: () => requester.close(),
  }
}

/** Returns the endpoint of a bucket, and the path in front of its keys. */
function endpointOf(bucket: string, { s3Endpoint, s3Region, s3ForcePathStyle }: S3Settings) {
  const { protocol, host } = new URL(s3Endpoint ?? `https://s3.${s3Region}.amazonaws.com`)
  // A certificate for *.s3.amazonaws.com does not cover a name with dots.
  const isPath = s3ForcePathStyle || (protocol === 'https:' && bucket.includes('.'))
  return isPath
    ? { origin: `${protocol}//${host}`, path: `/${bucket}` }
    : { origin: `${protocol}//${bucket}.${host}`, path: '' }
}
