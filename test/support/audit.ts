import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'

const MAIN = 'actors/auditor/main.js'

/**
 * The auditor as a person runs it, in this environment: how it ended, and what it printed. By its compiled files when modules
 * of it are to be replaced.
 */
export async function runAudit(env: NodeJS.ProcessEnv, from: 'bundle' | 'dist' = 'bundle') {
  await provideBundles()
  const child = spawn(process.execPath, [inProject(`${from}/${MAIN}`)], {
    env,
    cwd: inProject('.'),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
