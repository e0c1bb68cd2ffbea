import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { anvilBinary, natsServerBinary } from './config.js'

/** Origin of the figures: processor, memory, load at the start, and relevant versions. */
export function describeMachine(versionsOf: readonly string[]): Record<string, string> {
  const all = cpus()
  return {
    cpu: `${all.length} x ${all[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: (loadavg()[0] ?? NaN).toFixed(1),
    node: process.versions.node,
    ...Object.fromEntries(versionsOf.map((name) => [name, versionOf(name)])),
  }
}

function versionOf(name: string): string {
  if (name === 'nats-server') return lastWord(natsServerBinary(), '--version')
  if (name === 'anvil') return lastWord(anvilBinary(), '--version')
  return versionOfPackage(name)
}

/** The version is the last word of the first line of both programs' output. */
function lastWord(binary: string, argument: string): string {
  const [line = ''] = execFileSync(binary, [argument], { encoding: 'utf8' }).split('\n')
  return (line.trim().split(' ').at(-1) ?? '').replace(/^v/, '')
}

/** A package may not export its package.json, so that the folders of packages are searched. */
function versionOfPackage(name: string): string {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const text = readFileSync(`${folder}/${name}/package.json`, 'utf8')
      return (JSON.parse(text) as { version: string }).version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`${name} is not installed`)
}
