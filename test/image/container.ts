import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.js'
import type { ComposeService } from '../support/image/compose.js'
import type { BuiltStage } from './build-image.js'
import { enterRoot, insideWords, type Inside, type RootMounts } from './enter.js'

/** How a program of a container ended. */
export interface InsideEnd {
  readonly code: number | null
  readonly output: string
}

/** A process of a container, as /proc/<pid>/status shows it. */
export interface ContainerProcess {
  readonly pid: number
  readonly facts: ReadonlyMap<string, string>
}

/** A program that runs in the root of an image, over which it cannot write. */
export interface Container {
  readonly ended: Promise<number | null>
  /** What it has printed. */
  output(): string
  /** Runs a program beside it with its user and its environment, until a time limit. */
  beside(words: readonly string[], limitMs?: number): Promise<InsideEnd>
  processes(): ContainerProcess[]
  signal(signal: NodeJS.Signals): void
}

const LIMIT_MS = 60_000

/** Runs words in a read-only root with `/tmp` in memory, or with the mounts that are given. */
export function startContainer(
  { root }: BuiltStage,
  dir: string,
  inside: Inside,
  mounts: RootMounts = {},
): Container {
  const layer = mkdtempSync(join(dir, 'layer-'))
  const given = { isReadOnly: true, tmpfs: ['/tmp'], ...mounts, layer }
  const child = enterRoot(root, inside, given, ['ignore', 'pipe', 'pipe'])
  const said = collect(child)
  const first = () => childrenOf(child.pid ?? 0)[0] ?? 0
  // What makes the mounts has still the root of the machine.
  const entered = () => descendantsOf(first()).filter(isInside)
  return {
    ended: once(child, 'close').then(([code]) => {
      rmSync(layer, { recursive: true, force: true })
      return code as number | null
    }),
    output: said,
    async beside(words, limitMs = LIMIT_MS) {
      await eventually(() => entered().length > 0)
      const limited = ['timeout', '--signal=KILL', `${limitMs / 1_000}`, ...words]
      const program = insideWords({ ...inside, words: limited })
      const enter = ['--target', `${first()}`, '--mount', '--pid', '--', 'chroot']
      const another = spawn(
        'setpriv',
        ['--pdeathsig', 'KILL', 'nsenter', ...enter].concat([join(layer, 'root'), ...program]),
        { stdio: ['ignore', 'pipe', 'pipe'] },
      )
      const output = collect(another)
      const [code] = (await once(another, 'close')) as [number | null]
      return { code, output: output() }
    },
    processes: () => entered().map((pid) => ({ pid, facts: factsOf(pid) })),
    signal: (signal) => void process.kill(first(), signal),
  }
}

/** What a process prints, so far. */
function collect(child: ReturnType<typeof enterRoot>): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return () => said
}

/** Runs words to their end. */
export async function runContainer(
  image: BuiltStage,
  dir: string,
  inside: Inside,
  mounts: RootMounts = {},
): Promise<InsideEnd> {
  const container = startContainer(image, dir, inside, mounts)
  return { code: await container.ended, output: container.output() }
}

/** A service as Docker would run it; `at` says where a path of the machine stands. */
export function startService(
  image: BuiltStage,
  dir: string,
  service: ComposeService,
  { env, at }: { readonly env: Inside['env']; readonly at: (path: string) => string },
): Container {
  const { settings } = image
  const binds = service.volumes.map((each) => ({ ...each, from: at(each.from) }))
  return startContainer(image, dir, asService(settings, service, env), {
    tmpfs: service.tmpfs,
    binds,
  })
}

/** The program of a service with its user, which may do no more than that. */
export function asService(
  settings: BuiltStage['settings'],
  { user, groups, entrypoint, command, environment }: ComposeService,
  env: Inside['env'],
): Inside {
  // As with Docker, the command of the image is for its own entry point.
  const rest = command ?? (entrypoint === undefined ? settings.command : [])
  return {
    words: [...(entrypoint ?? settings.entrypoint), ...rest],
    workdir: settings.workdir,
    user,
    groups,
    env: { ...settings.env, HOME: '/', ...env, ...environment },
    isConfined: true,
  }
}

const childrenOf = (pid: number): number[] => {
  try {
    const path = `/proc/${pid}/task`
    const ids = readdirSync(path).flatMap((task) =>
      readFileSync(`${path}/${task}/children`, 'utf8').split(' '),
    )
    return ids.filter((each) => each !== '').map(Number)
  } catch {
    // It has ended.
    return []
  }
}

const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])

/** Whether a process has another root than this one. */
const isInside = (pid: number): boolean => {
  try {
    return statSync(`/proc/${pid}/root`).dev !== statSync('/').dev
  } catch {
    // It has ended.
    return false
  }
}

function factsOf(pid: number): ReadonlyMap<string, string> {
  try {
    return factsIn(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return new Map()
  }
}

/** The lines of a status, by their names. */
export const factsIn = (status: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(status.matchAll(/^(\w+):[ \t]*(.*)$/gm), ([, name = '', value = '']) => [
      name,
      value,
    ]),
  )
