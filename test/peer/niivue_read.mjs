// Reads a TRX or TRK file with niivue and prints its vertices, first vertices and per-streamline data as JSON.
// usage: node niivue_read.mjs NODE_MODULES FILE
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, file] = process.argv.slice(2)
const folder = join(resolve(modules), '@niivue', 'niivue')
const entry = JSON.parse(readFileSync(join(folder, 'package.json'))).exports['.'].import
const { NVMeshLoaders } = await import(pathToFileURL(join(folder, entry)))
const bytes = readFileSync(file)
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
const log = console.log
console.log = () => {} // niivue talks while it reads
const read = file.endsWith('.trk') ? NVMeshLoaders.readTRK : NVMeshLoaders.readTRX
const tractogram = await read.call(NVMeshLoaders, buffer)
log(JSON.stringify({
  pts: Array.from(tractogram.pts),
  offsets: Array.from(tractogram.offsetPt0),
  dps: Object.fromEntries((tractogram.dps ?? []).map((d) => [d.id, Array.from(d.vals)]))
}))
