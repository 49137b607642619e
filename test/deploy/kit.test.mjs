import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kitSbom } from '../../deploy/release/sbom.mjs'
import { signFile } from '../../deploy/release/sign.mjs'

let home
let sums
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kit-'))
  sums = join(home, 'SHA256SUMS')
  writeFileSync(sums, `${'0'.repeat(64)}  gateway.tar.gz\n`)
})
afterAll(() => rmSync(home, { recursive: true }))

const verified = (command, args) => spawnSync(command, args, { encoding: 'utf8' }).status === 0

test('a signature by a PEM key is what openssl and cosign verify-blob check, and fails for another file', () => {
  const [key, pub] = [join(home, 'operator.key'), join(home, 'operator.pub')]
  execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key])
  execFileSync('openssl', ['ec', '-in', key, '-pubout', '-out', pub], { stdio: 'ignore' })
  const signature = signFile(sums, key)
  expect(signature).toBe(`${sums}.sig`)
  // Base64 in the file, as cosign writes and reads it; the bytes themselves for openssl.
  const raw = join(home, 'raw')
  writeFileSync(raw, Buffer.from(readFileSync(signature, 'utf8'), 'base64'))
  const check = () => verified('openssl', ['dgst', '-sha256', '-verify', pub, '-signature', raw, sums])
  expect(check()).toBe(true)
  writeFileSync(sums, 'changed\n')
  expect(check()).toBe(false)
})

const hasMinisign = spawnSync('minisign', ['-v']).status === 0

test.skipIf(!hasMinisign)('a signature by a key of minisign is what minisign checks', () => {
  const [key, pub] = [join(home, 'mini.key'), join(home, 'mini.pub')]
  execFileSync('minisign', ['-G', '-W', '-s', key, '-p', pub], { stdio: 'ignore' })
  const signature = signFile(sums, key)
  expect(signature).toBe(`${sums}.minisig`)
  expect(verified('minisign', ['-V', '-q', '-p', pub, '-m', sums])).toBe(true)
  writeFileSync(sums, 'changed again\n')
  expect(verified('minisign', ['-V', '-q', '-p', pub, '-m', sums])).toBe(false)
})

test('the bill of materials has the packages of npm, of Debian and Node, each with what identifies it', () => {
  const npm = { bomFormat: 'CycloneDX', components: [{ purl: 'pkg:npm/fastify@5.12.8' }] }
  const packages = [{ name: 'libc6', version: '2:2.36-9+deb12u13', architecture: 'amd64', sha256: 'ab' }]
  /** @type {any} */
  const document = kitSbom(npm, { distribution: 'debian-12', packages }, { version: '20.20.2', sha256: 'cd' })
  expect(document.bomFormat).toBe('CycloneDX')
  expect(document.components.map(({ purl }) => purl)).toEqual([
    'pkg:npm/fastify@5.12.8',
    'pkg:generic/node@20.20.2',
    'pkg:deb/debian/libc6@2%3A2.36-9%2Bdeb12u13?arch=amd64&distro=debian-12',
  ])
  expect(document.components[2].hashes).toEqual([{ alg: 'SHA-256', content: 'ab' }])
  const inside = { distribution: 'debian-13', packages: [{ name: 'gdal-bin', version: '3.10', architecture: 'amd64' }] }
  const image = { image: 'map-asset-gateway-control-plane:0.2.0', id: 'sha256:ef', debian: inside }
  /** @type {any} */
  const withImage = kitSbom(npm, { distribution: 'debian-12', packages }, { version: '20.20.2', sha256: 'cd' }, [image])
  expect(withImage.components.at(-1)).toMatchObject({
    type: 'container',
    purl: 'pkg:oci/map-asset-gateway-control-plane@sha256%3Aef?tag=0.2.0',
    components: [{ purl: 'pkg:deb/debian/gdal-bin@3.10?arch=amd64&distro=debian-13' }],
  })
})
