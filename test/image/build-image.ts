import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { basename, dirname, join, posix, relative } from 'node:path'
import { UnknownLine, type Instruction, type Stage } from '../support/image/dockerfile.js'
import { createIgnored } from '../support/image/ignored-paths.js'
import {
  BARE_SETTINGS,
  readImageLine,
  settle,
  SUPERUSER,
  type ImageLine,
  type ImageSettings,
} from '../support/image/image-lines.js'
import { enterRoot, NoRoots } from './enter.js'
import type { MachineNetwork } from './config.js'

/** A stage whose lines have been carried out. */
export interface BuiltStage {
  readonly root: string
  readonly settings: ImageSettings
}

export interface BuildPlace {
  /** Gets a directory for each stage, and `log`. */
  readonly dir: string
  /** What Docker would be sent. */
  readonly tree: string
  /** Arguments of the build. */
  readonly given: Readonly<Record<string, string>>
  readonly network: MachineNetwork
  /** Takes the stages that an earlier build with the same lines has finished here. */
  readonly isKept: boolean
  readonly tell: (line: string) => void
}

/** A line did not do its work; the log has what it printed. */
export class LineFailed extends Error {
  override readonly name = 'LineFailed'
}

const LAST_BYTES = 3_000

/** Carries out the lines of all stages, each in a directory of its own. Throws UnknownLine before the first one is begun. */
export async function buildImage(
  stages: readonly Stage[],
  place: BuildPlace,
): Promise<ReadonlyMap<string, BuiltStage>> {
  for (const { instructions } of stages) instructions.forEach(readImageLine)
  const built = new Map<string, BuiltStage>()
  for (const stage of stages) built.set(stage.name, await buildStage(stage, built, place))
  return built
}

/** Carries out the lines of one stage on those before it. */
export async function buildStage(
  stage: Stage,
  built: ReadonlyMap<string, BuiltStage>,
  place: BuildPlace,
): Promise<BuiltStage> {
  const { tell, given } = place
  const root = join(place.dir, stage.name)
  const before = built.get(stage.from)
  const lines = stage.instructions.map((each) => ({ ...each, line: readImageLine(each) }))
  const mark = `${root}.finished`
  const facts = JSON.stringify([stage, given])
  const isThere = place.isKept && existsSync(mark) && readFileSync(mark, 'utf8') === facts
  tell(`FROM ${stage.from} AS ${stage.name}${isThere ? ': kept from an earlier build' : ''}`)
  let settings = before?.settings ?? BARE_SETTINGS
  if (!isThere) {
    rmSync(mark, { force: true })
    rmSync(root, { recursive: true, force: true })
    if (before !== undefined) await run(place, 'cp', ['-a', '--reflink=auto', before.root, root])
    else await makeDebian(stage, root, place)
  }
  for (const { name, text, line } of lines) {
    settings = settle(settings, line, given)
    if (isThere) continue
    const begun = performance.now()
    await carryOut({ name, text }, line, { root, settings, built, place })
    tell(`  ${((performance.now() - begun) / 1_000).toFixed(1)} s  ${name} ${text}`)
  }
  writeFileSync(mark, facts)
  return { root, settings }
}

/** Runs a program of the machine; what it prints goes to the log. */
async function run(place: BuildPlace, program: string, args: readonly string[]): Promise<void> {
  await logged(place, `${program} ${args.join(' ')}`, (log) =>
    spawn(program, args, { stdio: ['ignore', log, log] }),
  )
}

async function logged(
  { dir }: BuildPlace,
  what: string,
  start: (log: number) => ReturnType<typeof spawn>,
): Promise<void> {
  const path = join(dir, 'log')
  const log = openSync(path, 'a')
  writeFileSync(log, `\n== ${what}\n`)
  const child = start(log)
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  closeSync(log)
  if (code === 0) return
  const said = readFileSync(path, 'utf8').slice(-LAST_BYTES)
  throw new LineFailed(`ended with ${code ?? signal}: ${what}\n${said}`)
}

interface LineContext {
  readonly root: string
  /** With the line's own. */
  readonly settings: ImageSettings
  readonly built: ReadonlyMap<string, BuiltStage>
  readonly place: BuildPlace
}

