import type { Settings } from '../settings/load.js'
import { CredentialsMissing, ObjectRefused } from './errors.js'
import type { Credentials } from './signer.js'

export type KeySettings = Pick<Settings, 's3Region' | 'awsAccessKeyId' | 'awsSecretAccessKey' | 'awsSessionToken'>

export type CredentialSource = () => Credentials | Promise<Credentials>

/** The library's words if no place has keys; any other failure names a place that has some. */
const NOTHING_FOUND = /^Could not load credentials from any providers/

/**
 * Returns the keys of the settings, or those that AWS's own tools would find: profile, web identity, container, instance. The library for the
 * latter takes 16 MB of memory and is loaded only if it is needed. It caches keys and renews them before they expire.
 */
export function credentialSource(settings: KeySettings): CredentialSource {
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
