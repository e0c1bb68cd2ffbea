import { Stryker } from '@stryker-mutator/core'
import { readdirSync } from 'node:fs'
import { join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { endAtHelp } from '../../runtime/process/command-line.js'
import { inProcessTests } from './in-process-tests.js'
import type { RunnerSettings } from './mocha-runner.js'
import { ROOMS, type Room } from './rooms.js'
import { describeFiles, describeRoom, reportFile, TABLE_HEAD } from './table.js'

/**
 * Mutates one room after the other, or single files, and prints which mutants no test noticed: `npm run mutate --
 * core/wire`, `npm run mutate -- core/contracts/fees.ts`. What has not changed since the last run is not run again. The tool
 * writes its report at the end of a run, so that each file has a run of its own: one that is broken off loses that file alone.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const plugin = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/**
 * A mutant that waits for ever costs so much more than its tests take by themselves, times the factor: enough for a machine
 * that others use too. One that loops is ended by how often it runs a line.
 */
const TIMEOUT_MS = 15_000
const TIMEOUT_FACTOR = 4

/** Compiles the sources without their types: what a mutant does decides. The rest of `dist` is a copy of the tree's. */
const BUILD = [
  `${root}node_modules/.bin/esbuild`,
  ...new Set(ROOMS.map(({ folder }) => `${folder.split('/')[0] ?? folder}/**/*.ts`)),
  'test/**/*.ts',
  '--outdir=dist --outbase=. --format=esm --platform=node --sourcemap --log-level=error',
].join(' ')

/** A test that waits for what a mutant prevents is over by then; every condition comes about much sooner without one. */
process.env.EVENTUALLY_LONGEST_MS ??= '10000'

async function mutate({ folder, tests, without }: Room, source: string): Promise<void> {
  const settings: RunnerSettings = { specs: inProcessTests(root, tests, without) }
  await new Stryker({
    ...settings,
    mutate: [source],
    testRunner: 'mocha-in-process',
    plugins: [plugin('./mocha-runner.js'), plugin('./ignore-messages.js')],
    ignorers: ['messages'],
    buildCommand: BUILD,
    disableTypeChecks: false,
    coverageAnalysis: 'perTest',
    // What runs only while a module loads needs a process per mutant; it is reported apart.
    ignoreStatic: true,
    concurrency: 1,
    timeoutMS: TIMEOUT_MS,
    timeoutFactor: TIMEOUT_FACTOR,
    tempDirName: '.cache/mutation',
    ignorePatterns: ['.tools', '.cache', 'bundle', 'var', 'bench/results'],
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, logTests: false, reportScoreTable: false },
    incremental: true,
    incrementalFile: reportFile(folder),
  }).runMutationTest()
}

/** The rooms that a name means, a folder's or a file's, each with the sources to be mutated. */
function roomsOf(asked: string): [room: Room, sources: string[]][] {
  if (asked.endsWith('.ts')) {
    const inside = ROOMS.filter(({ folder }) => asked.startsWith(`${folder}/`))
    const room = inside.toSorted((a, b) => b.folder.length - a.folder.length)[0]
    return room === undefined ? [] : [[room, [asked]]]
  }
  return ROOMS.filter(({ folder }) => folder === asked || folder.startsWith(`${asked}/`)).map(
    (room) => [room, sourcesOf(room)],
  )
}

function sourcesOf({ folder, flat }: Room): string[] {
  return readdirSync(join(root, folder), { recursive: flat !== true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => join(folder, name))
}

const USAGE = `usage: npm run mutate -- <room or file> ...; rooms: ${ROOMS.map(({ folder }) => folder).join(', ')}`
endAtHelp(USAGE)
const asked = new Map<Room, Set<string>>()
for (const [room, sources] of process.argv.slice(2).flatMap(roomsOf)) {
  asked.set(room, new Set([...(asked.get(room) ?? []), ...sources]))
}
if (asked.size === 0) {
  console.error(USAGE)
  process.exitCode = 2
}
for (const [room, sources] of asked) {
  for (const source of sources) {
    try {
      await mutate(room, source)
    } catch (error) {
      console.error(`${source} was not measured:`, error)
      process.exitCode = 1
    }
  }
  console.log(`${describeFiles(room)}\n\n${TABLE_HEAD}\n${describeRoom(room)}`)
}
