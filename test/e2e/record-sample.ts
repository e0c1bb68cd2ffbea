import { join } from 'node:path'
import { endAtHelp } from '../../runtime/process/command-line.js'
import { recordSample } from './stage/record-sample.js'
import { SAMPLES } from './stage/sample.js'

/** `npm run record-sample -- <name>`: runs a small venue and writes its data directory to `test/samples/<name>/`. */

const USAGE = 'usage: npm run record-sample -- <name>'
endAtHelp(USAGE)
const name = process.argv[2] ?? ''
if (!/^[a-z0-9.-]+$/.test(name)) throw new Error(USAGE)
const folder = join(SAMPLES, name)
await recordSample(folder)
process.stdout.write(`${folder}\n`)
