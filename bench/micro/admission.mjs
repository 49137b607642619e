/**
 * Hit rate of the response table (96 MB, tiles of 1 to 31 KB, a million addresses, Zipf's law with three exponents, with and without an equal
 * number of requests from a scan) with and without its admission. The result is the same on every machine.
 *
 *   node bench/micro/admission.mjs
 *
 * Needs g++. Prints hits in per cent of the requests outside the scan, and bytes copied into the table per request.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { textTable } from '../dist/report/text-table.js'

const library = path.join(import.meta.dirname, '../../libs/native-edge')
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'admission-'))
const program = path.join(dir, 'admission')
const sources = ['response_table', 'frequency', 'token_form', 'usage'].map((name) =>
  path.join(library, 'native/hot_tiles', `${name}.cc`),
)
// The table's headers name libuv, but none of its functions is called.
const flags = ['-O2', '-std=c++17', '-D_GNU_SOURCE', '-I', path.join(library, 'fuzz/fake'), '-o', program]
execFileSync('g++', [...flags, path.join(import.meta.dirname, 'admission.cc'), ...sources], { stdio: 'inherit' })
const rows = execFileSync(program, { encoding: 'utf8' }).trim().split('\n')
console.log(
  textTable(
    ['rule', 'exponent', 'scan %', 'hits %', 'bytes copied'],
    rows.map((row) => row.split('\t')),
  ),
)
fs.rmSync(dir, { recursive: true })
