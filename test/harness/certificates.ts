import { execFileSync } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Paths of a certificate for `localhost` and of the certificate of its authority. */
export interface Certificate {
  readonly dir: string
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

/** Makes a certificate and a new authority with openssl(1). */
export async function makeCertificate(name = 'localhost'): Promise<Certificate> {
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-certificate-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  openssl('req', '-x509', ...key, '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.crt')
  const own = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  openssl('req', '-x509', ...key, ...own, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-keyout', 'own.key', '-out', 'own.crt')
  const [authority = '', certificate = '', ownKey = ''] = ['ca.crt', 'own.crt', 'own.key'].map((file) =>
    join(dir, file),
  )
  return { dir, authority, certificate, key: ownKey }
}
