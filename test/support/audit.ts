import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inProject } from '../../devnet/launcher/binaries.js'

const MAIN = fileURLToPath(new URL('../../actors/auditor/main.js', import.meta.url))

/** The auditor as a person runs it, in this environment: how it ended, and what it printed. */
export async function runAudit(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [MAIN], { env, cwd: inProject('.') })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
