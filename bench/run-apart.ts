import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * Heap for a million resting orders, garbage collection on demand between the rounds, and the Procfile's memory
 * settings for venue and peers.
 */
const NODE_OPTIONS = [
  ...['--expose-gc', '--max-old-space-size=8192', '--enable-source-maps'],
  ...['--max-semi-space-size=64', '--initial-old-space-size=256'],
  '--heap-growing-percent=100',
]

/** Runs a program of this folder in a process of its own; false when it fails. */
export async function runApart(program: string, words: readonly string[]): Promise<boolean> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, [...NODE_OPTIONS, path, ...words], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}
