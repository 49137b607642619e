/** Signatures of the operator's own key: minisign's, or those that cosign and openssl check. */
import { spawnSync } from 'node:child_process'
import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * Signs a file with the key in `keyFile` and answers the signature's file: `FILE.minisig` with a key of minisign (which asks for its password, if it has one),
 * `FILE.sig` with a PEM key (EC P-256 or RSA, by SHA-256, in base64, as `cosign verify-blob` and `openssl dgst` take it).
 */
export function signFile(file, keyFile) {
  const key = readFileSync(keyFile, 'utf8')
  if (key.startsWith('untrusted comment:')) return signWithMinisign(file, keyFile)
  const signature = `${file}.sig`
  writeFileSync(signature, `${sign('sha256', readFileSync(file), createPrivateKey(key)).toString('base64')}\n`)
  return signature
}

function signWithMinisign(file, keyFile) {
  const args = ['-S', '-s', keyFile, '-m', file, '-t', basename(file)]
  const { status, error } = spawnSync('minisign', args, { stdio: ['inherit', 'inherit', 'inherit'] })
  if (status !== 0)
    throw new Error(`minisign did not sign (${error?.message ?? `exit code ${status}`}): apt-get install minisign`)
  return `${file}.minisig`
}
