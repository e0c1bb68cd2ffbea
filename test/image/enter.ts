import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { inProject } from '../../devnet/launcher/binaries.js'
import type { ComposeVolume } from '../support/image/compose.js'
import type { ImageUser } from '../support/image/image-lines.js'

/** A program in the root of an image. */
export interface Inside {
  readonly words: readonly string[]
  readonly workdir: string
  readonly user: ImageUser
  /** Beside the user's own. */
  readonly groups?: readonly number[]
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Without capabilities, and without a way to more rights. */
  readonly isConfined?: boolean
}

/** What of the machine and of memory the root is given. */
export interface RootMounts {
  /** An empty directory: what is written into the root itself then goes to memory. */
  readonly layer?: string
  readonly isReadOnly?: boolean
  readonly tmpfs?: readonly string[]
  readonly binds?: readonly ComposeVolume[]
  readonly certificates?: string | undefined
}

/** The words that start a program inside of a root, for a chroot. */
export function insideWords({ words, workdir, user, groups, env, isConfined }: Inside): string[] {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`]
  const all =
    groups === undefined || groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`
  const confined = ['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs']
  return [
    ...['/usr/bin/env', '-i', ...settings],
    ...['setpriv', ...ids, all, ...(isConfined === true ? confined : [])],
    ...['/bin/sh', '-c', 'cd "$0" && exec "$@"', workdir, ...words],
  ]
}

/** A part of the machine that a root needs is missing. */
export class NoRoots extends Error {
  override readonly name = 'NoRoots'
}

const running = new Set<ChildProcess>()

/**
 * Starts a program with another root, in namespaces of its own: its mounts and all its processes end with it, and it ends with this
 * process, however that ends.
 */
export function enterRoot(
  root: string,
  inside: Inside,
  mounts: RootMounts,
  stdio: StdioOptions,
): ChildProcess {
  const binds = (mounts.binds ?? []).map(
    ({ from, to, isReadOnly }) => `${from}:${to}${isReadOnly ? ':ro' : ''}`,
  )
  const env = {
    PATH: process.env.PATH,
    LAYER: mounts.layer ?? '',
    READ_ONLY: mounts.isReadOnly === true ? '1' : '',
    TMPFS: (mounts.tmpfs ?? []).join('\n'),
    BINDS: binds.join('\n'),
    CERTIFICATES: mounts.certificates ?? '',
  }
  const namespaces = ['unshare', '--mount', '--pid', '--fork', '--kill-child']
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', ...namespaces].concat([
      inProject('test/image/enter.sh'),
      root,
      ...insideWords(inside),
    ]),
    { env, stdio },
  )
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

/** Ends every program that was started here, with its mounts. */
export async function leaveRoots(): Promise<void> {
  const gone = [...running].map((child) => once(child, 'exit'))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(gone)
}

/** Throws NoRoots where this machine does not let programs have roots of their own. */
export function needRoots(): void {
  const why = whyNoRoots()
  if (why !== undefined) throw new NoRoots(why)
}

/** Why this machine does not let programs have roots of their own; undefined where it does. */
export function whyNoRoots(): string | undefined {
  if (process.getuid?.() !== 0)
    return 'roots of their own need a superuser, and this is none: run it as root'
  for (const tool of ['unshare', 'setpriv', 'nsenter'])
    if (spawnSync(tool, ['--version']).status !== 0)
      return `roots of their own need ${tool}: install util-linux`
  const mounts = [
    'mount -t tmpfs tmpfs /tmp && mount -t proc proc /proc && mkdir /tmp/upper /tmp/work /tmp/root',
    'mount -t overlay -o lowerdir=/etc,upperdir=/tmp/upper,workdir=/tmp/work overlay /tmp/root',
  ].join(' && ')
  const tried = ['--mount', '--pid', '--fork', 'sh', '-c', mounts]
  const { status, stderr } = spawnSync('unshare', tried, { encoding: 'utf8' })
  return status === 0
    ? undefined
    : `roots of their own need mounts, which this machine refuses: ${stderr.trim()}`
}
