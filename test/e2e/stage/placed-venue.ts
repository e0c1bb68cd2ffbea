import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import { tempDir } from '../../support/temp-dir.js'

const SAMPLES = 'docs/operating'
const BUS = 'nats'
const STOP_WITHIN_MS = 20_000

/** How a command of the operator ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly output: string
}

/** The files of docs/operating at places of their own, and the processes that their units start. */
export interface PlacedVenue {
  readonly dir: string
  /** `/etc/venue` and `/var/lib/venue` of the pages. */
  readonly etc: string
  readonly data: string
  readonly gatewayUrl: string
  /** A text of the pages, with the places and ports of this venue. */
  readonly placed: (text: string) => string
  /** Writes the settings that each process has alone, as the comments of the sample list them. */
  readonly writeOwnSettings: (operatorKeys: string) => void
  /** Runs lines of a page by a shell in the tree, without any setting but those that the lines take. */
  readonly shell: (lines: string) => Promise<Ended>
  /** Starts the bus, as its unit does. */
  startBus(): void
  /** Starts each process of the Procfile, as its unit does. */
  startProcesses(): void
  busPid(): number
  /** Ends the processes, and the bus too unless it stays. */
  stop(options?: { readonly keepsBus?: boolean }): Promise<void>
  remove(): Promise<void>
}

/** The samples of docs/operating, with the places and ports of one venue. */
export interface PlacedSamples {
  readonly gatewayUrl: string
  /** A text of the pages. */
  readonly placed: (text: string) => string
  readonly sample: (file: string) => string
}

/** The samples for a node at `rpcUrl` and the places of `/etc/venue` and `/var/lib/venue`, with ports that are free. */
export async function placeSamples(
  rpcUrl: string,
  { etc, data }: Pick<PlacedVenue, 'etc' | 'data'>,
): Promise<PlacedSamples> {
  const ports = await Promise.all(Array.from({ length: 5 }, freePort))
  const [bus, monitor, gateway, executor, sockets] = ports.map(String)
  const places: Readonly<Record<string, string>> = {
    '/var/lib/venue': data,
    '/etc/venue': etc,
    '4322': bus ?? '',
    '4323': monitor ?? '',
    '8080': gateway ?? '',
    '8081': executor ?? '',
    '8082': sockets ?? '',
    'https://node.example': rpcUrl,
    'http://node:8545': rpcUrl,
    // The test is no proxy.
    'TRUSTED_PROXIES=1\nWS': 'TRUSTED_PROXIES=0\nWS',
  }
  // In one pass: what a name is replaced with may look like another.
  const NAMES = new RegExp(
    Object.keys(places)
      .map((name) => `${name}\\b`)
      .join('|'),
    'g',
  )
  const placed = (text: string) => text.replaceAll(NAMES, (name) => places[name] ?? name)
  const sample = (file: string) => placed(readFileSync(inProject(`${SAMPLES}/${file}`), 'utf8'))
  return { gatewayUrl: `http://127.0.0.1:${gateway}`, placed, sample }
}

/** Places the samples for a node at `rpcUrl`; what a process may find of the machine is in a directory that is new. */
export async function placeVenue(rpcUrl: string): Promise<PlacedVenue> {
  const place = tempDir()
  const dir = place.path
  const [etc, data] = [join(dir, 'etc'), join(dir, 'data')]
  const { placed, sample, gatewayUrl } = await placeSamples(rpcUrl, { etc, data })
  // What systemd-tmpfiles does with the list, without its users.
  for (const [, path = '', mode = ''] of sample('tmpfiles.conf').matchAll(/^d (\S+) (\d+) /gm))
    makeDirectory(path, parseInt(mode, 8))
  const settings = sample('production.env')
  writeFileSync(join(etc, 'venue.env'), settings)
  writeFileSync(join(etc, 'nats-server.conf'), sample('nats-server.conf'))
  writeFileSync(join(data, 'markets.json'), sample('markets.json'))

  const children = new Map<string, ChildProcess>()
  const start = (name: string, unit: string) => {
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(sample(`systemd/${unit}`)) ?? []
    const words = command
      .replace('%i', name)
      .replace('/opt/venue/.tools/nats-server', natsServerBinary())
      .replace('/opt/venue/', inProject('./'))
      .split(' ')
    const files = ['venue', name].map((file) => join(etc, `${file}.env`)).filter(existsSync)
    const own = files.map((file) => settingsIn(readFileSync(file, 'utf8')))
    const env = { PATH: process.env.PATH, ...Object.assign({}, ...own) } as NodeJS.ProcessEnv
    const [program = '', ...args] = words
    const child = spawn(program, args, { cwd: inProject('.'), env, stdio: 'ignore' })
    children.set(name, child)
  }
  const stop = async ({ keepsBus = false } = {}) => {
    const ending = [...children].filter(([name]) => !keepsBus || name !== BUS)
    const ended = ending.map(([name, child]) => {
      children.delete(name)
      const isRunning = child.exitCode === null && child.signalCode === null
      const gone = isRunning ? once(child, 'exit') : Promise.resolve()
      child.kill('SIGTERM')
      return gone
    })
    const kill = () => ending.forEach(([, child]) => child.kill('SIGKILL'))
    const late = setTimeout(kill, STOP_WITHIN_MS)
    await Promise.all(ended)
    clearTimeout(late)
  }
  return {
    dir,
    etc,
    data,
    gatewayUrl,
    placed,
    writeOwnSettings(operatorKeys) {
      for (const [file, line] of ownSettings(settings))
        appendFileSync(file, `${line === 'OPERATOR_KEYS' ? operatorKeys : line}\n`, { mode: 0o600 })
    },
    shell: runLines,
    startBus: () => start(BUS, 'venue-nats.service'),
    startProcesses() {
      const names = readFileSync(inProject('Procfile'), 'utf8').matchAll(/^([a-z-]+):/gm)
      for (const [, name = ''] of names) start(name, 'venue@.service')
    },
    busPid: () => children.get(BUS)?.pid ?? 0,
    stop,
    async remove() {
      await stop()
      place.remove()
    },
  }
}

/** The mode has bits that the making of a directory leaves out. */
function makeDirectory(path: string, mode: number): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
}

/** `NAME=value` lines. */
export const settingsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from(text.matchAll(/^([A-Z_]+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]),
  )

/** Files and lines that the sample's comments give to one process each. */
export function ownSettings(sample: string): readonly (readonly [string, string])[] {
  const found: [string, string][] = []
  let file = ''
  for (const line of sample.split('\n').filter((each) => each.startsWith('#   '))) {
    ;[file = file] = /\/\S+\.env/.exec(line) ?? [file]
    const settings = line.matchAll(/\b[A-Z_]+_FILE=[^\s,]+|OPERATOR_KEYS/g)
    for (const [setting] of settings) found.push([file, setting])
  }
  return found
}

function runLines(lines: string): Promise<Ended> {
  const child = spawn('sh', ['-c', lines], {
    cwd: inProject('.'),
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, output] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, output }))
}