async function carryOut(
  { name, text }: Instruction,
  line: ImageLine,
  { root, settings, built, place }: LineContext,
): Promise<void> {
  switch (line.name) {
    case 'WORKDIR':
      mkdirSync(join(root, line.path), { recursive: true })
      return
    case 'COPY':
      for (const source of line.sources)
        await copy(line, source, join(root, posix.resolve(settings.workdir, line.target)), {
          built,
          place,
        })
      return
    case 'RUN': {
      const env = { ...settings.env, HOME: '/root', ...settings.args, ...place.network.env }
      const { user, workdir } = settings
      const mounts = { certificates: place.network.certificates }
      await logged(place, `${name} ${text}`, (log) =>
        enterRoot(root, { words: line.words, workdir, user, env }, mounts, ['ignore', log, log]),
      )
      return
    }
    // What they set is in the settings, or for those who look at the image.
    case 'ARG':
    case 'ENV':
    case 'LABEL':
    case 'USER':
    case 'HEALTHCHECK':
    case 'ENTRYPOINT':
    case 'CMD':
    case 'EXPOSE':
  }
}

async function copy(
  line: Extract<ImageLine, { name: 'COPY' }>,
  source: string,
  target: string,
  { built, place }: Pick<LineContext, 'built' | 'place'>,
): Promise<void> {
  const stage = line.from === undefined ? undefined : built.get(line.from)
  if (line.from !== undefined && stage === undefined)
    throw new UnknownLine(`COPY from ${line.from}, which is no earlier stage`)
  const from = join(stage?.root ?? place.tree, source)
  const isDirectory = statSync(from).isDirectory()
  const to = !isDirectory && line.target.endsWith('/') ? join(target, basename(source)) : target
  const staged = join(place.dir, 'copied')
  rmSync(staged, { recursive: true, force: true })
  if (stage === undefined) await copyTree(from, staged, place.tree)
  else await run(place, 'cp', ['-a', '--reflink=auto', from, staged])
  // Files of the tree belong to root, those of a stage to their users there.
  const owner = line.owner ?? (stage === undefined ? SUPERUSER : undefined)
  if (owner !== undefined) await run(place, 'chown', ['-Rh', `${owner.uid}:${owner.gid}`, staged])
  if (line.mode !== undefined) await run(place, 'chmod', ['-R', line.mode.toString(8), staged])
  mkdirSync(isDirectory ? to : dirname(to), { recursive: true })
  const words = isDirectory ? [`${staged}/.`, `${to}/`] : ['-T', staged, to]
  await run(place, 'cp', ['-a', '--reflink=auto', ...words])
  rmSync(staged, { recursive: true, force: true })
}

async function copyTree(from: string, to: string, tree: string): Promise<void> {
  const isIgnored = createIgnored(readFileSync(join(tree, '.dockerignore'), 'utf8'))
  const filter = (path: string) => !isIgnored(relative(tree, path))
  const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter }
  if (!statSync(from).isDirectory()) return cp(from, to, options)
  mkdirSync(to)
  // One by one: a copy of the whole tree into a directory of its own is refused, even one that is ignored.
  for (const name of readdirSync(from))
    if (filter(join(from, name))) await cp(join(from, name), join(to, name), options)
}

/** The release of Debian that an image is of. Throws UnknownLine for other images. */
export function suiteOf(from: string): string {
  const [, suite] = /^debian:([a-z]+)-\d{8}-slim@sha256:[0-9a-f]{64}$/.exec(from) ?? []
  if (suite === undefined) throw new UnknownLine(`FROM ${from}, which is no Debian of a day`)
  return suite
}

/** Debian as its image has it, but made by debootstrap: neither the digest nor the image's own files are compared. */
async function makeDebian({ from, instructions }: Stage, root: string, place: BuildPlace) {
  const suite = suiteOf(from)
  if (spawnSync('debootstrap', ['--version']).status !== 0)
    throw new NoRoots(
      'a Debian is made by debootstrap, which is not installed: as root, run apt-get install debootstrap',
    )
  const written = instructions.map(readImageLine).find((line) => line.name === 'ARG')
  const archive = place.given.DEBIAN_ARCHIVE ?? written?.value ?? ''
  place.tell(`  in place of the image: debootstrap of ${suite} from ${archive}`)
  await run(place, 'debootstrap', ['--variant=minbase', suite, root, archive])
  // As in Debian's images: no service is started by a package, and no file is synced.
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/docker-apt-speedup'), 'force-unsafe-io\n')
  for (const file of ['resolv.conf', 'hosts', 'hostname']) {
    rmSync(join(root, 'etc', file), { force: true })
    writeFileSync(join(root, 'etc', file), '')
  }
}
