import { UnknownLine } from './dockerfile.js'
import type { ImageUser } from './image-lines.js'

export interface ComposeVolume {
  readonly from: string
  readonly to: string
  readonly isReadOnly: boolean
}

/** A service of a Compose file: a container of the venue's image. */
export interface ComposeService {
  readonly name: string
  readonly user: ImageUser
  /** Beside the user's own. */
  readonly groups: readonly number[]
  /** Without it, that of the image. */
  readonly entrypoint: readonly string[] | undefined
  readonly command: readonly string[] | undefined
  readonly envFiles: readonly { readonly path: string; readonly isRequired: boolean }[]
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly ComposeVolume[]
  readonly tmpfs: readonly string[]
  readonly stopSignal: NodeJS.Signals
  readonly hasHealthCheck: boolean
}

/** What every container is run with; another value is not carried out. */
const FIXED: Readonly<Record<string, unknown>> = {
  init: true,
  network_mode: 'host',
  restart: 'unless-stopped',
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  image: undefined,
  stop_grace_period: undefined,
}

/** The services of a Compose file in the form of docs/operating/compose.yaml. Throws UnknownLine for any other line. */
export function readCompose(text: string): ComposeService[] {
  const blocks = new Map<string, Map<string, unknown>>()
  let block = new Map<string, unknown>()
  let list: unknown[] | undefined
  for (const line of text.split('\n')) {
    if (/^\s*(#|$)/.test(line) || line === 'services:' || line === '    <<: *process') continue
    const [, item] = /^ {6}- (.*)$/.exec(line) ?? []
    const [, name] = /^(?:x-(process): &process| {2}([a-z-]+):)$/.exec(line)?.filter(Boolean) ?? []
    const [, key, value] = /^(?: {2}| {4})(\w+):(?: (.*))?$/.exec(line) ?? []
    if (item !== undefined && list !== undefined) list.push(readValue(item, line))
    else if (name !== undefined) {
      block = new Map(name === 'process' ? [] : blocks.get('process'))
      blocks.set(name, block)
      list = undefined
    } else if (key !== undefined) {
      list = value === undefined ? [] : undefined
      block.set(key, value === undefined ? list : readValue(value, line))
    } else throw new UnknownLine(`the Compose file: ${line}`)
  }
  const services = [...blocks].filter(([name]) => name !== 'process')
  return services.map(([name, facts]) => readService(name, facts))
}

/** A scalar, or a list or map on one line, of JSON's values with single quotes or none. */
function readValue(text: string, line: string): unknown {
  if (/^[a-z0-9:/.-]+$/i.test(text) && !/^(true|false|\d+)$/.test(text)) return text
  const json = text.replace(/([{,] *)(\w+):/g, '$1"$2":').replaceAll("'", '"')
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new UnknownLine(`the Compose file: ${line}`, { cause: error })
  }
}

function readService(name: string, facts: ReadonlyMap<string, unknown>): ComposeService {
  const unknown = (key: string) =>
    new UnknownLine(`the Compose file: ${key} of ${name} is ${JSON.stringify(facts.get(key))}`)
  const words = (key: string): string[] | undefined => {
    const value = facts.get(key)
    if (value === undefined) return undefined
    if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
      throw unknown(key)
    return value
  }
  for (const [key, value] of Object.entries(FIXED))
    if (value !== undefined && JSON.stringify(facts.get(key)) !== JSON.stringify(value))
      throw unknown(key)
  for (const key of facts.keys()) if (!(key in FIXED) && !READ.has(key)) throw unknown(key)
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(`${facts.get('user') as string}`) ?? []
  if (uid === undefined || gid === undefined) throw unknown('user')
  const files = (facts.get('env_file') ?? []) as (string | { path: string; required: boolean })[]
  return {
    name,
    user: { uid: Number(uid), gid: Number(gid) },
    groups: (words('group_add') ?? []).map(Number),
    entrypoint: words('entrypoint'),
    command: words('command'),
    envFiles: files.map((each) =>
      typeof each === 'string'
        ? { path: each, isRequired: true }
        : { path: each.path, isRequired: each.required },
    ),
    environment: (facts.get('environment') ?? {}) as Record<string, string>,
    volumes: (words('volumes') ?? []).map((each) => {
      const [from = '', to = '', mode] = each.split(':')
      if (mode !== undefined && mode !== 'ro') throw unknown('volumes')
      return { from, to, isReadOnly: mode === 'ro' }
    }),
    tmpfs: words('tmpfs') ?? [],
    stopSignal: (facts.get('stop_signal') ?? 'SIGTERM') as NodeJS.Signals,
    hasHealthCheck: facts.get('healthcheck') === undefined,
  }
}

const READ = new Set([
  ...['user', 'group_add', 'entrypoint', 'command', 'env_file', 'environment', 'volumes'],
  ...['tmpfs', 'stop_signal', 'healthcheck'],
])
